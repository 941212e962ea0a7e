"""R09: margins among temperatures, thresholds of 0, voltages beyond physics."""

from __future__ import annotations

import pytest

from exporter.readings import Reason
from model.sources import redfish as spell
from tests.exporter.redfish.conftest import missing, values
from tests.exporter.redfish.small_tree import OK, POWER, THERMAL, small_tree

TEMPERATURES = [
    {"MemberId": "4", "Name": "CPU1 DTS", "ReadingCelsius": -47, "MinReadingRangeTemp": -51,
     "MaxReadingRangeTemp": 0, "UpperThresholdCritical": 0, "UpperThresholdFatal": 0,
     "Status": {"State": "Enabled"}},
    {"MemberId": "9", "Name": "P/S 1", "ReadingCelsius": 38, "UpperThresholdCritical": 0,
     "UpperThresholdFatal": 0, "Status": {"State": "Enabled", "Health": "OK"}},
    {"MemberId": "10", "Name": "Inlet", "ReadingCelsius": -4, "UpperThresholdCritical": 42,
     "Status": {"State": "Enabled", "Health": "OK"}},
]  # fmt: skip


def reading(bench, voltages=()):
    documents = small_tree()
    documents[THERMAL]["Temperatures"] = TEMPERATURES
    documents[POWER]["Voltages"] = list(voltages)
    return bench(documents).read()


def test_a_margin_is_a_margin_and_a_cold_inlet_is_a_reading(bench) -> None:
    found = values(reading(bench))
    assert found[spell.INLET] == -4
    assert found[spell.CPU_MARGIN] == 47
    assert spell.CPU not in found


def test_a_threshold_of_zero_is_no_threshold(bench) -> None:
    found = values(reading(bench))
    assert found[spell.SUPPLY_TEMPERATURE] == 38
    assert found[spell.INLET_MARGIN] == 42 + 4
    assert found[spell.TEMPERATURE_MARGIN] == 42 + 4, "not 0 - 38"


def test_a_nameless_voltage_of_33733_is_nobodys(bench) -> None:
    nameless = {"MemberId": "3", "Name": "", "ReadingVolts": 33733.0,
                "LowerThresholdCritical": 30000, "UpperThresholdFatal": 65535,
                "Status": {"State": "Enabled", "Health": "Warning"}}  # fmt: skip
    found = values(reading(bench, [nameless]))
    assert not found.keys() & {spell.BUS_VOLTS, spell.IN_VOLTS}
    assert found[spell.SUPPLIES_FAILED] == 0


@pytest.mark.parametrize("volts", [33733.0, -1, 1e9])
def test_a_voltage_beyond_physics_is_missing_and_counted(bench, volts: float) -> None:
    readings = reading(bench, [{"Name": "VOLT_PDB_HSC", "ReadingVolts": volts, "Status": OK}])
    assert missing(readings, spell.BUS_VOLTS) == "out_of_range"
    assert readings.errors[Reason.OUT_OF_RANGE] == 1
