"""The metric reports of a tray: most readings in one answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simulator.endpoints.redfish.shapes import ROOT, Resource, collection, link, resource, timestamp

if TYPE_CHECKING:
    from simulator.fleet import NodeReading

ALONE = re.compile("Coolant|Humidity")
"""Sensors that stand in no report."""
REPORTS = f"{ROOT}/TelemetryService/MetricReports"


def reports(
    reading: NodeReading, tray: list[Resource], boards: dict[str, list[Resource]]
) -> list[Resource]:
    """Return the telemetry service with one report of the tray and one of its boards."""
    in_report = [item for item in tray if not ALONE.search(item["Id"])]
    of_boards = [item for owned in boards.values() for item in owned]
    reports = [
        _report("PlatformEnvironmentMetrics_0", reading, in_report),
        _report("HGX_PlatformEnvironmentMetrics_0", reading, of_boards),
    ]
    service = resource(
        f"{ROOT}/TelemetryService",
        "TelemetryService.v1_2_1.TelemetryService",
        MaxReports=10,
        MetricReports=link(REPORTS),
        MinCollectionInterval="PT1.000S",
        Status={"State": "Enabled"},
    )
    return [
        service,
        collection(REPORTS, "MetricReport", [r["@odata.id"] for r in reports]),
        *reports,
    ]


def _report(name: str, reading: NodeReading, sensors: list[Resource]) -> Resource:
    """Values are strings without MetricId; some are marked stale although they are not."""
    stamp = timestamp(reading)
    values = [
        {
            "MetricProperty": sensor["@odata.id"],
            "MetricValue": "nan" if sensor["Reading"] is None else f"{sensor['Reading']:.6f}",
            "Oem": {
                "Nvidia": {
                    "@odata.type": "#NvidiaMetricReport.v1_0_0.NvidiaMetricReport",
                    "MetricValueStale": sensor["Id"].endswith(("Power_0", "TEMP_0", "TEMP_1")),
                }
            },
            "Timestamp": stamp,
        }
        for sensor in sensors
    ]
    return resource(
        f"{REPORTS}/{name}",
        "MetricReport.v1_4_2.MetricReport",
        MetricReportDefinition=link(f"{ROOT}/TelemetryService/MetricReportDefinitions/{name}"),
        MetricValues=values,
        Oem={
            "Nvidia": {
                "@odata.type": "#NvidiaMetricReport.v1_0_0.NvidiaMetricReport",
                "SensingIntervalMilliseconds": 250,
            }
        },
    )
