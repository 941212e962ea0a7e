"""History of dcgm-exporter's families means what its page meant at the time."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from exporter.dcgm import identity, text
from model.schema import ON_A_NODE
from model.sources import dcgm
from model.sources.dcgm_series import cube, query
from model.sources.series import Steps

NAMES = tuple(channel.name for channel in ON_A_NODE)
OVER = Steps(0.0, 60.0, 3)
FIXTURES = Path(__file__).parents[2] / "fixtures" / "exporter"


class One(NamedTuple):
    metric: dict[str, str]
    values: list[tuple[float, str]]


def series(name: str, *values: float | None, uuid: str = "A", **labels: str) -> One:
    told = [(step * 60.0, repr(value)) for step, value in enumerate(values) if value is not None]
    return One({"__name__": name, "UUID": uuid, "gpu": "0", **labels}, told)


def channel(found: list[One], name: str, uuid: str = "A") -> list[float]:
    return cube(found, OVER, [name]).cube.gpu[uuid][:, 0].tolist()


def test_whole_pages_give_the_same_readings_as_live(shared_data: Path) -> None:
    pages = sorted([*FIXTURES.glob("*.prom"), *(shared_data / "dcgm").glob("*.prom")])
    for path in pages:
        samples = text.read(path.read_bytes(), lambda name: bool(dcgm.fields(name))).samples
        live = identity.fold(samples)
        told = [
            One({**s.labels, "__name__": s.name}, [(0.0, repr(float(s.value)))])
            for s in samples
            if s.value is not None
        ]
        got = cube(told, OVER, NAMES).cube
        for uuid, rows in got.gpu.items():
            expected = {p.channel: v for p, v in live.values.items() if p.uuid == uuid}
            found = {n: v for n, v in zip(NAMES, rows[0].tolist(), strict=True) if v == v}
            assert found == pytest.approx(expected), (path.name, uuid)
    assert len(pages) > 2


def test_sentinels_and_impossible_numbers_are_missing() -> None:
    got = channel([series("DCGM_FI_DEV_GPU_TEMP", 50.0, 2_147_483_632.0, -40.0)], dcgm.CHANNELS[0])
    assert got[0] == 50.0
    assert np.isnan(got[1:]).all()


def test_instances_are_folded_to_their_gpu_and_links_are_added_up() -> None:
    used = "DCGM_FI_DEV_FB_USED"
    found = [series(used, 1.0, 3.0, GPU_I_ID="1"), series(used, 2.0, 2.0, GPU_I_ID="2")]
    mebibyte = 1 << 20
    assert channel(found, "gpu_memory_used_bytes")[:2] == [2.0 * mebibyte, 3.0 * mebibyte]
    link = "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_PER_LINK_TOTAL"
    found = [series(link, 1.0, 2.0, nvlink="0"), series(link, 10.0, None, nvlink="1")]
    got = channel(found, "gpu_nvlink_crc_errors_total")
    assert got[0] == 11.0
    assert np.isnan(got[1])


def test_a_change_of_driver_or_of_instances_is_marked_and_a_gap_is_none() -> None:
    name = "DCGM_FI_DEV_GPU_TEMP"
    old, new = (
        series(name, *v, DCGM_FI_DRIVER_VERSION=d)
        for v, d in (((50.0,), "1"), ((None, None, 51.0), "2"))
    )
    assert cube([old, new], OVER, NAMES).changed.tolist() == [False, False, True]
    whole = series(name, 50.0, None, 51.0, DCGM_FI_DRIVER_VERSION="1")
    assert not cube([whole], OVER, NAMES).changed.any()
    split = [whole, series(name, None, None, 51.0, DCGM_FI_DRIVER_VERSION="1", GPU_I_ID="1")]
    assert cube(split, OVER, NAMES).changed.tolist() == [False, False, True]


def test_the_question_names_every_spelling_and_every_way_to_the_node() -> None:
    asked = query(["gpu_temperature_celsius"], [{"Hostname": "n1"}, {"hostname": 'n"1'}], 60)
    assert "(?i:DCGM_FI_DEV_GPU_TEMP|DCGM_FI_DEV_GPU_TEMP_CELSIUS)(?i:_total)?" in asked
    assert 'Hostname="n1"}[60000ms]' in asked
    assert "or last_over_time({__name__=~" in asked
    assert 'hostname="n\\"1"' in asked
    assert asked.startswith("max by (__name__, gpu, UUID, gpu_uuid, uuid, GPU_I_ID, nvlink")
