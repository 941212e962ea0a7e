"""R12: maximum, average and minimum under one property are one reading, the average."""

from __future__ import annotations

from itertools import permutations

import pytest

from model.sources import redfish as spell
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
    service, reports = f"{ROOT}/TelemetryService", f"{ROOT}/TelemetryService/MetricReports"
    report = f"{reports}/PlatformEnvironmentMetrics"
    tree[ROOT]["TelemetryService"] = link(service)
    tree[service] = {"@odata.id": service, "MetricReports": link(reports)}
    tree[reports] = collection(reports, report)
    tree[THERMAL]["Temperatures"] = []
    tree[report] = {
        "@odata.id": report,
        "MetricValues": [
            {"MetricId": name, "MetricProperty": f"{SENSOR}/Reading", "MetricValue": value,
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
