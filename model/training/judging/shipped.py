"""The alerts as they are shipped: by cause, and after a wait.

The rest of the evaluation judges one look at the node's probability.  The rules
(`alerts/predictions.rules.yml`) ask for one cause that stays at or above a level
of its horizon, minutes long.  Looks are five minutes apart, so what a rule sees is
held between two readings of them: one look at the largest cause fires whenever
the rule does at that look, and too often where it does not last; two looks in
succession are the longer wait, so that it fires no oftener than the rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from model.training.judging.budget import exposed_weeks, verdicts
from model.training.judging.lines import HEADLINE, quartiles
from model.training.judging.rates import poisson_lower, poisson_upper, wilson
from model.training.judging.report import ShippedLine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from model.training.judging.replay import Replay

    Level = tuple[str, float]
    Look = Callable[[Replay, Sequence[str], Sequence[Level]], NDArray[np.float64]]
    """Replay, its horizons, levels → what is highest over its level [moment]."""

SHIPPED: Mapping[str, tuple[Level, ...]] = {
    "critical": (("1h", 0.3), ("6h", 0.3), HEADLINE),
    "warning": (("24h", 0.2),),
}
"""Horizons and levels by severity, as the rules record them."""

CONFIDENCE_EACH_SIDE = 0.975


def node(one: Replay, horizons: Sequence[str], levels: Sequence[Level]) -> NDArray[np.float64]:
    """Look at the node's probability once."""
    over = [one.node[:, horizons.index(horizon)] / level for horizon, level in levels]
    return np.asarray(np.max(over, axis=0), np.float64)


def cause(one: Replay, horizons: Sequence[str], levels: Sequence[Level]) -> NDArray[np.float64]:
    """Look at each cause once."""
    return np.asarray(_by_cause(one, horizons, levels).max(axis=1))


def lasting(one: Replay, horizons: Sequence[str], levels: Sequence[Level]) -> NDArray[np.float64]:
    """Take of each cause and horizon what two looks in succession have, at the second of them."""
    over = _by_cause(one, horizons, levels)
    held = np.zeros_like(over)
    held[1:] = np.minimum(over[1:], over[:-1])
    return np.asarray(held.max(axis=1))


def _by_cause(one: Replay, horizons: Sequence[str], levels: Sequence[Level]) -> NDArray[np.float64]:
    """Return causes over their levels [moment, cause of any horizon]."""
    over = [one.cause[:, :, horizons.index(horizon)] / level for horizon, level in levels]
    return np.asarray(np.concatenate(over, axis=1), np.float64)


LOOKS: Mapping[str, Look] = {
    "node, one look": node,
    "cause, one look": cause,
    "cause, two looks": lasting,
}


def lines(replays: Sequence[Replay], horizons: Sequence[str]) -> tuple[ShippedLine, ...]:
    """Judge the alerts of each severity, looked at in each way."""
    return tuple(
        _line(replays, [look(one, horizons, levels) for one in replays], severity, how)
        for severity, levels in SHIPPED.items()
        for how, look in LOOKS.items()
    )


def _line(
    replays: Sequence[Replay], values: Sequence[NDArray[np.float64]], severity: str, how: str
) -> ShippedLine:
    courses = [one.course for one in replays]
    found = verdicts(courses, values, 1.0)
    leads = [verdict.lead_hours for verdict in found if verdict.lead_hours is not None]
    gradual = [
        verdict.lead_hours is not None
        for course, verdict in zip(courses, found, strict=True)
        if course.outcome is not None and not course.sudden
    ]
    events = sum(course.outcome is not None for course in courses)
    false, weeks = sum(verdict.false_alerts for verdict in found), exposed_weeks(courses) or 1.0
    return ShippedLine(
        severity=severity,
        looked_at=how,
        events=events,
        detected=len(leads),
        recall_interval=wilson(len(leads), events),
        gradual_events=len(gradual),
        gradual_detected=sum(gradual),
        lead_hours_quartiles=quartiles(leads),
        false_alerts=false,
        false_alerts_per_node_week=false / weeks,
        false_alerts_per_node_week_interval=(
            poisson_lower(false, CONFIDENCE_EACH_SIDE) / weeks,
            poisson_upper(false, CONFIDENCE_EACH_SIDE) / weeks,
        ),
        false_alerts_per_node_week_upper=poisson_upper(false) / weeks,
    )
