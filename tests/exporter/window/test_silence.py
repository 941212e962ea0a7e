"""Delay, age and failures of the sources are readings too."""

from __future__ import annotations

from dataclasses import replace

from exporter.collectors import SourceStatus
from exporter.readings import Place, SourceName
from exporter.window.silence import watched
from tests.factories.sources import A, B, dcgm, gpus, up

SCRAPE, AGE, FAILED, MISSING = (
    Place("node_dcgm_scrape_seconds"),
    Place("node_dcgm_age_seconds"),
    Place("node_dcgm_failed_reads_total"),
    Place("node_gpus_missing"),
)
PAGE = up(dcgm({A: 61, B: 62}), 1_000.0)


def test_a_page_has_a_duration_an_age_and_a_count_of_failures() -> None:
    values = watched([replace(PAGE, failed_reads=3)], 1_012.0, expected=2, seen=gpus(A, B))
    assert values == {SCRAPE: 0.25, AGE: 12.0, FAILED: 3.0, MISSING: 0.0}


def test_a_read_that_is_not_back_counts_with_the_time_it_has_taken() -> None:
    hung = replace(PAGE, hung=True, running_seconds=47.0)
    assert watched([hung], 1_050.0, expected=None, seen=None)[SCRAPE] == 47.0


def test_a_source_that_never_answered_has_failures_and_no_age() -> None:
    dead = SourceStatus(SourceName.DCGM, 30.0, attempted=True, failed_reads=9)
    assert watched([dead], 1_000.0, expected=8, seen=None) == {FAILED: 9.0}


def test_the_bmc_has_its_own_three() -> None:
    bmc = SourceStatus(SourceName.REDFISH, 60.0, read_at=940.0, duration_seconds=21.0)
    assert watched([bmc], 1_000.0, expected=None, seen=None) == {
        Place("node_bmc_read_seconds"): 21.0,
        Place("node_bmc_age_seconds"): 60.0,
        Place("node_bmc_failed_reads_total"): 0.0,
    }


def test_the_deficit_is_a_number_only_where_both_sides_are_known() -> None:
    assert watched([], 1_000.0, expected=8, seen=gpus(A, B)) == {MISSING: 6.0}
    assert watched([], 1_000.0, expected=None, seen=gpus(A)) == {}
    assert watched([], 1_000.0, expected=1, seen=gpus(A, B)) == {MISSING: 0.0}
