"""What a run over nodes that do not fail found, as a plain table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.training.judging import table
from model.training.judging.lines import HEADLINE

if TYPE_CHECKING:
    from model.training.judging.quiet import QuietLine, QuietReport


def render(report: QuietReport) -> str:
    """Return the whole of it."""
    return "\n".join(
        (
            f"{report.data}: {report.nodes} nodes that do not fail, "
            f"{report.node_weeks:.1f} node-weeks.",
            "",
            *_lines(report),
            "",
            *table.shipped(report.shipped),
            "",
            *_kinds(report),
            *_told(report),
        )
    )


def _lines(report: QuietReport) -> tuple[str, ...]:
    head = "horizon  threshold  false alerts  on nodes  per node-week (95 %)         at most (95 %)"
    rows = (
        f"{x.horizon:>7}  {x.threshold:>9g}  {x.false_alerts:>12}  {x.nodes:>8}  "
        f"{x.rate:.4f} ({x.interval[0]:.4f} to {x.interval[1]:.4f})  {x.upper:>16.4f}"
        for x in report.lines
    )
    return (head, *rows)


def _kinds(report: QuietReport) -> tuple[str, ...]:
    head = (
        f"{'story':<24} node-weeks  false at {HEADLINE[0]} {HEADLINE[1]:g}  peak 24h median, worst"
    )
    rows = (
        f"{x.kind:<24} {x.node_weeks:>10.1f}  {x.false_alerts:>16}  "
        f"{x.highest_median:.4f}, {x.highest_worst:.4f}"
        for x in report.kinds
    )
    return (head, *rows)


def _told(report: QuietReport) -> tuple[str, ...]:
    if not report.failing_nodes:
        return ()
    return (
        "",
        f"with {report.failing_nodes} nodes of the test split that fail, "
        f"at {report.failures_per_node_week:.3g} failures per node-week:",
        "horizon  threshold  recall (95 %)           gradual (95 %)          in the field"
        "         of the mix: recall (95 %)      in the field",
        *(_foretold(line) for line in report.lines),
        "",
        *table.calibration(report.calibration),
    )


def _foretold(line: QuietLine) -> str:
    told = line.told
    if told is None:
        return ""
    return (
        f"{line.horizon:>7}  {line.threshold:>9g}  {table.ratio(told.detected, told.events)} "
        f"{table.interval(told.recall_interval):<16} "
        f"{table.ratio(told.gradual_detected, told.gradual_events)} "
        f"{table.interval(told.gradual_interval):<16}  "
        f"{told.precision:.3f} (>= {told.precision_lower:.3f})  {table.of_mix(told.of_mix)}"
    )
