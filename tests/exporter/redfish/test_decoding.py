"""Fields that are not what they should be: each its own kind of missing, none of them zero."""

from __future__ import annotations

import math
from typing import Any

import pytest

from exporter.readings import Missing, Reason
from exporter.redfish.resources import Kind, decode
from exporter.redfish.samples import Sample, number, status_of
from model.sources import redfish as spell
from tests.exporter.redfish.conftest import missing, values
from tests.exporter.redfish.small_tree import (
    OK,
    POWER,
    THERMAL,
    small_tree,
    with_detectors,
    with_sensors,
)

URI = "/redfish/v1/x"
STAMP = "2021-10-03T06:42:42+00:00"


def samples(kind: Kind, document: dict[str, Any]) -> list[Sample]:
    return decode(kind, URI, document, stale_after=180)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (None, Missing.UNREADABLE),
        (True, Missing.UNREADABLE),
        ("", Missing.UNREADABLE),
        ("warm", Missing.UNREADABLE),
        ({}, Missing.UNREADABLE),
        ([], Missing.UNREADABLE),
        ("N/A", Missing.SENTINEL),
        (" na ", Missing.SENTINEL),
        ("nan", Missing.NOT_FINITE),
        ("1e999", Missing.NOT_FINITE),
        (math.inf, Missing.NOT_FINITE),
        (10**400, Missing.NOT_FINITE),
    ],
)
def test_what_is_no_number_is_a_named_kind_of_missing(raw: Any, kind: Missing) -> None:
    assert number(raw) is kind


@pytest.mark.parametrize(
    ("raw", "value"), [(0, 0.0), (-4, -4.0), ("52.000000", 52.0), (" 7 ", 7.0)]
)
def test_numbers_may_be_text(raw: Any, value: float) -> None:
    assert number(raw) == value


def test_swapped_and_empty_statuses_are_unknown_and_readings_stay() -> None:
    for status in ({"Health": "Enabled", "State": "OK"}, {"Health": "", "State": ""}, None):
        read = status_of({"Status": status})
        assert (read.state, read.health, read.missing) == ("", "", None)
    assert status_of({"Status": {"Health": "Enabled", "State": "OK"}}).strange


def test_power_supplies_with_strange_statuses_are_neither_failed_nor_dropped(bench) -> None:
    documents = small_tree()
    documents[POWER]["PowerSupplies"] = [
        {"MemberId": "0", "Status": {"Health": "Enabled", "State": "OK"}},
        {"MemberId": "1", "Status": {"Health": "", "State": ""}},
        {"MemberId": "2", "Status": None},
        {"MemberId": "3", "Status": {"Health": "Critical", "State": "UnavailableOffline"}},
    ]
    one = bench(documents)
    readings = one.read()
    assert values(readings)[spell.SUPPLIES_FAILED] == 1
    assert readings.errors == {Reason.UNKNOWN_STATUS: 2}
    assert one.read().errors == {}


def test_supplies_of_which_none_has_a_health_are_unknown_and_not_zero(bench) -> None:
    documents = small_tree()
    documents[POWER]["PowerSupplies"] = [{"Status": {"State": "Enabled"}}]
    assert missing(bench(documents).read(), spell.SUPPLIES_FAILED) == "unreadable"


def test_empty_supply_bays_do_not_count(bench) -> None:
    documents = small_tree()
    absent = {"Status": {"State": "Absent", "Health": "Critical"}}
    documents[POWER]["PowerSupplies"] = [{"Status": OK}, absent]
    assert values(bench(documents).read())[spell.SUPPLIES_FAILED] == 0


def test_a_cold_inlet_is_a_reading_and_a_margin_is_no_temperature() -> None:
    found = samples(
        Kind.THERMAL,
        {
            "Temperatures": [
                {
                    "Name": "CPU1 DTS", "ReadingCelsius": -47,
                    "MinReadingRangeTemp": -51, "MaxReadingRangeTemp": 0,
                },
                {"Name": "Inlet", "ReadingCelsius": -4, "Status": OK},
            ]
        },
    )  # fmt: skip
    assert [(sample.names, sample.quantity, sample.value) for sample in found] == [
        (("CPU1 DTS",), spell.Quantity.MARGIN, 47.0),
        (("Inlet",), spell.Quantity.TEMPERATURE, -4.0),
    ]


def test_fans_in_percent_are_not_fans_in_rpm(bench) -> None:
    documents = small_tree()
    for fan in documents[THERMAL]["Fans"]:
        fan |= {"Reading": 23, "ReadingUnits": "Percent"}
    assert missing(bench(documents).read(), spell.FAN) == "absent_family"


def test_an_empty_fan_bay_is_not_a_stopped_fan_but_a_fan_that_stops_is(bench) -> None:
    documents = small_tree()
    fans = documents[THERMAL]["Fans"]
    fans.append({"Name": "Fan 3", "Reading": 0, "ReadingUnits": "RPM", "Status": OK})
    one = bench(documents)
    assert values(one.read())[spell.FAN] == 4800
    fans[0]["Reading"] = 0
    assert values(one.read())[spell.FAN] == 0


def test_a_fan_that_was_dead_before_the_start_is_known_by_its_health(bench) -> None:
    documents = small_tree()
    documents[THERMAL]["Fans"][1] |= {"Reading": 0, "Status": {**OK, "Health": "Critical"}}
    assert values(bench(documents).read())[spell.FAN] == 0


def test_an_impossible_value_is_missing_and_not_clipped(bench) -> None:
    documents = small_tree()
    documents[THERMAL]["Temperatures"][1]["ReadingCelsius"] = 33733
    readings = bench(documents).read()
    assert missing(readings, spell.INLET) == "out_of_range"
    assert readings.errors == {Reason.OUT_OF_RANGE: 1}


@pytest.mark.parametrize(
    ("sensor", "channel", "value"),
    [
        ({"Reading": 77.0, "ReadingUnits": "[degF]"}, spell.INLET, 25.0),
        ({"Reading": "24.5", "ReadingUnits": "C"}, spell.INLET, 24.5),
        ({"Reading": 24.5, "ReadingType": "Temperature"}, spell.INLET, 24.5),
    ],
)
def test_units_are_brought_to_the_channels(bench, sensor, channel: str, value: float) -> None:
    readings = bench(with_sensors(small_tree(), SystemInletTemp=sensor)).read()
    assert values(readings)[channel] == pytest.approx(value)


def test_liquids_are_known_by_their_context_and_units(bench) -> None:
    tree = with_sensors(
        small_tree(),
        CoolantA={"Reading": 31, "ReadingUnits": "Cel", "PhysicalContext": "LiquidInlet"},
        CoolantB={"Reading": 39.5, "ReadingUnits": "Cel", "PhysicalContext": "LiquidOutlet"},
        CoolantFlow={"Reading": 0.2, "ReadingUnits": "L/s"},
        CoolantPressure={"Reading": 30, "ReadingUnits": "PSI"},
        CoolantSupplyTemp={"Reading": 0, "ReadingUnits": "Cel", "ReadingBasis": "Headroom"},
    )
    assert values(bench(tree).read()) == pytest.approx(
        {spell.SUPPLY: 31, spell.RETURN: 39.5, spell.FLOW: 12}
    )


ENABLED = {"State": "Enabled", "Health": "OK"}
CRITICAL = {"State": "Enabled", "Health": "Critical"}


@pytest.mark.parametrize(
    ("detectors", "value"),
    [
        ([("OK", ENABLED), ("OK", ENABLED)], 0.0),
        ([("OK", ENABLED), ("Critical", CRITICAL)], 1.0),
        ([("Warning", ENABLED), ("Unavailable", ENABLED)], 1.0),
        ([("LeakDetected", CRITICAL)], 1.0),
        (
            [("OK", ENABLED), ("Critical", {"State": "Degraded", "Health": "Critical"})],
            "unreadable",
        ),
        ([("OK", ENABLED), ("Unavailable", ENABLED)], "unreadable"),
        ([("OK", ENABLED), ("Damp", ENABLED)], "unreadable"),
        ([("OK", ENABLED), ("OK", None)], "unreadable"),
        ([("OK", ENABLED), ("Absent", ENABLED)], 0.0),
        ([("OK", {"State": "Absent"})], "sensor_absent"),
    ],
)
def test_a_leak_needs_an_enabled_detector_and_a_faulty_one_is_not_dry(
    bench, detectors, value: float | str
) -> None:
    bodies = [
        {"DetectorState": state, "Status": status, "ReactionDelaySeconds": 0.0}
        for state, status in detectors
    ]
    readings = bench(with_detectors(small_tree(), *bodies)).read()
    if isinstance(value, str):
        assert missing(readings, spell.LEAK) == value
    else:
        assert values(readings)[spell.LEAK] == value


def report(*members: tuple[str, str, str]) -> dict[str, Any]:
    sensor = "/redfish/v1/Chassis/c/Sensors/Ambient_0_Temp/Reading"
    return {
        "MetricValues": [
            {"MetricId": name, "MetricProperty": sensor, "MetricValue": value, "Timestamp": stamp}
            for name, value, stamp in members
        ]
    }


def test_of_maximum_average_and_minimum_the_average_is_the_reading() -> None:
    three = [
        ("MaxAmbient0_10s", "41.5"),
        ("AveAmbient0_10s", "24.125"),
        ("MinAmbient0_10s", "22.8"),
    ]
    for order in (three, three[::-1], [three[1], three[0], three[2]]):
        (sample,) = samples(Kind.REPORT, report(*((n, v, STAMP) for n, v in order)))
        assert (sample.key, sample.value) == (
            "/redfish/v1/Chassis/c/Sensors/Ambient_0_Temp",
            24.125,
        )


def test_several_values_without_names_are_ambiguous() -> None:
    (sample,) = samples(Kind.REPORT, report(("", "41.5", STAMP), ("", "24.1", STAMP)))
    assert (sample.value, sample.missing) == (None, Missing.AMBIGUOUS)


def test_a_report_from_a_clock_five_years_slow_is_not_stale_but_a_laggard_in_it_is() -> None:
    document = report(("", "24.1", STAMP))
    document["MetricValues"].append(
        {
            "MetricProperty": "/redfish/v1/Chassis/c/Sensors/SSD_Temp",
            "MetricValue": "31",
            "Timestamp": "2021-07-03T06:42:42-0600",
        }
    )
    assert [s.missing for s in samples(Kind.REPORT, document)] == [None, Missing.STALE]


def test_metrics_without_a_status_do_not_make_a_zero_a_temperature() -> None:
    document = {"TemperatureReadingsCelsius": [{"DeviceName": "05-P1 PMM 1-6", "Reading": 0}]}
    (sample,) = samples(Kind.THERMAL_METRICS, document)
    assert (sample.value, sample.missing) == (None, Missing.ZERO_MEANS_NONE)
