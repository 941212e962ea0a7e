"""Mutated bodies: a reader that raises, or shows what nobody wrote, is defective."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exporter.facility.decode import Kind, decode
from exporter.facility.items import Item, Unit
from exporter.facility.judge import Judge
from exporter.rack import judge, rack_of
from exporter.readings import Missing
from model import schema
from model.sources.facility import Equipment
from tests.exporter.rack.test_rack import PAGE
from tests.exporter.redfish.test_fuzz import RELAXED, _loaded, mutate

FEWER = settings(RELAXED, max_examples=40)

CDU = "ocp-cdu/redfish/v1/ThermalEquipment/CDUs/1"
PDU = "ocp-rack-pdu/redfish/v1/PowerEquipment/RackPDUs/1"
SHELF = "ocp-power-shelf/redfish/v1"
DOCUMENTS = {
    Kind.PRIMARY: f"{CDU}/PrimaryCoolantConnectors/1",
    Kind.SECONDARY: f"{CDU}/SecondaryCoolantConnectors/1",
    Kind.PUMP: f"{CDU}/Pumps/1",
    Kind.RESERVOIR: f"{CDU}/Reservoirs/1",
    Kind.FILTER: f"{CDU}/Filters/1",
    Kind.DETECTOR: f"{CDU}/LeakDetection/LeakDetectors/Moisture",
    Kind.ENVIRONMENT: f"{PDU}/Metrics",
    Kind.MAINS: f"{SHELF}/PowerEquipment/PowerShelves/1/Mains/AC1",
    Kind.BRANCH: f"{PDU}/Branches/A",
    Kind.SUPPLY: f"{SHELF}/Chassis/PowerShelf/PowerSubsystem/PowerSupplies/1",
    Kind.SUPPLY_METRICS: f"{SHELF}/Chassis/PowerShelf/PowerSubsystem/PowerSupplies/Bay1/Metrics",
    Kind.FAN: "ocp-cdu/redfish/v1/Chassis/1/ThermalSubsystem/Fans/1",
    Kind.THERMAL_METRICS: "ocp-cdu/redfish/v1/Chassis/1/ThermalSubsystem/ThermalMetrics",
    Kind.SENSOR: "nvidia-gb200-nvswitch-tray/redfish/v1/Chassis/MGX_NVSwitch_0/Sensors/"
    "MGX_NVSwitch_0_Power_0",
}


@pytest.mark.parametrize("kind", Kind)
@FEWER
@given(seed=st.integers(0, 2**32), times=st.integers(1, 12))
def test_a_decoder_takes_any_object(shared_data: Path, kind: Kind, seed: int, times: int) -> None:
    tree, _, uri = DOCUMENTS[kind].partition("/")
    document = _loaded(shared_data / "redfish" / tree)["/" + uri]
    mutant = mutate(document, Random(seed), times)
    found = decode(kind, "1", mutant)
    for item in found:
        if isinstance(item, Item):
            assert item.value is None or math.isfinite(item.value)
    readings = Judge().unit(Unit(Equipment.CDU), found)
    for channel, value in readings.values.items():
        assert schema.BY_NAME["facility_" + channel].plausible(value)
    assert all(isinstance(missing, Missing) for missing in readings.missing.values())


@FEWER
@given(st.integers(0, len(PAGE)), st.text(max_size=12))
def test_a_damaged_page_is_read_without_an_exception(at: int, junk: str) -> None:
    from exporter.dcgm import text

    page = PAGE[:at] + junk + PAGE[at + len(junk) :]
    samples = text.read(page.encode(), lambda name: name.startswith("forewarn_")).samples
    values, missing = judge(samples, rack_of(samples, "n1") or "r1")
    assert not values.keys() & missing.keys()
    assert all(schema.BY_NAME[place.channel].plausible(value) for place, value in values.items())
