"""The bars that a run over nodes that do not fail shows, with the failing ones beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.training.judging.lines import HEADLINE
from model.training.worth.bar import Bar, Mark, calibration, reached, share
from model.training.worth.judged import RECALL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model.training.judging.quiet import QuietLine, QuietReport, QuietTold

NODE_WEEKS = 500.0
BUDGET, MOONSHOT = 0.02, 0.003
"""False alerts per node-week."""
FAR_PRECISION = 0.90


def bars(report: QuietReport) -> tuple[Bar, ...]:
    """Return what the run shows of them."""
    line = next(one for one in report.lines if (one.horizon, one.threshold) == HEADLINE)
    told = [] if line.told is None else [*_with_recall(report, line, line.told)]
    beside = "quiet nodes and the failing ones of the test split"
    known = [calibration(report.calibration, beside)] if report.calibration else []
    return (_counted(report, line), *told, *known)


def _counted(report: QuietReport, line: QuietLine) -> Bar:
    return Bar(
        "healthy split",
        f"at least {NODE_WEEKS:g} node-weeks, interval printed",
        f"{report.node_weeks:.1f} node-weeks of {report.nodes} nodes; {_false(line)}",
        reached(report.node_weeks >= NODE_WEEKS),
    )


def _false(line: QuietLine) -> str:
    return (
        f"{line.false_alerts} false alerts at {_level(line)}, {line.rate:.4f} per node-week "
        f"({line.interval[0]:.4f} to {line.interval[1]:.4f}, one-sided <= {line.upper:.4f})"
    )


def _level(line: QuietLine) -> str:
    return f"{line.horizon}, {line.threshold:g}"


def _with_recall(report: QuietReport, line: QuietLine, told: QuietTold) -> Iterator[Bar]:
    yield Bar(
        "gradual faults, test split, and false alerts where nothing fails",
        f"recall at or above {RECALL:g} at no more than {BUDGET:g} false alerts per node-week, "
        "at the critical alert's level",
        f"{_gradual(told)}, with {_false(line)}",
        reached(_enough(told) and line.rate <= BUDGET),
    )
    yield _moonshot(report)
    mix = told.of_mix
    yield Bar(
        "precision in the field",
        f"beside it, at {report.failures_per_node_week:.3g} failures per node-week",
        f"{told.precision:.3f} (>= {told.precision_lower:.3f}) for the recall of all kinds, "
        f"{share(told.detected, told.events, told.recall_interval)}"
        + (
            f"; with kinds as frequent as in the field {mix.precision:.3f} "
            f"(>= {mix.precision_lower:.3f}) for a recall of {mix.recall:.3f} "
            f"({mix.recall_interval[0]:.3f} to {mix.recall_interval[1]:.3f})"
            if mix
            else ""
        ),
        Mark.SHOWN,
    )


def _moonshot(report: QuietReport) -> Bar:
    rare = [one for one in report.lines if one.told is not None and one.rate <= MOONSHOT]
    best = max(rare, key=_detected, default=None)
    asked = (
        f"moonshot: the same recall at no more than {MOONSHOT:g} at any level of the table, "
        f"where precision passes {FAR_PRECISION:g}"
    )
    if best is None or best.told is None:
        return Bar("gradual faults", asked, "no level has as few false alerts", Mark.MISSED)
    return Bar(
        "gradual faults",
        asked,
        f"at most {_gradual(best.told)} at {_level(best)}, with {best.rate:.4f} "
        f"(<= {best.upper:.4f}) and a precision in the field of {best.told.precision:.3f} "
        f"(>= {best.told.precision_lower:.3f})",
        reached(_enough(best.told) and best.told.precision > FAR_PRECISION),
    )


def _detected(line: QuietLine) -> int:
    return line.told.gradual_detected if line.told else 0


def _gradual(told: QuietTold) -> str:
    return share(told.gradual_detected, told.gradual_events, told.gradual_interval)


def _enough(told: QuietTold) -> bool:
    return told.gradual_events > 0 and told.gradual_detected >= RECALL * told.gradual_events
