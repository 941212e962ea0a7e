"""R01: impossible numbers in one scrape are missing there and nowhere else."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from exporter.readings import Missing, Place
from tests.field_reports.gpu_node import GpuNode, healthy, line, uuid

NAMES = ("gpu_temperature_celsius", "gpu_utilization_ratio", "gpu_sm_active_ratio")
UTIL, SM = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_SM_ACTIVE"
BAD_MINUTE, MINUTES = 40, 64
WILD = {
    "g2_util": line(UTIL, 2, 4294967295),
    "g5_util": line(UTIL, 5, 137211),
    "g6_sm": line(SM, 6, 1.37, GPU_I_ID="1"),
    "g7_sm": line(SM, 7, 1.0004),
}
ABSENT = {"g2_util": "", "g5_util": "", "g6_sm": "", "g7_sm": line(SM, 7, 1)}


def lived(folder: Path, replaced: dict[str, str]) -> GpuNode:
    def answer(interval: int) -> tuple[int, bytes]:
        # A minute has two reads; the window keeps the second.
        more = replaced if interval == 2 * BAD_MINUTE + 1 else {}
        return 200, healthy(interval, **more).encode()

    folder.mkdir()
    node = GpuNode(folder, answer, names=NAMES, window_steps=MINUTES)
    node.live(MINUTES)
    return node


def matrix(node: GpuNode) -> np.ndarray:
    return node.grid._memory.window.matrix(NAMES)


def test_r01_the_window_is_that_of_missing_values_and_so_is_every_output(tmp_path: Path) -> None:
    wild, absent = lived(tmp_path / "wild", WILD), lived(tmp_path / "absent", ABSENT)
    np.testing.assert_array_equal(matrix(wild), matrix(absent))
    ours, theirs = (n.grid.view().forecast.prediction for n in (wild, absent))
    assert ours is not None
    assert theirs is not None
    for name in ("node", "cause", "gpu", "score"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


def test_r01_the_three_are_counted_once_each_and_rounding_is_one(tmp_path: Path) -> None:
    node = lived(tmp_path / "wild", WILD)
    series = node.series()
    key = 'forewarn_source_errors_total{node="n1",reason="out_of_range",source="dcgm"}'
    assert series[key] == 3
    cells = matrix(node)[:, BAD_MINUTE]
    assert np.isnan(cells[[2, 5], 1]).all()
    assert np.isnan(cells[6, 2])
    assert cells[7, 2] == 1.0
    whole = matrix(node)
    assert np.isnan(whole).sum() == 3


def test_r01_while_it_lasts_it_is_a_kind_of_its_own(tmp_path: Path) -> None:
    node = GpuNode(tmp_path, lambda i: (200, healthy(i, **WILD).encode()), names=NAMES)
    node.live(1)
    missing = node.grid.view().snapshot.missing
    assert missing[Place("gpu_utilization_ratio", uuid(2))] is Missing.OUT_OF_RANGE
    assert missing[Place("gpu_sm_active_ratio", uuid(6))] is Missing.OUT_OF_RANGE
