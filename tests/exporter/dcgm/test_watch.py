"""What only the comparison of pages can tell."""

from __future__ import annotations

import pytest

from exporter.readings import (
    Departure,
    LeftAfter,
    Missing,
    Place,
    Reason,
    SourceFailed,
    SourceReadings,
)
from tests.exporter.dcgm.pages import INTERVAL_SECONDS, Pages, at_work, line

TEMPERATURE = Place("gpu_temperature_celsius", "GPU-a")
UNCHANGED = Place("gpu_unchanged_seconds", "GPU-a")
LOST = Place("node_dcgm_channels_lost")


@pytest.fixture
def pages() -> Pages:
    return Pages()


def several(pages: Pages, times: int, body: str) -> SourceReadings:
    return [pages.read(body) for _ in range(times)][-1]


def test_a_copy_that_stands_still_for_three_intervals_is_stale(pages: Pages) -> None:
    body = at_work("GPU-a", millijoules=5_000)
    held = several(pages, 4, body)
    assert held.values[TEMPERATURE] == 61
    assert held.values[UNCHANGED] == 3 * INTERVAL_SECONDS
    stale = pages.read(body)
    assert stale.missing[TEMPERATURE] is Missing.STALE
    assert stale.errors == {Reason.STALE: 1}
    assert stale.values[UNCHANGED] == 4 * INTERVAL_SECONDS
    fresh = pages.read(at_work("GPU-a", millijoules=5_001))
    assert fresh.values[TEMPERATURE] == 61
    assert fresh.values[UNCHANGED] == 0


def test_a_gpu_at_rest_is_not_stale_for_its_energy_grows(pages: Pages) -> None:
    for millijoules in range(10):
        last = pages.read(at_work("GPU-a", millijoules=1 + millijoules, celsius=27))
    assert last.values[TEMPERATURE] == 27


def test_an_energy_counter_that_is_stuck_alone_makes_no_copy_old(pages: Pages) -> None:
    for celsius in range(60, 70):
        last = pages.read(at_work("GPU-a", millijoules=5_000, celsius=celsius))
    assert last.values[TEMPERATURE] == 69


def test_one_gpu_may_be_old_beside_another(pages: Pages) -> None:
    for millijoules in range(6):
        body = at_work("GPU-a", millijoules=7) + at_work("GPU-b", millijoules=7 + millijoules)
        last = pages.read(body)
    assert last.missing[TEMPERATURE] is Missing.STALE
    assert last.values[Place("gpu_temperature_celsius", "GPU-b")] == 61


@pytest.mark.parametrize("energy", ["", line("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", 0)])
def test_without_an_energy_counter_nothing_proves_a_copy_old(pages: Pages, energy: str) -> None:
    last = several(pages, 8, line("DCGM_FI_DEV_GPU_TEMP", 61) + energy)
    assert last.values[TEMPERATURE] == 61
    assert UNCHANGED not in last.values


def test_channels_that_vanish_are_counted_until_they_come_back(pages: Pages) -> None:
    full = at_work("GPU-a", millijoules=1) + line("DCGM_FI_DEV_POWER_USAGE", 300)
    assert pages.read(full + line("DCGM_FI_DEV_XID_ERRORS", 31)).values[LOST] == 0
    assert pages.read(line("DCGM_FI_DEV_GPU_TEMP", 61)).values[LOST] == 2
    assert pages.read(full).values[LOST] == 0


def test_a_gpu_that_was_idle_leaves_after_a_device_list_reload(pages: Pages) -> None:
    pages.read(at_work("GPU-a", "GPU-b", millijoules=1))
    with pytest.raises(SourceFailed):
        pages.read("")
    left = pages.read(at_work("GPU-a", millijoules=2)).departures
    assert left == (Departure("GPU-b", LeftAfter.RELOAD, busy=False, hardware_xid=False),)
    assert pages.read(at_work("GPU-a", "GPU-b", millijoules=3)).departures == ()


def test_a_gpu_at_work_that_falls_off_the_bus_leaves_its_traces(pages: Pages) -> None:
    busy = line("DCGM_FI_DEV_GPU_UTIL", 97, "GPU-b")
    pages.read(at_work("GPU-a", "GPU-b", millijoules=1) + busy)
    pages.read(at_work("GPU-a", millijoules=2))
    code = line("DCGM_FI_DEV_XID_ERRORS", 79, "GPU-b")
    left = pages.read(at_work("GPU-a", millijoules=3) + code).departures
    assert left == (Departure("GPU-b", LeftAfter.RUNNING, busy=True, hardware_xid=True),)


def test_a_pod_alone_makes_a_gpu_busy(pages: Pages) -> None:
    job = line("DCGM_FI_DEV_GPU_TEMP", 61, "GPU-b", namespace="ml", pod="train-0")
    pages.read(at_work("GPU-a", millijoules=1) + job)
    assert pages.read(at_work("GPU-a", millijoules=2)).departures[0].busy


def test_a_gpu_that_is_gone_after_a_silence_left_in_the_gap(pages: Pages) -> None:
    pages.read(at_work("GPU-a", "GPU-b", millijoules=1))
    with pytest.raises(SourceFailed):
        pages.read("", status=503)
    (left,) = pages.read(at_work("GPU-a", millijoules=2)).departures
    assert left.after is LeftAfter.GAP


def test_a_cut_page_makes_nothing_leave(pages: Pages) -> None:
    pages.read(at_work("GPU-a", "GPU-b", millijoules=1))
    assert pages.read(at_work("GPU-a", millijoules=2) + "DCGM_FI").departures == ()
