"""Which decoder reads which resource of the standard.

Tolerant by field, never by document: a member that cannot be read costs that
member.  None of them raises for any JSON object.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from exporter.redfish import legacy, subsystems, supplies
from exporter.redfish.reports import report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from exporter.redfish.samples import Sample


class Kind(StrEnum):
    """Which decoder reads a resource."""

    REPORT = "report"
    THERMAL = "thermal"
    POWER = "power"
    THERMAL_METRICS = "thermal_metrics"
    ENVIRONMENT = "environment"
    SENSOR = "sensor"
    FAN = "fan"
    PUMP = "pump"
    SUPPLY = "supply"
    SUPPLY_METRICS = "supply_metrics"
    LEAK = "leak"
    CONNECTOR = "connector"
    PROCESSOR = "processor"


def decode(kind: Kind, uri: str, document: dict[str, Any], *, stale_after: float) -> list[Sample]:
    """Return the samples of one resource; `stale_after` (seconds) only concerns reports."""
    if kind is Kind.REPORT:
        return list(report(document, stale_after))
    return list(DECODERS[kind](uri, document))


DECODERS: dict[Kind, Callable[[str, dict[str, Any]], Iterable[Sample]]] = {
    Kind.THERMAL: legacy.thermal,
    Kind.POWER: legacy.power,
    Kind.THERMAL_METRICS: subsystems.thermal_metrics,
    Kind.ENVIRONMENT: subsystems.environment,
    Kind.SENSOR: subsystems.sensor,
    Kind.FAN: subsystems.fan,
    Kind.PUMP: subsystems.pump,
    Kind.SUPPLY: supplies.supply,
    Kind.SUPPLY_METRICS: supplies.metrics,
    Kind.LEAK: subsystems.leak,
    Kind.CONNECTOR: subsystems.connector,
    Kind.PROCESSOR: subsystems.processor,
}
