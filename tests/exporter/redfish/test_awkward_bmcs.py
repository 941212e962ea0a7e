"""What a BMC may do, and what it must not be able to do to us."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from exporter.readings import Missing, Place, Reason, SourceFailed
from model.sources import redfish as spell
from tests.exporter.redfish.conftest import missing, values
from tests.exporter.redfish.fake_bmc import FakeBmc, Fault
from tests.exporter.redfish.small_tree import (
    CHASSIS,
    OK,
    ROOT,
    SYSTEM,
    THERMAL,
    expandable,
    link,
    small_tree,
    with_sensors,
)

GENERAL_ERROR = json.dumps({"error": {"code": "Base.1.12.GeneralError"}}).encode()


def failure_of(one) -> SourceFailed:
    with pytest.raises(SourceFailed) as failure:
        one.read()
    return failure.value


def test_a_dead_bmc_is_unreachable(bench) -> None:
    one = bench(small_tree())
    one.bmc._server.server_close()
    assert failure_of(one).reason is Reason.UNREACHABLE


def test_retry_after_is_honoured_without_a_request(bench) -> None:
    one = bench(small_tree())
    one.read()
    one.bmc.faults[SYSTEM] = Fault(503, b"{}", {"Retry-After": "150"}, times=1)
    assert failure_of(one).reason is Reason.HTTP_503
    sent = len(one.bmc.requests)
    assert failure_of(one).reason is Reason.HTTP_503
    assert len(one.bmc.requests) == sent
    one.hands.advance(100)
    assert one.read().values


def test_retry_after_is_capped(bench) -> None:
    one = bench(small_tree())
    one.read()
    one.bmc.faults[SYSTEM] = Fault(429, b"{}", {"Retry-After": "86400"}, times=1)
    failure_of(one)
    one.hands.advance(300)
    assert one.read().values


def test_a_bmc_that_is_not_ready_yet_is_left_alone_though_it_says_400(bench) -> None:
    one = bench(small_tree())
    one.bmc.faults[ROOT] = Fault(400, b'{"error": {"code": "SWC0700"}}', times=1)
    assert failure_of(one).reason is Reason.HTTP_503
    assert one.read().values


def test_a_redirect_to_another_host_is_not_followed_and_gets_no_token(bench) -> None:
    other = FakeBmc(small_tree())
    try:
        one = bench(small_tree(), auth=True)
        one.read()
        one.bmc.faults[THERMAL] = Fault(302, b"", {"Location": other.url + THERMAL})
        readings = one.read()
        assert readings.errors[Reason.REDIRECTED] == 1
        assert missing(readings, spell.INLET) == "unreadable"
        assert values(readings)[spell.POWER] == 614
        assert other.requests == []
    finally:
        other.close()


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("//elsewhere.example/x", Reason.REDIRECTED),
        ("https://elsewhere.example/x", Reason.REDIRECTED),
        ("http://[", Reason.BAD_CONTENT),
    ],
)
def test_a_link_that_leaves_the_bmc_is_not_followed(bench, uri: str, reason: Reason) -> None:
    documents = small_tree()
    documents[CHASSIS]["Thermal"] = link(uri)
    readings = bench(documents).read()
    assert readings.errors == {reason: 1}
    assert missing(readings, spell.INLET) == "absent_family"


def test_a_body_that_ends_early_costs_its_own_channels_only(bench) -> None:
    one = bench(small_tree())
    one.read()
    one.bmc.faults[THERMAL] = Fault(truncate=40)
    readings = one.read()
    assert missing(readings, spell.INLET) == "unreadable"
    assert values(readings)[spell.POWER] == 614
    assert sum(readings.errors.values()) == 1


def test_a_body_beyond_the_cap_is_not_read_to_its_end(bench) -> None:
    one = bench(small_tree(), body_limit_bytes=10_000)
    one.bmc.faults[THERMAL] = Fault(200, b"[" * 1_000_000)
    readings = one.read()
    assert readings.errors[Reason.TOO_LARGE] == 1
    assert missing(readings, spell.INLET) == "absent_family"


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"[]", b"<html>log in</html>", b"{", b"[" * 50_000, b"\xff\xfe", GENERAL_ERROR],
)
def test_a_body_that_is_no_resource_is_one_counted_error(bench, body: bytes) -> None:
    one = bench(small_tree())
    one.read()
    one.bmc.faults[THERMAL] = Fault(200, body)
    assert one.read().errors == {Reason.BAD_CONTENT: 1}


def test_control_characters_nan_and_a_byte_order_mark_are_no_obstacle(bench) -> None:
    one = bench(small_tree())
    one.read()
    text = json.dumps(one.bmc.documents[THERMAL]).replace("CPU1 Temp", "CPU1\rTemp")
    one.bmc.faults[THERMAL] = Fault(200, b"\xef\xbb\xbf" + text.replace("51", "NaN").encode())
    assert values(one.read())[spell.INLET] == 23.5


def test_an_answer_that_does_not_come_is_a_time_out_of_that_resource(bench) -> None:
    one = bench(small_tree(), read_timeout_seconds=0.2)
    one.read()
    one.bmc.faults[THERMAL] = Fault(delay_seconds=0.6)
    readings = one.read()
    assert readings.errors == {Reason.TIMEOUT: 1}
    assert values(readings)[spell.POWER] == 614


def test_an_ill_resource_is_walked_around_once_and_for_good(bench) -> None:
    """Thermal fails every third time; sensors carry the same and are well."""
    documents = small_tree()
    thermal, power = documents[CHASSIS]["Thermal"], documents[CHASSIS]["Power"]
    celsius = {"Reading": 23.5, "ReadingUnits": "Cel"}
    rpm = {"Reading": 4800, "ReadingUnits": "RPM"}
    documents = expandable(with_sensors(documents, SystemInletTemp=celsius, Fan1=rpm))
    documents[CHASSIS] |= {"Thermal": thermal, "Power": power}
    one = bench(documents)
    one.read()
    one.bmc.faults[THERMAL] = Fault(500, GENERAL_ERROR, every=3)
    strategies = [one.read().strategy for _ in range(20)]
    changes = sum(a != b for a, b in pairwise(strategies))
    assert changes == 1
    assert strategies[-1] == "thermal_power+sensors_expanded"
    found = values(one.read())
    assert (found[spell.INLET], found[spell.FAN], found[spell.POWER]) == (23.5, 4800, 614)


def test_an_ill_resource_without_an_alternative_is_not_walked_around_again_and_again(bench) -> None:
    one = bench(small_tree())
    one.read()
    one.bmc.faults[THERMAL] = Fault(500, b"{}")
    requests = [one.read().requests for _ in range(10)]
    assert requests[4:] == [3] * 6
    assert missing(one.read(), spell.INLET) == "unreadable"


def test_null_members_are_an_empty_collection(bench) -> None:
    documents = small_tree()
    documents[f"{ROOT}/Systems"]["Members"] = None
    readings = bench(documents).read()
    assert values(readings)[spell.POWER] == 614


def test_a_listing_whose_next_page_is_itself_ends(bench) -> None:
    documents = small_tree()
    listing = documents[f"{ROOT}/Chassis"]
    listing["Members@odata.nextLink"] = f"{ROOT}/Chassis?$skip=1"
    documents[f"{ROOT}/Chassis?$skip=1"] = listing
    one = bench(documents)
    assert one.read().values
    assert one.bmc.gets().count(f"{ROOT}/Chassis?$skip=1") == 1


def test_expand_that_drops_what_matters_is_not_believed(bench) -> None:
    watts = {"Reading": 614, "ReadingType": "Power", "ReadingUnits": "W"}
    documents = expandable(with_sensors(small_tree(), SystemPower=watts, SystemPower2={**watts}))
    assert bench(documents, expand="ami").read().strategy == "sensors_single"
    assert bench(documents, expand="none").read().strategy == "sensors_single"
    assert bench(documents).read().strategy == "sensors_expanded"


def test_a_host_that_is_off_says_nothing_through_sensors_that_talk_on(bench) -> None:
    one = bench(small_tree())
    one.read()
    one.bmc.documents[SYSTEM]["PowerState"] = "Off"
    readings = one.read()
    off = {p.channel for p, kind in readings.missing.items() if kind is Missing.HOST_OFF}
    assert off == {spell.INLET, spell.POWER, spell.FAN, spell.FANS_FAILED, spell.CPU}
    assert values(readings) == {spell.SUPPLIES_FAILED: 0}
    one.bmc.documents[SYSTEM]["PowerState"] = "On"
    assert values(one.read())[spell.POWER] == 614


def test_a_tree_without_a_sensor_of_the_node_says_so(bench) -> None:
    documents = small_tree()
    documents[CHASSIS] = {"@odata.id": CHASSIS, "Id": "1", "Status": OK}
    assert failure_of(bench(documents)).reason is Reason.NO_RESOURCE


def test_a_chassis_that_is_not_there_is_named_with_those_that_are(bench) -> None:
    failure = failure_of(bench(small_tree(), chassis="Node7"))
    assert failure.reason is Reason.NO_RESOURCE
    assert "'Node7'; expected one of 1" in failure.detail


def test_places_are_only_channels_of_the_node(bench) -> None:
    readings = bench(small_tree()).read()
    assert {*readings.values, *readings.missing} == {Place(channel) for channel in spell.CHANNELS}


def test_a_bmc_that_was_restarted_costs_the_cycles_that_it_is_away_and_no_more(bench) -> None:
    """Its kept connection is dead, it answers 503 for a moment, and its sessions are gone."""
    one = bench(small_tree(), auth=True)
    one.read()
    one.bmc.hang_up()
    one.bmc.sessions.clear()
    one.bmc.faults[THERMAL] = Fault(503, b"{}", {"Retry-After": "30"}, times=1)
    with pytest.raises(SourceFailed) as failure:
        one.read()
    assert failure.value.reason in {Reason.HTTP_503, Reason.UNREACHABLE}
    answered = [one.read() for _ in range(2)]
    assert all(values(readings)[spell.INLET] == 23.5 for readings in answered)
    assert len(one.bmc.sessions) == 1
