"""What was looked up by eye in a tree is what the reader says, and the tree still says it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from exporter.readings import Place
from model.sources import redfish as spell
from tests.exporter.redfish.fake_bmc import recorded
from tests.exporter.redfish.hand_checked import BY_HAND, NODES, Hand
from tests.exporter.redfish.test_trees import rotated, tree

if TYPE_CHECKING:
    from pathlib import Path


def said(documents: dict[str, Any], at: str) -> float:
    """Return the number that stands at a place of a tree."""
    uri, _, pointer = at.partition("#")
    found: Any = documents[f"/redfish/v1/{uri}"]
    for step in pointer.split("/"):
        found = found[int(step)] if isinstance(found, list) else found[step]
    return float(found)


def is_right(row: Hand, values: dict[str, float], documents: dict[str, Any]) -> bool:
    wanted = pytest.approx(row.value, rel=1e-6)
    return said(documents, row.at) == wanted and values.get(row.channel) == wanted


def wrong(name: str, values: dict[str, float], documents: dict[str, Any]) -> list[Hand]:
    return [row for row in BY_HAND[name] if not is_right(row, values, documents)]


@pytest.mark.parametrize("name", sorted(BY_HAND))
def test_a_value_found_by_hand_is_the_readers(shared_data: Path, name: str) -> None:
    folder = tree(shared_data, name)
    last = rotated(folder, NODES.get(name, "")).last
    values = {place.channel: value for place, value in last.values.items()}
    assert wrong(name, values, recorded(folder)) == []


ABSENT = {
    spell.CPU: "Temperatures/0",
    spell.INLET: "Temperatures/1",
    spell.DIMM: "Temperatures/4",
    spell.FAN: "Fans/0",
}
"""Where an X10 that is off says of a sensor that it is absent, and reads 0."""


@pytest.mark.parametrize("channel", ABSENT)
def test_a_sensor_that_an_x10_calls_absent_is_missing_and_not_0(
    shared_data: Path, channel: str
) -> None:
    folder = tree(shared_data, "supermicro-x10")
    sensor: Any = recorded(folder)["/redfish/v1/Chassis/1/Thermal"]
    for step in ABSENT[channel].split("/"):
        sensor = sensor[int(step)] if isinstance(sensor, list) else sensor[step]
    assert sensor["Status"] == {"State": "Absent"}
    assert sensor.get("ReadingCelsius", sensor.get("Reading")) == 0
    assert str(rotated(folder).last.missing[Place(channel)]) == "sensor_absent"


def test_a_meter_of_an_x10_that_says_0_watts_says_nothing(shared_data: Path) -> None:
    folder = tree(shared_data, "supermicro-x10")
    assert said(recorded(folder), "Chassis/1/Power#PowerControl/0/PowerConsumedWatts") == 0
    last = rotated(folder).last
    assert str(last.missing[Place(spell.POWER)]) == "zero_means_none"
    assert {place.channel: value for place, value in last.values.items()} == {
        spell.PROCESSORS_FAILED: 0,
        "node_processors_warning": 0,
    }


def test_a_margin_of_a_cray_is_its_limit_less_its_reading(shared_data: Path) -> None:
    folder = tree(shared_data, "cray-ex235n-a100")
    inlet = "Chassis/Enclosure/Thermal#Temperatures/2/"
    limit = said(recorded(folder), f"{inlet}UpperThresholdCritical")
    assert limit - said(recorded(folder), f"{inlet}ReadingCelsius") == 38
    last = rotated(folder, NODES["cray-ex235n-a100"]).last
    assert last.values[Place(spell.INLET_MARGIN)] == 38


def test_there_are_five_by_hand_for_each_vendor() -> None:
    vendors: dict[str, int] = {}
    for name, rows in BY_HAND.items():
        vendor = name.partition("-")[0]
        vendors[vendor] = vendors.get(vendor, 0) + len({row.channel for row in rows})
    assert {vendor for vendor, rows in vendors.items() if rows >= 5} >= {
        "dell",
        "dmtf",
        "hpe",
        "nvidia",
    }
