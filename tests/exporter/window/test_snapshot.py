"""What is known at one moment, and how the rest is named."""

from __future__ import annotations

from dataclasses import replace

from exporter.collectors import SourceStatus
from exporter.readings import Missing, Place, SourceName, SourceReadings
from exporter.window import snapshot
from model import schema
from tests.factories.sources import TEMPERATURE, A, B, dcgm, gpus, up

NODE_POWER = Place("node_power_watts")


def take(*statuses: SourceStatus, now: float = 1_000.0) -> snapshot.NodeSnapshot:
    return snapshot.take(statuses, now, expected=gpus(A, B), expected_count=2)


def test_a_gpu_that_left_a_page_that_answers_is_gone() -> None:
    taken = take(up(dcgm({A: 61}), 1_000.0))
    assert taken.missing[Place(TEMPERATURE, B)] is Missing.GPU_GONE
    assert taken.gpu_missing


def test_while_nobody_answers_no_gpu_is_gone() -> None:
    taken = take(SourceStatus(SourceName.DCGM, 30.0, attempted=True))
    assert taken.missing[Place(TEMPERATURE, B)] is Missing.SOURCE_DOWN
    assert taken.seen is None
    assert not taken.gpu_missing


def test_an_incomplete_page_proves_no_absence() -> None:
    taken = take(up(dcgm({A: 61}, complete=False), 1_000.0))
    assert taken.seen is None
    assert taken.values[Place(TEMPERATURE, A)] == 61


def test_readings_older_than_three_cycles_are_stale() -> None:
    page = dcgm({A: 61, B: 62})
    assert take(up(page, 910.0)).values
    taken = take(up(page, 909.0))
    assert {place.channel for place in taken.values if place.uuid} == set()
    assert taken.missing[Place(TEMPERATURE, A)] is Missing.STALE


def test_a_node_without_bmc_has_no_source_and_one_with_a_dead_bmc_has() -> None:
    page = up(dcgm({A: 61, B: 62}), 1_000.0)
    assert take(page).missing[NODE_POWER] is Missing.NO_SOURCE
    bmc = SourceStatus(SourceName.REDFISH, 60.0, attempted=True)
    assert take(page, bmc).missing[NODE_POWER] is Missing.SOURCE_DOWN


def test_a_count_above_the_known_gpus_is_a_missing_gpu() -> None:
    full = take(up(dcgm({A: 61, B: 62}), 1_000.0))
    assert not full.gpu_missing
    assert replace(full, expected_count=3).gpu_missing


def test_every_kind_of_missing_is_counted_even_at_none() -> None:
    counts = take(up(dcgm({A: 61, B: 62}), 1_000.0)).missing_by_kind()
    assert counts.keys() == set(Missing)
    unasked = {schema.Origin.REDFISH, schema.Origin.FACILITY}
    nodes = schema.channels(schema.Level.NODE)
    assert counts[Missing.NO_SOURCE] == sum(row.origin in unasked for row in nodes)


def test_a_reading_that_takes_turns_shows_how_old_it_is() -> None:
    place = Place("node_fan_speed_rpm")
    readings = SourceReadings(SourceName.REDFISH, values={place: 9000.0}, ages={place: 120.0})
    assert take(up(readings, 970.0), now=1_000.0).ages == {place: 150.0}
