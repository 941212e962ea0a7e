"""Every recorded tree is read without a crash, an invented zero or an unnamed gap."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from pathlib import Path

import pytest

from benchmarks.redfish import Survey, survey
from exporter.readings import Missing, Place, Reason
from model.schema import BY_NAME
from model.sources import redfish as spell

BUDGET = {
    "cray-ex235n-a100": 3,
    "dell-idrac9-a": 3,
    "dmtf-public-rackmount1": 3,
    "hpe-ilo6-dl380a-gen11": 3,
    "nvidia-dgx-h100-ami": 4,
    "nvidia-gb200-compute-tray": 3,
    "nvidia-gh200": 2,
    "openbmc-stock": 2,
    "supermicro-x10": 3,
}
"""The most requests that a steady cycle may take."""

ROTATION = 31
"""Cycles after which everything had its turn."""

EXPECTED = {
    "cray-ex235n-a100": {spell.INLET: 32, spell.INLET_MARGIN: 38},
    "dell-idrac9-a": {
        spell.INLET: 25,
        spell.INLET_MARGIN: 42 - 25,
        spell.OUTLET: 31,
        spell.CPU: 39,
        spell.CPU_MARGIN: 99 - 39,
        spell.POWER: 614,
        spell.POWER_LIMIT: 1205,
        spell.IN_WATTS: 303 + 309.5,
        spell.OUT_WATTS: 273 + 279,
        spell.EFFICIENCY: 273 / 303,
        spell.IN_VOLTS: 240,
        spell.FAN: 18600,
        spell.SUPPLIES_FAILED: 0,
        spell.WITHOUT_INPUT: 0,
    },
    "dmtf-public-rackmount1": {
        spell.INLET: 25,
        spell.INLET_MARGIN: 40 - 25,
        spell.CPU: 41,
        spell.CPU_MARGIN: 45 - 41,
        spell.POWER: 344,
        spell.POWER_LIMIT: 500,
        spell.FAN: 2050,
        spell.SUPPLIES_FAILED: 0,
    },
    "hpe-ilo6-dl380a-gen11": {
        spell.INLET: 24,
        spell.INLET_MARGIN: 42 - 24,
        spell.CPU: 61,
        spell.CPU_MARGIN: 91 - 61,
        spell.DIMM: 52,
        spell.BOARD: 62,
        spell.NIC: 94,
        spell.SUPPLY_TEMPERATURE: 45,
        spell.TEMPERATURE_MARGIN: 105 - 94,
        spell.POWER: 565,
        spell.OUT_WATTS: 222 + 200 + 86 + 57,
        spell.IN_VOLTS: 208,
        spell.FAN_RATIO: 0.23,
        spell.SUPPLIES_FAILED: 0,
    },
    "nvidia-dgx-h100-ami": {
        spell.INLET: 22,
        spell.INLET_MARGIN: 40 - 22,
        spell.OUTLET: 47,
        spell.CPU: 31,
        spell.CPU_MARGIN: 91 - 31,
        spell.DIMM: 38,
        spell.NIC: 42,
        spell.BOARD: 59,
        spell.SUPPLY_TEMPERATURE: 32,
        spell.POWER: 1950,
        spell.IN_WATTS: 3 * 351 + 3 * 312,
        spell.BUS_VOLTS: 54.25,
        spell.FAN: 3886,
        spell.GPUS: 8,
        spell.PROCESSORS_FAILED: 0,
    },
    "nvidia-gb200-compute-tray": {
        spell.INLET: 27.375,
        spell.INLET_MARGIN: 45 - 27.375,
        spell.OUTLET: 42,
        spell.CPU: 41.031,
        spell.CPU_MARGIN: 46.438,
        spell.NIC: 51,
        spell.BOARD: 40,
        spell.POWER: 1079.325153,
        spell.BUS_VOLTS: 54.524,
        spell.BUS_AMPERES: 9.641 + 9.366,
        spell.FAN: 5782,
        spell.LEAK_FAULTS: 1,
        spell.LEAK_MARGIN: 1.724 - 1.617,
        spell.GPUS: 4,
    },
    "nvidia-gh200": {
        spell.INLET: 29.996094,
        spell.CPU: 38.281,
        spell.CPU_MARGIN: 49.907,
        spell.POWER: 164.961 + 174.129,
        spell.FAN: 9733,
        spell.FANS_FAILED: 0,
        spell.GPUS: 2,
    },
    "openbmc-stock": {},
    "supermicro-x10": {spell.PROCESSORS_FAILED: 0},
}
"""Read from the recorded files by hand: the node's own sensors, not the reader's output."""

GAPS = {
    "cray-ex235n-a100": {spell.POWER: "ambiguous", spell.CPU: "ambiguous"},
    "nvidia-gb200-compute-tray": {spell.LEAK: "unreadable", spell.SUPPLY: "absent_family"},
    "openbmc-stock": {spell.POWER: "host_off", spell.INLET: "absent_family"},
    "supermicro-x10": {
        spell.POWER: "zero_means_none",
        spell.INLET: "sensor_absent",
        spell.FAN: "sensor_absent",
        spell.DIMM: "sensor_absent",
    },
}
"""One detector of the GB200 is critical and, by its state, broken: unknown, neither wet nor dry."""

FACILITY = {
    "nvidia-gb200-nvswitch-tray": "NVLink switch tray",
    "ocp-cdu": "cooling equipment",
    "ocp-power-shelf": "power equipment",
    "ocp-rack-pdu": "power equipment",
    "ocp-rear-door-heat-exchanger": "cooling equipment",
    "powershelf-delta": "power equipment",
}


def tree(shared_data: Path, name: str) -> Path:
    folder = shared_data / "redfish" / name
    if not folder.is_dir():
        pytest.skip(f"no recorded tree {name}")
    return folder


@lru_cache
def rotated(folder: Path, chassis: str = "") -> Survey:
    """Read until everything had its turn; a recording that is read once serves all tests."""
    return survey(folder, cycles=ROTATION, chassis=chassis)


def test_every_recorded_tree_is_expected(shared_data: Path) -> None:
    found = {path.parent.name for path in (shared_data / "redfish").glob("*/redfish")}
    assert found == EXPECTED.keys() | FACILITY.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_a_node_tree_gives_the_nodes_own_values(shared_data: Path, name: str) -> None:
    found = {p.channel: v for p, v in rotated(tree(shared_data, name)).last.values.items()}
    expected = EXPECTED[name]
    assert {channel: found.get(channel) for channel in expected} == pytest.approx(expected)
    gaps = rotated(tree(shared_data, name)).last.missing
    named = GAPS.get(name, {})
    assert {channel: str(gaps.get(Place(channel))) for channel in named} == named


@pytest.mark.parametrize("name", BUDGET)
def test_a_steady_cycle_stays_within_its_budget(shared_data: Path, name: str) -> None:
    assert rotated(tree(shared_data, name)).most_requests <= BUDGET[name]


@pytest.mark.parametrize("name", EXPECTED)
def test_every_channel_is_a_value_or_missing_and_never_both(shared_data: Path, name: str) -> None:
    last = rotated(tree(shared_data, name)).last
    places = Counter([*last.values, *last.missing])
    assert places == Counter({Place(channel): 1 for channel in spell.CHANNELS})
    assert all(BY_NAME[p.channel].plausible(v) for p, v in last.values.items())
    zeros = {place.channel for place, value in last.values.items() if value == 0}
    assert all(BY_NAME[channel].unit == "" for channel in zeros), "only counts and flags are 0"


@pytest.mark.parametrize("name", EXPECTED)
def test_no_value_is_older_than_a_rotation(shared_data: Path, name: str) -> None:
    seen = rotated(tree(shared_data, name))
    assert seen.oldest_cycles < ROTATION
    prompt = {Place(channel) for channel in spell.PROMPT}
    assert not any(prompt & readings.ages.keys() for readings in seen.cycles)


@pytest.mark.parametrize("name", FACILITY)
def test_a_facility_tree_is_answered_with_one_clear_line(shared_data: Path, name: str) -> None:
    row = survey(tree(shared_data, name))
    assert row.failure is not None
    assert row.failure.reason is Reason.FACILITY_TREE
    assert FACILITY[name] in row.failure.detail
    assert "\n" not in row.failure.detail
    assert row.walk_requests == 2


def test_one_of_two_nodes_behind_a_bmc_is_told_apart_by_its_chassis(shared_data: Path) -> None:
    for chassis, watts, joules in (("Node0", 467, 401457377), ("Node1", 534, 455517408)):
        last = rotated(tree(shared_data, "cray-ex235n-a100"), chassis).last
        assert last.values[Place(spell.POWER)] == watts
        assert last.values[Place(spell.ENERGY)] == joules
        assert last.values[Place(spell.INLET)] == 32.0


def test_without_expand_a_liquid_cooled_tray_is_read_sensor_by_sensor(shared_data: Path) -> None:
    folder = tree(shared_data, "nvidia-gb200-compute-tray")
    row = survey(folder, expand="none", cycles=3)
    assert row.last.strategy == "metric_reports+subsystems+sensors_single"
    assert row.last.values[Place(spell.FAN)] == 5782.0
    # EnvironmentMetrics carries the same power sensor, recorded a moment earlier.
    assert row.last.values[Place(spell.POWER)] == pytest.approx(1073.190183)
    assert row.last.missing[Place(spell.LEAK)] is Missing.UNREADABLE
