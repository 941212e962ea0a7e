"""R08: a status whose words are swapped, empty or missing is unknown, neither well nor failed."""

from __future__ import annotations

import pytest

from exporter.readings import Reason
from model.sources import redfish as spell
from tests.exporter.facility.small_cdu import PUMPS, small_cdu
from tests.exporter.redfish.conftest import values
from tests.exporter.redfish.small_tree import OK, POWER, small_tree

SUPPLIES = [
    {"MemberId": "0", "Name": "PSU1", "PowerOutputWatts": 612,
     "Status": {"Health": "Enabled", "State": "OK"}},
    {"MemberId": "1", "Name": "PSU2", "PowerOutputWatts": 598,
     "Status": {"Health": "", "State": ""}},
    {"MemberId": "2", "Name": "PSU3", "PowerOutputWatts": 605, "Status": None},
    {"MemberId": "3", "Name": "PSU4", "PowerOutputWatts": 0,
     "Status": {"Health": "Critical", "State": "UnavailableOffline"}},
]  # fmt: skip
STRANGE = [{"Health": "Enabled", "State": "OK"}, {"Health": "", "State": ""}, None, "OK", 7, []]


def test_readings_stay_and_only_the_unplugged_supply_is_lost(bench) -> None:
    documents = small_tree()
    documents[POWER]["PowerSupplies"] = SUPPLIES
    one = bench(documents)
    seen = [one.read() for _ in range(5)]
    assert {values(readings)[spell.SUPPLIES_FAILED] for readings in seen} == {1}
    assert {values(readings)[spell.WITHOUT_INPUT] for readings in seen} == {1}
    assert {values(readings)[spell.OUT_WATTS] for readings in seen} == {612 + 598 + 605}
    assert [readings.errors.get(Reason.UNKNOWN_STATUS, 0) for readings in seen] == [2, 0, 0, 0, 0]


@pytest.mark.parametrize("status", STRANGE)
def test_a_strange_status_is_neither_well_nor_critical(bench, status) -> None:
    documents = small_tree()
    documents[POWER]["PowerSupplies"] = [
        {"Name": "a", "Status": status},
        {"Name": "b", "Status": OK},
    ]
    assert values(bench(documents).read())[spell.SUPPLIES_FAILED] == 0
    documents[POWER]["PowerSupplies"] = [{"Name": "a", "Status": status}]
    assert spell.SUPPLIES_FAILED not in values(bench(documents).read())


@pytest.mark.parametrize("status", STRANGE)
def test_the_same_holds_for_the_pumps_of_the_facility(plant, status) -> None:
    tree = small_cdu()
    tree[PUMPS[0]]["Status"] = status
    unit = plant(tree).unit()
    assert unit.values["pumps_failed"] == 0
    assert unit.values["pump_speed_ratio"] == 0.55
