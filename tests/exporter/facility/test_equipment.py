"""How equipment is asked: what moves each cycle, parts in turn, and one session for life."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.readings import Reason, SourceFailed
from tests.exporter.facility.small_cdu import CDU, DETECTOR, PUMPS, SECONDARY, small_cdu
from tests.exporter.redfish.fake_bmc import PASSWORD, USER, Fault
from tests.exporter.redfish.small_tree import OK, collection, link

CRITICAL = {"State": "Enabled", "Health": "Critical"}


@pytest.fixture
def secrets(tmp_path: Path) -> dict[str, str]:
    user, password = tmp_path / "username", tmp_path / "password"
    user.write_text(USER, encoding="utf-8")
    password.write_text(PASSWORD, encoding="utf-8")
    return {"username_file": str(user), "password_file": str(password)}


def test_the_worst_part_speaks_for_the_equipment(plant) -> None:
    tree = small_cdu()
    tree[PUMPS[0]]["Status"] = CRITICAL
    values = plant(tree).unit().values
    assert values["pump_speed_ratio"] == 0.55
    assert values["pump_speed_rpm"] == 2750
    assert values["pumps_failed"] == 1


def test_a_leak_needs_an_enabled_detector_and_a_faulty_one_is_not_dry(plant) -> None:
    tree = small_cdu()
    tree[DETECTOR] |= {"DetectorState": "Critical", "Status": CRITICAL}
    assert plant(tree).unit().values["leak_detected"] == 1
    tree[DETECTOR]["Status"] = {"State": "Degraded", "Health": "Critical"}
    unit = plant(tree).unit()
    assert "leak_detected" not in unit.values
    assert unit.values["leak_detectors_unreadable"] == 1


def test_a_detector_that_stops_answering_is_unknown_and_counted(plant) -> None:
    one = plant(small_cdu())
    assert one.unit().values["leak_detected"] == 0
    one.bmc.faults[DETECTOR] = Fault(500, b"{}")
    readings = one.read()
    (unit,) = readings.units
    assert "leak_detected" not in unit.values
    assert unit.values["leak_detectors_unreadable"] == 1
    assert readings.errors == {Reason.HTTP_500: 1}


def test_one_wet_detector_beside_its_aggregate_is_one_leak(plant) -> None:
    tree = small_cdu()
    listing = f"{CDU}/LeakDetection/LeakDetectors"
    tree[listing] = collection(listing, DETECTOR, f"{listing}/aggregate")
    for uri in (DETECTOR, f"{listing}/aggregate"):
        tree[uri] = {"@odata.id": uri, "DetectorState": "Warning", "Status": OK}
    assert plant(tree).unit().values["leak_detected"] == 1


def test_a_moment_of_trouble_in_the_first_walk_does_not_hide_a_detector_for_an_hour(plant) -> None:
    one = plant(small_cdu())
    one.bmc.faults[DETECTOR.rpartition("/")[0]] = Fault(500, b"{}x", times=1)
    assert "leak_detected" not in one.unit().values
    for _ in range(4):
        unit = one.unit()
    assert unit.values["leak_detected"] == 0


def test_parts_take_turns_and_what_moves_does_not(plant) -> None:
    one = plant(small_cdu(), requests_per_cycle=3, slow_cycles=20)
    one.read()
    seen = [one.read() for _ in range(4)]
    assert {readings.requests for readings in seen} == {4}
    assert all(r.units[0].values["pump_speed_ratio"] == 0.55 for r in seen)
    assert max(readings.oldest_seconds for readings in seen) == 60


def test_a_loop_that_is_not_read_is_missing_in_that_cycle(plant) -> None:
    one = plant(small_cdu())
    one.read()
    one.bmc.faults[SECONDARY] = Fault(500, b"{}")
    unit = one.unit()
    assert unit.missing["coolant_flow_liters_per_minute"] == "unreadable"
    assert unit.values["water_flow_liters_per_minute"] == 60
    one.bmc.faults.clear()
    assert one.unit().values["coolant_flow_liters_per_minute"] == 120


def test_one_session_for_life_and_none_left_behind(plant, secrets) -> None:
    one = plant(small_cdu(), **secrets)
    for _ in range(5):
        one.read()
    one.source.close()
    assert (one.bmc.opened, one.bmc.deleted, one.bmc.sessions) == (1, 1, {})


def test_a_wrong_password_is_tried_twice_and_then_not_for_a_while(plant, secrets) -> None:
    one = plant(small_cdu(), **secrets)
    one.bmc.password = "another"
    for _ in range(6):
        with pytest.raises(SourceFailed):
            one.read()
    assert sum(method == "POST" for method, _ in one.bmc.requests) == 2


def test_equipment_of_which_nothing_answers_any_more_is_down(plant) -> None:
    one = plant(small_cdu())
    one.read()
    for uri in one.bmc.documents:
        one.bmc.faults[uri] = Fault(500, b"{}")
    with pytest.raises(SourceFailed) as failure:
        one.read()
    assert failure.value.reason is Reason.HTTP_500


def test_a_slow_controller_is_walked_over_several_cycles(plant, hands) -> None:
    one = plant(small_cdu(), deadline_seconds=20)
    one.bmc.on_request = lambda: hands.advance(4)
    strategies = [one.read().strategy for _ in range(6)]
    assert strategies[0] == "discovering"
    assert strategies[-1] == "walked"


def test_supplies_at_rest_are_not_failed(plant) -> None:
    tree = small_cdu()
    chassis, subsystem = "/redfish/v1/Chassis/1", "/redfish/v1/Chassis/1/PowerSubsystem"
    tree[CDU]["Links"] = {"Chassis": [link(chassis)]}
    tree[chassis] = {"@odata.id": chassis, "Id": "1", "PowerSubsystem": link(subsystem)}
    supplies = f"{subsystem}/PowerSupplies"
    tree[subsystem] = {"@odata.id": subsystem, "PowerSupplies": link(supplies)}
    states = ("Enabled", "Standby", "Sleep", "StandbySpare")
    tree[supplies] = collection(supplies, *(f"{supplies}/{state}" for state in states))
    for state in states:
        uri = f"{supplies}/{state}"
        status = {"State": state, "Health": "OK"}
        tree[uri] = {
            "@odata.id": uri,
            "Name": state,
            "Status": status,
            "PowerCapacityWatts": "5500",
        }
    values = plant(tree).unit().values
    assert values["power_supplies_failed"] == 0
    assert values["power_supplies_standby"] == 3


def test_a_second_piece_that_appears_renames_the_first_and_doubles_nothing(plant) -> None:
    one = plant(small_cdu())
    assert [unit.unit.suffix for unit in one.read().units] == [""]
    second = f"{CDU[:-1]}2"
    one.bmc.documents[second] = {**one.bmc.documents[CDU], "@odata.id": second, "Pumps": {}}
    listing = one.bmc.documents[CDU.rpartition("/")[0]]
    listing["Members"] = [link(CDU), link(second)]
    one.hands.advance(4000)
    one.read()
    assert sorted(unit.unit.suffix for unit in one.read().units) == ["cdu-1", "cdu-2"]


def test_a_part_that_leaves_its_listing_is_missing_and_comes_back(plant) -> None:
    one = plant(small_cdu(), discovery_interval_seconds=120.0)
    one.read()
    listing = one.bmc.documents[f"{CDU}/SecondaryCoolantConnectors"]
    members, listing["Members"] = listing["Members"], []
    document = one.bmc.documents.pop(SECONDARY)
    for _ in range(4):
        unit = one.unit()
    assert unit.missing["coolant_flow_liters_per_minute"] == "unreadable"
    listing["Members"], one.bmc.documents[SECONDARY] = members, document
    assert one.unit().values["coolant_flow_liters_per_minute"] == 120


def test_a_coolant_that_is_not_said_once_does_not_make_two_pieces_of_one(plant) -> None:
    one = plant(small_cdu(), discovery_interval_seconds=120.0)
    one.read()
    coolant = one.bmc.documents[CDU].pop("Coolant")
    for _ in range(4):
        assert len(one.read().units) == 1
    one.bmc.documents[CDU]["Coolant"] = coolant
    for _ in range(4):
        assert len(one.read().units) == 1
