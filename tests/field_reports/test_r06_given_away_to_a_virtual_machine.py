"""R06: a GPU given away on purpose is said, wakes nobody, and comes back as itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from exporter import store
from exporter.page.pages import landing
from exporter.readings import Place
from exporter.window.roster import Declared
from tests.field_reports.gpu_node import GpuNode, healthy, line, uuid

GONE = 6
REST = tuple(index for index in range(8) if index != GONE)
LEFT, SIX_HOURS = 20, 6 * 120
IDLE = {"g6_util": line("DCGM_FI_DEV_GPU_UTIL", GONE, 0)}
UNEXPLAINED = 'forewarn_gpus_unexplained{node="n1"}'
DEGRADED = 'forewarn_prediction_degraded{node="n1",reason="gpu_missing"}'


def answer(interval: int, **gpu_6: str) -> tuple[int, bytes]:
    if interval == LEFT or interval == LEFT + SIX_HOURS:
        return 200, b""
    if LEFT < interval < LEFT + SIX_HOURS:
        return 200, healthy(interval, REST).encode()
    return 200, healthy(interval, **(IDLE | gpu_6)).encode()


@pytest.fixture
def node(tmp_path: Path) -> GpuNode:
    return GpuNode(tmp_path, answer, bmc=lambda: {Place("node_gpus_in_bmc"): 8.0})


def test_r06_it_is_degraded_says_how_it_left_and_alarms_nobody(node: GpuNode) -> None:
    node.live(15)
    series = node.series()
    assert node.state() == "degraded"
    assert series[DEGRADED] == 1
    assert series['forewarn_gpus_seen{node="n1"}'] == 7
    assert series['forewarn_gpus_expected{node="n1"}'] == 8
    assert series[UNEXPLAINED] == 0
    how = f'activity="idle",after="reload",bmc="seen",gpu="6",node="n1",uuid="{uuid(6)}",xid="none"'
    assert series[f"forewarn_gpu_departure_info{{{how}}}"] == 1
    assert "left after a device list reload, was idle, the BMC sees all GPUs" in landing(
        node.grid.view()
    )


@pytest.mark.parametrize(
    "evidence",
    [
        {"g6_util": line("DCGM_FI_DEV_GPU_UTIL", GONE, 97)},
        {"g6_temp": line("DCGM_FI_DEV_GPU_TEMP", GONE, 66, namespace="ml", pod="train-0")},
    ],
    ids=["at work", "had a pod"],
)
def test_r06_with_second_evidence_it_is_unexplained(
    tmp_path: Path, evidence: dict[str, str]
) -> None:
    node = GpuNode(
        tmp_path, lambda i: answer(i, **evidence), bmc=lambda: {Place("node_gpus_in_bmc"): 8.0}
    )
    node.live(15)
    assert node.series()[UNEXPLAINED] == 1


def test_r06_an_error_before_or_a_bmc_that_misses_it_too_is_second_evidence(tmp_path: Path) -> None:
    xid = line("DCGM_FI_DEV_XID_ERRORS", GONE, 79).encode()

    def fallen(interval: int) -> tuple[int, bytes]:
        status, body = answer(interval)
        return status, body + xid if interval > LEFT else body

    with_code = GpuNode(tmp_path, fallen, bmc=lambda: {Place("node_gpus_in_bmc"): 8.0})
    unseen = GpuNode(tmp_path, answer, bmc=lambda: {Place("node_gpus_in_bmc"): 7.0})
    for node in (with_code, unseen):
        node.live(15)
        assert node.series()[UNEXPLAINED] == 1


def test_r06_a_declared_absence_ends_the_signal_at_once(node: GpuNode) -> None:
    node.live(15)
    node.grid.declared = Declared(away=frozenset({uuid(GONE)}))
    node.live(1)
    series = node.series()
    assert series[DEGRADED] == 0
    assert series['forewarn_gpus_expected{node="n1"}'] == 7
    assert not [key for key in series if key.startswith("forewarn_gpu_departure_info")]


def test_r06_the_same_uuid_comes_back_to_its_own_memory(node: GpuNode) -> None:
    node.live(9)
    steps_before = node.grid._memory.state[:, 0].copy()
    node.live((LEFT + SIX_HOURS) // 2 + 5 - 9)
    series = node.series()
    assert series['forewarn_gpus_seen{node="n1"}'] == 8
    assert series[UNEXPLAINED] == 0
    assert series[DEGRADED] == 0
    # The model's state counts steps: it went on for the one that was away, as for the rest.
    np.testing.assert_array_equal(
        node.grid._memory.state[:, 0] - steps_before, float((LEFT + SIX_HOURS) // 2 + 5 - 9)
    )
    assert node.grid._memory.window.uuids == tuple(uuid(index) for index in range(8))


@pytest.mark.parametrize(("down_seconds", "unexplained"), [(60, 0), (3_600, 1)])
def test_r06_a_restart_of_the_exporter_does_not_forget_how_it_left(
    node: GpuNode, tmp_path: Path, down_seconds: int, unexplained: int
) -> None:
    """A rollout must not wake anybody; after an hour nobody knows what has happened since."""
    node.live(15)
    saved = tmp_path / "window.bin"
    store.save(saved, node.grid._to_save())
    node.ticks.advance(down_seconds)
    later = GpuNode(
        tmp_path,
        lambda interval: (200, healthy(interval, REST).encode()),
        bmc=lambda: {Place("node_gpus_in_bmc"): 8.0},
        ticks=node.ticks,
    )
    later.grid._path = saved
    later.grid.restore()
    later.live(3)
    assert later.series()[UNEXPLAINED] == unexplained
    assert any("forewarn_gpu_departure_info" in key for key in later.series()) != unexplained
