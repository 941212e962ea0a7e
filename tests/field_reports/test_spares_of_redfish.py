"""Shorter reports of the same area, each with its trap."""

from __future__ import annotations

import pytest

from exporter.readings import Reason, SourceFailed
from model.sources import redfish as spell
from tests.exporter.redfish.conftest import values
from tests.exporter.redfish.small_tree import OK, THERMAL, small_tree, with_detectors

WET = {"DetectorState": "Critical", "Status": {"State": "Enabled", "Health": "Critical"}}


def test_an_aggregate_detector_beside_the_single_ones_is_not_a_second_leak(bench) -> None:
    readings = bench(with_detectors(small_tree(), WET, {"Id": "leakage_aggr", **WET})).read()
    assert values(readings)[spell.LEAK] == 1
    assert values(readings)[spell.LEAK_FAULTS] == 0


def test_older_names_of_fan_reading_and_unit_are_read(bench) -> None:
    documents = small_tree()
    documents[THERMAL]["Fans"] = [
        {"FanName": "Fan 1", "CurrentReading": 31, "Units": "Percent", "Status": OK}
    ]
    assert values(bench(documents).read())[spell.FAN_RATIO] == 0.31


@pytest.mark.parametrize("strange", [7, 0.08, "", None, [], {}])
def test_a_property_of_another_type_costs_nothing_that_is_not_its_own(bench, strange) -> None:
    documents = small_tree()
    for member in documents[THERMAL]["Temperatures"]:
        member |= {"MemberId": strange, "MaxReadingRangeTemp": strange, "SensorNumber": strange}
    assert values(bench(documents).read())[spell.INLET] == 23.5


def test_a_serial_number_that_nobody_knows_is_no_reason_to_refuse_a_bmc(bench) -> None:
    documents = small_tree()
    documents["/redfish/v1/Chassis/1"]["SerialNumber"] = "another"
    assert bench(documents).read().values


def test_a_certificate_that_changed_fails_by_name_and_is_not_followed(plant) -> None:
    from exporter.facility.equipment import EquipmentSource
    from exporter.facility.settings import Target
    from tests.exporter.facility.small_cdu import small_cdu

    one = plant(small_cdu())
    pinned = Target(
        equipment="cdu-1",
        url=one.bmc.url.replace("http://", "https://"),
        fingerprint="ab" * 32,
    )
    source = EquipmentSource(pinned, clock=_clock(one.hands))
    with pytest.raises(SourceFailed) as failure:
        source.read(one.hands.now)
    assert failure.value.reason in {Reason.TLS, Reason.UNREACHABLE}
    assert one.bmc.requests == []


def _clock(hands):
    from daemon.clocks import Clock

    return Clock(wall=hands, monotonic=hands)
