"""The evaluation as a plain table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model.training.evaluate import Report


def render(report: Report) -> str:
    """Return the whole table, each number with what it was measured on."""
    return "\n".join(
        (
            f"{report.data}: {report.events} failures, {report.node_weeks:.1f} node-weeks, "
            f"{report.quiet_node_weeks:.1f} of them on nodes that do not fail.",
            "Bounds (<=, >=) are one-sided, 95 %. Field: "
            f"{report.field_failures_per_node_week:.3g} failures per node-week.",
            "",
            *_lines(report),
            "",
            *_kinds(report),
            "",
            *_brier(report),
        )
    )


def _lines(report: Report) -> tuple[str, ...]:
    head = (
        "horizon  threshold  recall  right cause  lead h (quartiles)    false per node-week"
        "  precision  in the field"
    )
    rows = (
        f"{x.horizon:>7}  {x.threshold:>9g}  {_ratio(x.detected, x.events)}  "
        f"{_ratio(x.right_cause, x.detected):>11}  {_quartiles(x.lead_hours_quartiles):<20}  "
        f"{x.false_alerts_per_node_week:.4f} (<= {x.false_alerts_per_node_week_upper:.4f})  "
        f"{x.precision:>9.3f}  {x.precision_at_field_rate:.3f} "
        f"(>= {x.precision_at_field_rate_lower:.3f})"
        for x in report.lines
    )
    return (head, *rows)


def _kinds(report: Report) -> tuple[str, ...]:
    head = (
        "story              episodes  detected  right cause  lead h (quartiles)    false"
        "  peak 24h median, worst"
    )
    rows = (
        f"{x.kind:<18} {x.episodes:>8}  {x.detected:>8}  {x.right_cause:>11}  "
        f"{_quartiles(x.lead_hours_quartiles):<20}  {x.false_alerts:>5}  "
        f"{x.highest_probability_median:.4f}, {x.highest_probability_worst:.4f}"
        for x in report.kinds
    )
    return (head, *rows)


def _brier(report: Report) -> tuple[str, ...]:
    head = "horizon  moments   failing     Brier  base rate  always healthy  (weighed to the field)"
    rows = (
        f"{x.horizon:>7}  {x.moments:>7}  {x.failing_ratio:.6f}  {x.brier:.6f}  "
        f"{x.brier_of_base_rate:>9.6f}  {x.brier_of_always_healthy:>14.6f}"
        for x in report.brier
    )
    return (head, *rows)


def _ratio(part: int, whole: int) -> str:
    return f"{part / whole:6.3f}" if whole else "     -"


def _quartiles(leads: Sequence[float]) -> str:
    return " / ".join(f"{lead:.1f}" for lead in leads) if leads else "-"
