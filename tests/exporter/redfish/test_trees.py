"""Every recorded tree is read without a crash, an invented zero or an unnamed gap."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from exporter.readings import Missing, Place, Reason
from model.schema import BY_NAME
from model.sources import redfish as spell
from tests.exporter.redfish.survey import examine

EXPECTED = {
    # tree: strategy, requests of a steady cycle, values, missing but for the absent families
    "cray-ex235n-a100": ("thermal_power", 1, {spell.INLET: 32}, {spell.POWER: "ambiguous"}),
    "dell-idrac9-a": (
        "thermal_power",
        3,
        {spell.INLET: 25, spell.POWER: 614, spell.FAN: 18600, spell.SUPPLIES_FAILED: 0},
        {},
    ),
    "dmtf-public-rackmount1": (
        "thermal_power",
        3,
        {spell.INLET: 25, spell.POWER: 344, spell.FAN: 2050, spell.SUPPLIES_FAILED: 0},
        {},
    ),
    "hpe-ilo6-dl380a-gen11": (
        "thermal_power",
        3,
        {spell.INLET: 24, spell.POWER: 565, spell.SUPPLIES_FAILED: 0},
        {},
    ),
    "nvidia-dgx-h100-ami": (
        "thermal_power+sensors_single",
        3,
        {spell.INLET: 22, spell.POWER: 1950, spell.FAN: 3886},
        {},
    ),
    "nvidia-gb200-compute-tray": (
        "subsystems+sensors_expanded",
        3,
        {spell.INLET: 27.375, spell.POWER: 1079.325153, spell.FAN: 5782},
        {spell.LEAK: "unreadable"},
    ),
    "nvidia-gh200": (
        "metric_reports+sensors_expanded",
        3,
        {spell.INLET: 29.996094, spell.POWER: 164.961 + 174.129, spell.FAN: 9733},
        {},
    ),
    "openbmc-stock": ("thermal_power", 2, {}, {spell.POWER: "host_off"}),
    "supermicro-x10": (
        "thermal_power",
        3,
        {},
        {
            spell.POWER: "zero_means_none",
            spell.INLET: "sensor_absent",
            spell.FAN: "sensor_absent",
        },
    ),
}
"""Read from the recorded files by hand: the node's own sensors, not the reader's output."""

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


def test_every_recorded_tree_is_expected(shared_data: Path) -> None:
    found = {path.parent.name for path in (shared_data / "redfish").glob("*/redfish")}
    assert found == EXPECTED.keys() | FACILITY.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_a_node_tree_gives_its_own_values_and_names_the_rest(shared_data: Path, name: str) -> None:
    strategy, requests, values, gaps = EXPECTED[name]
    row = examine(tree(shared_data, name))
    assert row.steady is not None, row.failure
    assert row.steady.strategy == strategy
    assert row.steady.requests == requests
    assert {p.channel: v for p, v in row.steady.values.items()} == pytest.approx(values)
    absent = {c: "absent_family" for c in spell.CHANNELS if c not in values and c not in gaps}
    assert {p.channel: str(k) for p, k in row.steady.missing.items()} == gaps | absent


@pytest.mark.parametrize("name", EXPECTED)
def test_every_channel_is_a_value_or_missing_and_never_both(shared_data: Path, name: str) -> None:
    steady = examine(tree(shared_data, name)).steady
    assert steady is not None
    places = Counter([*steady.values, *steady.missing])
    assert places == Counter({Place(channel): 1 for channel in spell.CHANNELS})
    assert all(BY_NAME[p.channel].plausible(v) for p, v in steady.values.items())
    zeros = {place.channel for place, value in steady.values.items() if value == 0}
    assert zeros <= {spell.SUPPLIES_FAILED, spell.LEAK}


@pytest.mark.parametrize("name", FACILITY)
def test_a_facility_tree_is_answered_with_one_clear_line(shared_data: Path, name: str) -> None:
    row = examine(tree(shared_data, name))
    assert row.failure is not None
    assert row.failure.reason is Reason.FACILITY_TREE
    assert FACILITY[name] in row.failure.detail
    assert "\n" not in row.failure.detail
    assert row.walk_requests == 2


def test_one_of_two_nodes_behind_a_bmc_is_told_apart_by_its_chassis(shared_data: Path) -> None:
    for chassis, watts in (("Node0", 467.0), ("Node1", 534.0)):
        row = examine(tree(shared_data, "cray-ex235n-a100"), chassis=chassis)
        assert row.steady is not None
        assert row.steady.values[Place(spell.POWER)] == watts
        assert row.steady.values[Place(spell.INLET)] == 32.0


def test_without_expand_a_liquid_cooled_tray_is_read_sensor_by_sensor(shared_data: Path) -> None:
    folder = tree(shared_data, "nvidia-gb200-compute-tray")
    row = examine(folder, expand="none", sensors_per_cycle=20)
    assert row.steady is not None
    assert row.steady.strategy == "subsystems+sensors_single"
    assert row.steady.values[Place(spell.FAN)] == 5782.0
    # EnvironmentMetrics carries the same power sensor, recorded a moment earlier.
    assert row.steady.values[Place(spell.POWER)] == pytest.approx(1073.190183)
    assert row.steady.missing[Place(spell.LEAK)] is Missing.UNREADABLE
