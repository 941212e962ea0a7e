"""When the tree is walked, and what stays in force when it changes or is slow."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from exporter.readings import Place, SourceFailed
from model.sources import redfish as spell
from tests.exporter.redfish.conftest import missing, values
from tests.exporter.redfish.fake_bmc import Fault
from tests.exporter.redfish.small_tree import (
    CHASSIS,
    ROOT,
    THERMAL,
    collection,
    link,
    small_tree,
    with_detectors,
    with_sensors,
)


def test_a_steady_cycle_asks_only_for_what_the_plan_needs(bench) -> None:
    one = bench(small_tree(), auth=True)
    one.read()
    sent = len(one.bmc.requests)
    assert one.read().requests == 3
    assert one.bmc.gets()[sent - len(one.bmc.requests) :] == [
        f"{CHASSIS}/Power",
        THERMAL,
        f"{ROOT}/Systems/1",
    ]


def test_the_tree_is_walked_once_an_hour_and_not_on_the_minute(bench) -> None:
    one = bench(small_tree())
    for _ in range(130):
        one.read()
    walks = [index for index, path in enumerate(one.bmc.gets()) if path == ROOT]
    assert len(walks) == 3


def test_a_slow_tree_is_walked_over_several_cycles(bench, hands) -> None:
    one = bench(small_tree(), deadline_seconds=10)
    one.bmc.on_request = lambda: hands.advance(4)
    strategies = []
    for _ in range(6):
        readings = one.read()
        strategies.append(readings.strategy)
        assert readings.requests <= 4
        if readings.strategy == "discovering":
            assert (readings.values, readings.missing) == ({}, {})
    assert strategies[0] == "discovering"
    assert strategies[-1] == "thermal_power"


def test_a_chassis_that_leaves_the_listing_keeps_its_sensors(bench) -> None:
    documents = small_tree()
    fans = f"{ROOT}/Chassis/fans"
    documents[fans] = {"@odata.id": fans, "Id": "fans", "Thermal": link(f"{fans}/Thermal")}
    fan = {"Name": "Fan 9", "Reading": 1200, "ReadingUnits": "RPM"}
    documents[f"{fans}/Thermal"] = {"Fans": [fan]}
    documents[f"{ROOT}/Chassis"] = collection(f"{ROOT}/Chassis", CHASSIS, fans)
    one = bench(documents)
    assert values(one.read())[spell.FAN] == 1200
    documents[f"{ROOT}/Chassis"] = collection(f"{ROOT}/Chassis", CHASSIS)
    one.hands.advance(4000)
    one.read()
    assert values(one.read())[spell.FAN] == 1200


def test_a_vanished_sensor_is_missing_and_not_replaced_by_another_kind_of_inlet(bench) -> None:
    documents = small_tree()
    temperatures = documents[THERMAL]["Temperatures"]
    temperatures.append({"Name": "Board Inlet", "ReadingCelsius": 37})
    one = bench(documents)
    one.read()
    temperatures[1] |= {"ReadingCelsius": None}
    one.hands.advance(4000)
    one.read()
    assert missing(one.read(), spell.INLET) == "unreadable"


def fans(count: int) -> dict[str, dict[str, object]]:
    return {f"Fan{i}": {"ReadingUnits": "RPM", "Reading": 9000 - i} for i in range(count)}


def test_what_is_not_needed_each_cycle_takes_turns_and_keeps_its_value_and_age(bench) -> None:
    one = bench(with_sensors(small_tree(), **fans(20)))
    one.read()
    ages = []
    for _ in range(40):
        readings = one.read()
        assert readings.requests == 2
        assert values(readings)[spell.FAN] == 8981
        ages.append(readings.ages[Place(spell.FAN)])
    assert max(ages) <= 20 * 60


def test_everything_has_its_turn_in_time_at_the_cost_of_more_requests(bench) -> None:
    one = bench(with_sensors(small_tree(), **fans(20)), slow_cycles=6)
    one.read()
    found = [one.read() for _ in range(12)]
    assert {readings.requests for readings in found} <= {4, 5}
    assert max(readings.ages[Place(spell.FAN)] for readings in found[6:]) <= 6 * 60


def test_a_turn_that_never_comes_makes_a_value_stale(bench) -> None:
    one = bench(with_sensors(small_tree(), **fans(20)), slow_cycles=5)
    one.read()
    for index in range(1, 20):
        one.bmc.faults[f"{CHASSIS}/Sensors/Fan{index}"] = Fault(500, b"{}")
    for _ in range(12):
        with suppress(SourceFailed):
            readings = one.read()
            assert values(readings).get(spell.FAN, 9000) in {8981, 9000}
    assert values(readings)[spell.FAN] == 9000


def test_a_small_collection_is_read_whole_each_cycle(bench) -> None:
    dry = {"DetectorState": "OK", "Status": {"State": "Enabled", "Health": "OK"}}
    one = bench(with_detectors(small_tree(), dry, dry, dry))
    one.read()
    assert one.read().requests == 3 + 3


def test_a_moment_of_trouble_in_the_first_walk_does_not_blind_an_hour(bench) -> None:
    one = bench(small_tree())
    one.bmc.faults[THERMAL] = Fault(500, b"{}x", times=1)
    assert spell.INLET not in values(one.read())
    for _ in range(4):
        readings = one.read()
    assert values(readings)[spell.INLET] == 23.5


def test_trouble_that_stays_is_looked_for_less_and_less(bench) -> None:
    one = bench(small_tree())
    one.bmc.faults[THERMAL] = Fault(500, b"{}x")
    for _ in range(6 * 60):
        one.read()
    walks = one.bmc.gets().count(ROOT)
    assert 8 <= walks <= 12, "2, 4, 8, 16, 32 minutes, and then once an hour"


def test_a_listing_without_end_is_walked_in_part(bench) -> None:
    documents = small_tree()
    names = [f"{ROOT}/Chassis/none-{index}" for index in range(1000)]
    documents[f"{ROOT}/Chassis"] = collection(f"{ROOT}/Chassis", CHASSIS, *names)
    one = bench(documents)
    assert values(one.read())[spell.INLET] == 23.5
    assert len(one.bmc.requests) < 300


def test_facility_equipment_is_asked_once_per_discovery(bench) -> None:
    documents = small_tree()
    documents[ROOT] = {"@odata.id": ROOT, "Chassis": link(f"{ROOT}/Chassis"), "PowerEquipment": {}}
    one = bench(documents)
    for _ in range(5):
        with pytest.raises(SourceFailed) as failure:
            one.read()
    assert "set the url to the BMC of the node itself" in failure.value.detail
    assert len(one.bmc.requests) == 2


def test_the_second_page_of_a_recorded_listing_is_walked(shared_data: Path, bench) -> None:
    from tests.exporter.redfish.fake_bmc import recorded

    folder = shared_data / "redfish" / "nvidia-dgx-h100-ami"
    one = bench(recorded(folder), expand="ami")
    one.read()
    assert f"{ROOT}/Chassis/DGX/Sensors?$skip=225" in one.bmc.gets()
