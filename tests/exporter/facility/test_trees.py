"""Every tree of facility equipment gives the values that its files hold, read by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.facility.items import EquipmentReadings
from exporter.readings import Reason, SourceFailed
from model import schema
from model.sources.facility import Equipment
from tests.exporter.redfish.fake_bmc import recorded

EXPECTED = {
    "ocp-cdu": {
        "coolant_flow_liters_per_minute": 42,
        "coolant_supply_temperature_celsius": 29,
        "coolant_return_temperature_celsius": 50,
        "coolant_supply_pressure_pascals": 108_000,
        "coolant_pressure_drop_pascals": 145_000 - 108_000,
        "water_flow_liters_per_minute": 41,
        "water_supply_temperature_celsius": 28,
        "water_heat_watts": 41 / 60 * 1.030 * 3.974 * (42 - 28) * 1000,
        "heat_residual_ratio": (26.36e3 - 60170.334) / 60170.334,
        "temperature_rise_residual_celsius": 0,
        "pump_speed_ratio": 0.385,
        "pumps_failed": 0,
        "filter_service_ratio": 354 / 7500,
        "leak_detected": 0,
        "leak_detectors_unreadable": 0,
        "power_watts": 6438,
        "energy_joules_total": 36166 * 3.6e6,
    },
    "ocp-rack-pdu": {
        "power_watts": 6438,
        "energy_joules_total": 56438 * 3.6e6,
        "ambient_temperature_celsius": 26.3,
        "humidity_ratio": 0.527,
        "branch_load_ratio": 5.19 / 16,
        "breakers_tripped": 0,
        "power_factor_ratio": 0.93,
    },
    "ocp-power-shelf": {
        "input_voltage_volts": 222.8,
        "input_current_amperes": 5.68,
        "frequency_hertz": 60.1,
        "output_voltage_volts": 48.45,
        "output_current_amperes": 16.93,
        "output_watts": 816.5,
        "branch_load_ratio": 16.93 / 250,
        "power_load_ratio": 0.55,
    },
    "powershelf-delta": {
        "power_watts": 1749,
        "output_watts": 1674,
        "power_load_ratio": 0.0509,
        "supply_temperature_celsius": 66,
        "ambient_temperature_celsius": 26,
        "supply_efficiency_ratio": 326 / 341,
        "input_voltage_volts": 241.25,
        "output_voltage_volts": 49.87,
        "fan_speed_rpm": 6904,
        "power_supplies_failed": 0,
        "power_supplies_standby": 0,
    },
    "nvidia-gb200-nvswitch-tray": {
        "power_watts": 193 + 193,
        "leak_detected": 0,
        "leak_detectors_unreadable": 0,
    },
}
"""A second fan that is not fitted reads 0 on the Delta shelf; it is not the slowest fan."""

DOOR = {
    "water_flow_liters_per_minute": 41,
    "water_supply_temperature_celsius": 28,
    "water_return_temperature_celsius": 42,
    "water_supply_pressure_pascals": 803_000,
    "water_heat_watts": 41 / 60 * 1.030 * 3.974 * 14 * 1000,
    "heat_residual_ratio": (21.03e3 - 39158.47) / 39158.47,
}


def read(plant, folder: Path) -> EquipmentReadings:
    if not folder.is_dir():
        pytest.skip(f"no recorded tree {folder.name}")
    one = plant(recorded(folder))
    one.read()
    return one.read()


@pytest.mark.parametrize("name", EXPECTED)
def test_a_tree_gives_the_values_of_its_files(shared_data: Path, plant, name: str) -> None:
    (unit,) = read(plant, shared_data / "redfish" / name).units
    expected = EXPECTED[name]
    found = {channel: unit.values.get(channel) for channel in expected}
    assert found == pytest.approx(expected, rel=1e-5)


def test_a_door_and_its_unit_behind_one_address_are_two_pieces(shared_data: Path, plant) -> None:
    units = read(plant, shared_data / "redfish" / "ocp-rear-door-heat-exchanger").units
    by_kind = {unit.unit.kind: unit for unit in units}
    assert by_kind.keys() == {Equipment.CDU, Equipment.HEAT_EXCHANGER}
    door = by_kind[Equipment.HEAT_EXCHANGER]
    assert door.unit.suffix == "heat_exchanger-1"
    assert {c: door.values.get(c) for c in DOOR} == pytest.approx(DOOR, rel=1e-5)
    assert "coolant_flow_liters_per_minute" not in door.values
    assert by_kind[Equipment.CDU].values["power_watts"] == 6438


@pytest.mark.parametrize("name", [*EXPECTED, "ocp-rear-door-heat-exchanger"])
def test_what_is_shown_is_a_channel_and_possible(shared_data: Path, plant, name: str) -> None:
    readings = read(plant, shared_data / "redfish" / name)
    assert readings.requests <= 10
    for unit in readings.units:
        rows = {channel: schema.BY_NAME["facility_" + channel] for channel in unit.values}
        assert all(rows[channel].plausible(value) for channel, value in unit.values.items())
        assert not unit.values.keys() & unit.missing.keys()


@pytest.mark.parametrize("name", ["dell-idrac9-a", "nvidia-gh200"])
def test_a_nodes_bmc_is_answered_with_one_clear_line(shared_data: Path, plant, name: str) -> None:
    with pytest.raises(SourceFailed) as failure:
        read(plant, shared_data / "redfish" / name)
    assert failure.value.reason is Reason.NO_RESOURCE
    assert "belongs to the exporter of its node" in failure.value.detail


def test_the_sensors_of_a_shelf_come_with_their_collection(shared_data: Path, plant) -> None:
    folder = shared_data / "redfish" / "powershelf-delta"
    readings = read(plant, folder)
    assert readings.requests == 2
