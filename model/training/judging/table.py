"""The evaluation as a plain table for people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model.training.judging.report import CalibrationLine, KindLine, Report


def render(report: Report) -> str:
    """Return the whole table, each number with what it was measured on."""
    head = (
        f"{report.data}: {report.events} failures, {report.node_weeks:.1f} node-weeks, "
        f"{report.quiet_node_weeks:.1f} of them on nodes that do not fail.",
        f"An alert is false where the node does not fail within 72 h or its fault has not begun: "
        f"{report.exposed_node_weeks:.1f} node-weeks.",
        "Bounds (<=, >=) are one-sided, intervals two-sided, 95 %, nodes drawn as a whole. Field: "
        f"{report.field_failures_per_node_week:.3g} failures per node-week.",
    )
    tables = (_lines, _kinds, _paces, _told, _rivals, _budgets)
    return "\n".join((*head, *(row for make in tables for row in ("", *make(report)))))


def _lines(report: Report) -> tuple[str, ...]:
    head = (
        "horizon  threshold  recall (95 %)           right cause  lead h (quartiles)"
        "    false per node-week   precision  in the field"
    )
    rows = (
        f"{x.horizon:>7}  {x.threshold:>9g}  {_ratio(x.detected, x.events)} "
        f"{_interval(x.recall_interval):<16}  "
        f"{_ratio(x.right_cause, x.detected):>11}  {_quartiles(x.lead_hours_quartiles):<20}  "
        f"{x.false_alerts_per_node_week:.4f} (<= {x.false_alerts_per_node_week_upper:.4f})  "
        f"{x.precision:>9.3f}  {x.precision_at_field_rate:.3f} "
        f"(>= {x.precision_at_field_rate_lower:.3f})"
        for x in report.lines
    )
    return (head, *rows)


def _kinds(report: Report) -> tuple[str, ...]:
    head = (
        f"{'story':<26} {'cause':<12} pace     episodes  detected  right cause  "
        f"{'lead h (quartiles)':<20}  false  peak 24h median, worst"
    )
    rows = (
        f"{x.kind:<26} {x.cause:<12} {_pace(x):<7}  {x.episodes:>8}  {x.detected:>8}  "
        f"{x.right_cause:>11}  {_quartiles(x.lead_hours_quartiles):<20}  {x.false_alerts:>5}  "
        f"{x.highest_probability_median:.4f}, {x.highest_probability_worst:.4f}"
        for x in report.kinds
    )
    return (head, *rows)


def _paces(report: Report) -> tuple[str, ...]:
    head = (
        "horizon  threshold  onset to failure    events  recall (95 %)           "
        "lead h (quartiles)    share foreseen"
    )
    rows = (
        f"{x.horizon:>7}  {x.threshold:>9g}  {x.label:<18}  {x.events:>6}  "
        f"{_ratio(x.detected, x.events)} {_interval(x.recall_interval):<16}  "
        f"{_quartiles(x.lead_hours_quartiles):<20}  {_share(x.median_share_foreseen)}"
        for x in report.paces
    )
    return (head, *rows)


def _share(foreseen: float) -> str:
    # Of a site's failures nobody knows the onset.
    return "-" if math.isnan(foreseen) else f"{foreseen:.2f}"


def _told(report: Report) -> tuple[str, ...]:
    return calibration(report.calibration)


def calibration(lines: Sequence[CalibrationLine]) -> tuple[str, ...]:
    """Return the rows that say whether probabilities mean what they say, with their head."""
    head = (
        "horizon  moments   failing     Brier  base rate  always healthy"
        "  slope (95 %)           observed/expected, top tenth (95 %)"
    )
    rows = (
        f"{x.horizon:>7}  {x.moments:>7}  {x.failing_ratio:.6f}  {x.brier:.6f}  "
        f"{x.brier_of_base_rate:>9.6f}  {x.brier_of_always_healthy:>14.6f}  "
        f"{_number(x.slope)} {_interval(x.slope_interval):<16}  "
        f"{_number(x.observed_over_expected)} {_interval(x.observed_over_expected_interval)}"
        for x in lines
    )
    return (head, *rows)


def _rivals(report: Report) -> tuple[str, ...]:
    limits = tuple(f"{name}: {why}" for name, why in report.limits)
    if not report.rivals:
        return ("no rivals were asked for", *limits)
    head = (
        f"{'rival at its own level':<28} recall  false per node-week   {'lead h (quartiles)':<20}"
        "  ours at no more: recall  shared  ours earlier  same  later  "
        f"Brier {', '.join(report.horizons)}"
    )
    rows = (
        f"{x.name:<28} {_ratio(x.detected, x.events)}  {x.false_alerts_per_node_week:.4f} "
        f"(<= {x.false_alerts_per_node_week_upper:.4f})  {_quartiles(x.lead_hours_quartiles):<20}  "
        f"{_ratio(x.ours_detected, x.events):>23}  {x.shared:>6}  {x.earlier:>12}  {x.same:>4}  "
        f"{x.shared - x.earlier - x.same:>5}  {' '.join(f'{value:.6f}' for value in x.brier)}"
        for x in report.rivals
    )
    ours = " ".join(f"{x.brier:.6f}" for x in report.calibration)
    return (head, *rows, f"Brier of ours, as it is published: {ours}", *limits)


def _budgets(report: Report) -> tuple[str, ...]:
    head = "recall at a budget of        " + "  ".join(f"{b:>6g}" for b in report.budgets)
    rows = (
        f"{x.name:<28} " + "  ".join(f"{recall:>6.3f}" for recall in x.recall_at_budgets)
        for x in report.curves
    )
    return (head + "  false alerts per node-week", *rows)


def _pace(line: KindLine) -> str:
    return "" if not line.cause else "sudden" if line.sudden else "gradual"


def _ratio(part: int, whole: int) -> str:
    return f"{part / whole:6.3f}" if whole else "     -"


def _number(value: float | None) -> str:
    return "    -" if value is None else f"{value:.3f}"


def _interval(bounds: tuple[float, float] | None) -> str:
    return "" if bounds is None else f"({bounds[0]:.3f} to {bounds[1]:.3f})"


def _quartiles(leads: Sequence[float]) -> str:
    return " / ".join(f"{lead:.1f}" for lead in leads) if leads else "-"
