"""XID events: edges of a latched gauge, and repeats where the site lists them."""

from __future__ import annotations

import pytest

from exporter.readings import Place, SourceReadings
from model.sources.xid import APPLICATION, HARDWARE, INFORMATIONAL, XidClass, classify
from tests.exporter.dcgm.pages import Pages, at_work, line

GAUGE, WINDOW, TOTAL = (
    "DCGM_FI_DEV_XID_ERRORS",
    "DCGM_EXP_XID_ERRORS_COUNT",
    "DCGM_EXP_XID_ERRORS_TOTAL",
)


@pytest.fixture
def pages() -> Pages:
    return Pages()


def gpu(energy: int, *more: str) -> str:
    return at_work("GPU-a", millijoules=energy) + "".join(more)


def events(readings: SourceReadings, kind: str = "hardware", uuid: str = "GPU-a") -> float:
    return readings.values[Place(f"gpu_{kind}_xid_events_total", uuid)]


def test_the_code_on_the_first_page_is_old_news(pages: Pages) -> None:
    readings = pages.read(gpu(1, line(GAUGE, 79)))
    assert events(readings) == 0
    assert readings.values[Place("gpu_xid_code", "GPU-a")] == 79


def test_a_code_that_appears_is_one_event_and_its_level_is_none(pages: Pages) -> None:
    pages.read(gpu(1, line(GAUGE, 0)))
    assert events(pages.read(gpu(2, line(GAUGE, 79)))) == 1
    assert events(pages.read(gpu(3, line(GAUGE, 79)))) == 1
    assert events(pages.read(gpu(4, line(GAUGE, 31))), "application") == 1
    assert events(pages.read(gpu(5, line(GAUGE, 79)))) == 2


def test_zero_and_absent_are_the_same_silence(pages: Pages) -> None:
    pages.read(gpu(1))
    assert events(pages.read(gpu(2, line(GAUGE, 0)))) == 0
    assert events(pages.read(gpu(3))) == 0
    assert events(pages.read(gpu(4, line(GAUGE, 48)))) == 1


def test_a_restart_of_the_source_forgets_the_code_and_is_no_event(pages: Pages) -> None:
    pages.read(gpu(1, line(GAUGE, 79)))
    pages.read(gpu(2))
    assert events(pages.read(gpu(3, line(GAUGE, 0)))) == 0
    assert events(pages.read(gpu(4, line(GAUGE, 79)))) == 1


def test_the_sliding_window_falls_again_and_counts_only_what_it_gained(pages: Pages) -> None:
    """Its type says counter; read as one, each fall would be a reset and its level new events."""
    counts = [1, 3, 3, 2, 0, 0, 1]
    pages.read(gpu(1, line(WINDOW, 0)))
    for energy, count in enumerate(counts, start=2):
        last = pages.read(gpu(energy, line(WINDOW, count, xid="31", window_size_in_ms="300000")))
    assert events(last, "application") == 4


def test_the_total_starts_with_its_first_event_and_again_after_a_restart(pages: Pages) -> None:
    pages.read(gpu(1))
    assert events(pages.read(gpu(2, line(TOTAL, 2, xid="48")))) == 2
    assert events(pages.read(gpu(3, line(TOTAL, 5, xid="48")))) == 5
    assert events(pages.read(gpu(4, line(TOTAL, 1, xid="48")))) == 6


def test_what_several_families_say_of_one_event_is_one_event(pages: Pages) -> None:
    pages.read(gpu(1))
    said = (line(GAUGE, 94), line(WINDOW, 1, xid="94"), line(TOTAL, 1, xid="94"))
    assert events(pages.read(gpu(2, *said)), "precursor") == 1


def test_copies_of_one_mig_gpu_are_one_event(pages: Pages) -> None:
    pages.read(gpu(1))
    copies = (line(GAUGE, 63, GPU_I_ID=str(i), err_code="63", err_msg="a, b") for i in range(7))
    assert events(pages.read(gpu(2, *copies)), "precursor") == 1


def test_a_gpu_that_fell_off_keeps_its_event_while_the_code_is_latched(pages: Pages) -> None:
    pages.read(at_work("GPU-a", "GPU-b", millijoules=1))
    rest = at_work("GPU-b", millijoules=2) + line(GAUGE, 79)
    readings = pages.read(rest)
    assert [one.uuid for one in readings.gpus] == ["GPU-b"]
    assert events(readings) == 1


def test_a_cut_page_proves_nothing_and_keeps_the_counts(pages: Pages) -> None:
    pages.read(gpu(1, line(GAUGE, 0)))
    pages.read(gpu(2, line(GAUGE, 79)))
    assert events(pages.read(gpu(3) + "DCGM_FI_DEV_XID_ERR")) == 1
    assert events(pages.read(gpu(4, line(GAUGE, 79)))) == 1


@pytest.mark.parametrize("xid", ["", "9223372036854775794", "<<<NULL>>>", "-1", "7.5", "²"])
def test_what_is_no_code_is_no_event(pages: Pages, xid: str) -> None:
    pages.read(gpu(1))
    readings = pages.read(gpu(2, line(WINDOW, 3, xid=xid)))
    assert {events(readings, kind) for kind in XidClass} == {0}


def test_no_code_is_of_two_classes() -> None:
    assert not HARDWARE & APPLICATION
    assert not INFORMATIONAL & (HARDWARE | APPLICATION)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (0, None),
        (154, None),
        (13, XidClass.APPLICATION),
        (31, XidClass.APPLICATION),
        (48, XidClass.HARDWARE),
        (79, XidClass.HARDWARE),
        (149, XidClass.HARDWARE),
        (63, XidClass.PRECURSOR),
        (94, XidClass.PRECURSOR),
        (999, XidClass.PRECURSOR),
    ],
)
def test_codes_accuse_whom_the_catalogue_says(code: int, kind: XidClass | None) -> None:
    assert classify(code) is kind
