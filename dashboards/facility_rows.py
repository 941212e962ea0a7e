"""The row of the facility: what cools and feeds the racks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboards.panels import ANY_IS_BAD, NONE_IS_BAD, THIRD, Look, matrix, over_time, ranking

if TYPE_CHECKING:
    from dashboards.panels import AnyPanel, Panels

LEGEND = "{{equipment}} {{rack}}"


def facility() -> Panels:
    """Which equipment answers, what is wet or out, and what the loops do."""
    return [*_standing(), *_loops(), *_feeds()]


def _standing() -> Panels:
    out = " or ".join(
        f"max by (equipment, rack) (forewarn_facility_{name}) > 0"
        for name in ("leak_detected", "pumps_failed", "power_supplies_failed", "breakers_tripped")
    )
    return [
        matrix(
            "Equipment up",
            "min by (equipment, rack) (forewarn_facility_source_up)",
            "1 when the last cycle read the equipment.",
            Look(width=8, steps=NONE_IS_BAD),
            rows="equipment",
            columns="rack",
        ),
        ranking(
            "Wet, failed or tripped",
            out,
            "Leaks, pumps, supplies and breakers that are not as they should be.",
            Look(width=8, steps=ANY_IS_BAD),
        ),
        _lines(
            "Heat reported against computed",
            "heat_residual_ratio",
            "percentunit",
            "Away from zero: flow, a temperature or the reported heat is wrong.",
        ),
    ]


def _loops() -> Panels:
    return [
        _lines("Coolant supply", "coolant_supply_temperature_celsius", "celsius", "To the racks."),
        _lines(
            "Coolant flow of the loops",
            "coolant_flow_liters_per_minute",
            "flowlpm",
            "To the racks.",
        ),
        _lines(
            "Coolant supply pressure",
            "coolant_supply_pressure_pascals",
            "pressurepa",
            "Falls with a leak or a failing pump.",
        ),
    ]


def _feeds() -> Panels:
    return [
        _lines("Facility water supply", "water_supply_temperature_celsius", "celsius", "To us."),
        _lines("Power through PDUs and shelves", "power_watts", "watt", "As they measure it."),
        _lines(
            "Branch load",
            "branch_load_ratio",
            "percentunit",
            "Of the most loaded line, against its rating.",
        ),
    ]


def _lines(title: str, channel: str, unit: str, text: str) -> AnyPanel:
    query = f"max by (equipment, rack) (forewarn_facility_{channel})"
    return over_time(title, {LEGEND: query}, text, Look(unit=unit, width=THIRD.width))
