"""The evaluation as a plain table for people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model.training.judging.report import (
        CalibrationLine,
        KindLine,
        MixLine,
        Report,
        ShippedLine,
    )


def render(report: Report) -> str:
    """Return the whole table, each number with what it was measured on."""
    tables = (_lines, _shipped, _kinds, _paces, _told, _rivals, _budgets)
    return "\n".join((*_head(report), *(row for make in tables for row in ("", *make(report)))))


def brief(report: Report) -> str:
    """Return what the headline's level gives of each kind of fault, and together."""
    level = (report.headline_horizon, report.headline_threshold)
    faults = tuple(one for one in report.kinds if one.cause)
    part = msgspec.structs.replace(
        report,
        lines=tuple(one for one in report.lines if (one.horizon, one.threshold) == level),
        paces=tuple(one for one in report.paces if (one.horizon, one.threshold) == level),
        kinds=faults,
    )
    tables = (_lines, _kinds, _paces)
    return "\n".join((*_head(part), *(row for make in tables for row in ("", *make(part)))))


def _head(report: Report) -> tuple[str, ...]:
    return (
        f"{report.data}: {report.events} failures, {report.node_weeks:.1f} node-weeks, "
        f"{report.quiet_node_weeks:.1f} of them on nodes that do not fail.",
        f"An alert is false where the node does not fail within 72 h or its fault has not begun: "
        f"{report.exposed_node_weeks:.1f} node-weeks.",
        "Bounds (<=, >=) are one-sided, intervals two-sided, 95 %, nodes drawn as a whole. Field: "
        f"{report.field_failures_per_node_week:.3g} failures per node-week.",
    )


def _lines(report: Report) -> tuple[str, ...]:
    head = (
        "horizon  threshold  recall (95 %)           right cause  lead h (quartiles)"
        "    false per node-week   precision  in the field"
        "        of the mix: recall (95 %)      in the field"
    )
    rows = (
        f"{x.horizon:>7}  {x.threshold:>9g}  {ratio(x.detected, x.events)} "
        f"{interval(x.recall_interval):<16}  "
        f"{ratio(x.right_cause, x.detected):>11}  {quartiles(x.lead_hours_quartiles):<20}  "
        f"{x.false_alerts_per_node_week:.4f} (<= {x.false_alerts_per_node_week_upper:.4f})  "
        f"{x.precision:>9.3f}  {x.precision_at_field_rate:.3f} "
        f"(>= {x.precision_at_field_rate_lower:.3f})  {of_mix(x.of_mix)}"
        for x in report.lines
    )
    return (head, *rows)


def of_mix(found: MixLine | None) -> str:
    """Return recall and precision of kinds as frequent as in the field, dashes of none."""
    if found is None:
        return f"{'-':>12}                   -"
    return (
        f"{found.recall:>12.3f} {interval(found.recall_interval):<16}  "
        f"{found.precision:.3f} (>= {found.precision_lower:.3f})"
    )


def _shipped(report: Report) -> tuple[str, ...]:
    return shipped(report.shipped)


def shipped(lines: Sequence[ShippedLine]) -> tuple[str, ...]:
    """Return what alerts as they are shipped would have done, with its head."""
    head = (
        "alert     looked at         recall (95 %)           gradual  lead h (quartiles)    "
        "false  per node-week (95 %)"
    )
    rows = (
        f"{x.severity:<8}  {x.looked_at:<16} {ratio(x.detected, x.events)} "
        f"{interval(x.recall_interval if x.events else None):<16}  "
        f"{ratio(x.gradual_detected, x.gradual_events)}  "
        f"{quartiles(x.lead_hours_quartiles):<20}  {x.false_alerts:>5}  "
        f"{x.false_alerts_per_node_week:.4f} ({x.false_alerts_per_node_week_interval[0]:.4f} "
        f"to {x.false_alerts_per_node_week_interval[1]:.4f})"
        for x in lines
    )
    return (head, *rows)


def _kinds(report: Report) -> tuple[str, ...]:
    head = (
        f"{'story':<26} {'cause':<12} pace     episodes  detected  right cause  "
        f"{'lead h (quartiles)':<20}  false  peak 24h median, worst"
    )
    rows = (
        f"{x.kind:<26} {x.cause:<12} {_pace(x):<7}  {x.episodes:>8}  {x.detected:>8}  "
        f"{x.right_cause:>11}  {quartiles(x.lead_hours_quartiles):<20}  {x.false_alerts:>5}  "
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
        f"{ratio(x.detected, x.events)} {interval(x.recall_interval):<16}  "
        f"{quartiles(x.lead_hours_quartiles):<20}  {_share(x.median_share_foreseen)}"
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
        "  expected error  slope (95 %)           observed/expected, top tenth (95 %)"
    )
    rows = (
        f"{x.horizon:>7}  {x.moments:>7}  {x.failing_ratio:.6f}  {x.brier:.6f}  "
        f"{x.brier_of_base_rate:>9.6f}  {x.brier_of_always_healthy:>14.6f}  "
        f"{x.expected_error:>14.6f}  "
        f"{_number(x.slope)} {interval(x.slope_interval):<16}  "
        f"{_number(x.observed_over_expected)} {interval(x.observed_over_expected_interval)}"
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
        f"{x.name:<28} {ratio(x.detected, x.events)}  {x.false_alerts_per_node_week:.4f} "
        f"(<= {x.false_alerts_per_node_week_upper:.4f})  {quartiles(x.lead_hours_quartiles):<20}  "
        f"{ratio(x.ours_detected, x.events):>23}  {x.shared:>6}  {x.earlier:>12}  {x.same:>4}  "
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


def ratio(part: int, whole: int) -> str:
    """Return a share, a dash of nothing."""
    return f"{part / whole:6.3f}" if whole else "     -"


def _number(value: float | None) -> str:
    return "    -" if value is None else f"{value:.3f}"


def interval(bounds: tuple[float, float] | None) -> str:
    """Return bounds in brackets, nothing where there are none."""
    return "" if bounds is None else f"({bounds[0]:.3f} to {bounds[1]:.3f})"


def quartiles(leads: Sequence[float]) -> str:
    """Return the quartiles of leads, a dash of none."""
    return " / ".join(f"{lead:.1f}" for lead in leads) if leads else "-"
