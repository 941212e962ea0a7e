"""R12: maximum, average and minimum under one property are one reading, the average.

Equipment of the facility is read by its own documents alone, so that such a
report beside them is nothing that could be read twice.
"""

from __future__ import annotations

from itertools import permutations

import pytest

from model.sources import redfish as spell
from tests.exporter.facility.small_cdu import SECONDARY, small_cdu
from tests.exporter.redfish.conftest import missing, values
from tests.exporter.redfish.small_tree import CHASSIS, ROOT, THERMAL, collection, link, small_tree

SENSOR = f"{CHASSIS}/Sensors/Ambient_0_Temp"
STAMP = "2021-10-03T06:42:42+00:00"
THREE = (
    ("MaxAmbient0_10s", "41.500000"),
    ("AveAmbient0_10s", "24.125000"),
    ("MinAmbient0_10s", "22.875000"),
)


def with_report(members):
    tree = small_tree()
    tree[THERMAL]["Temperatures"] = []
    return reported(tree, f"{SENSOR}/Reading", members)


def reported(tree, measured, members):
    service, reports = f"{ROOT}/TelemetryService", f"{ROOT}/TelemetryService/MetricReports"
    report = f"{reports}/PlatformEnvironmentMetrics"
    tree[ROOT]["TelemetryService"] = link(service)
    tree[service] = {"@odata.id": service, "MetricReports": link(reports)}
    tree[reports] = collection(reports, report)
    tree[report] = {
        "@odata.id": report,
        "MetricValues": [
            {"MetricId": name, "MetricProperty": measured, "MetricValue": value,
             "Timestamp": STAMP}
            for name, value in members
        ],
    }  # fmt: skip
    return tree


@pytest.mark.parametrize(
    "order", list(permutations(THREE)), ids=lambda o: "-".join(n[:3] for n, _ in o)
)
def test_the_average_is_the_reading_whatever_the_order(bench, order) -> None:
    one = bench(with_report(order))
    for _ in range(5):
        readings = one.read()
        assert values(readings)[spell.INLET] == 24.125


def test_a_clock_five_years_slow_makes_nothing_stale_for_ever(bench) -> None:
    one = bench(with_report(THREE), stale_after_seconds=30.0)
    for _ in range(100):
        readings = one.read()
    assert values(readings)[spell.INLET] == 24.125


def test_without_names_nobody_can_tell(bench) -> None:
    one = bench(with_report([("", value) for _, value in THREE]))
    for _ in range(3):
        readings = one.read()
        assert missing(readings, spell.INLET) == "ambiguous"


@pytest.mark.parametrize("order", [THREE, THREE[::-1], [("", value) for _, value in THREE]])
def test_equipment_is_read_by_its_own_documents_beside_such_a_report(plant, order) -> None:
    alone = plant(small_cdu()).read()
    measured = f"{SECONDARY}/SupplyTemperatureCelsius/Reading"
    one = plant(reported(small_cdu(), measured, order))
    beside = one.read()
    assert [unit.values for unit in beside.units] == [unit.values for unit in alone.units]
    assert beside.errors == {}
    assert not [path for path in one.bmc.gets() if "TelemetryService" in path]
