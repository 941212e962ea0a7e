"""Results line by line: at each level, of each kind of story, and by pace."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from model.training.judging import mix
from model.training.judging.budget import exposed_weeks, verdicts
from model.training.judging.course import highest
from model.training.judging.rates import poisson_upper, wilson
from model.training.judging.report import KindLine, Line, MixLine, PaceLine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from model.training.judging.course import Course, Verdict
    from model.training.judging.replay import Replay

HEADLINE = ("24h", 0.3)
"""Horizon and threshold of the shipped critical alert and of the artefact's summary.

Set by figures of nodes of another seed, but not blindly: what the judged nodes give at
this and other levels had been seen (decision 0100).
"""

THRESHOLDS = tuple(sorted({0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, HEADLINE[1]}))

PACES_HOURS = (0.0, 6.0, 24.0, 48.0, np.inf)
"""Gradual faults by the time from onset to failure."""

PACE_LEVELS = (HEADLINE, ("72h", 0.5), ("72h", 0.2))
"""A probability of 24 h that means what it says is low two days ahead: days need the longest."""


@dataclass(frozen=True, slots=True)
class Judged:
    """All replays of an artefact, with what has to be known to judge them."""

    replays: Sequence[Replay]
    horizons: tuple[str, ...]
    causes: tuple[str, ...]
    channels: tuple[str, ...]

    @property
    def courses(self) -> list[Course]:
        """What became of each node."""
        return [one.course for one in self.replays]

    def values(self, horizon: int) -> list[NDArray[np.float32]]:
        """Return the node's probability of one horizon, per course."""
        return [one.node[:, horizon] for one in self.replays]

    def named(self, horizon: int, judged: Sequence[Verdict]) -> list[bool]:
        """Whether the largest cause at each detection was the true one."""
        right = []
        for one, verdict in zip(self.replays, judged, strict=True):
            outcome, at = one.course.outcome, verdict.moment
            if outcome is None or at is None:
                right.append(False)
                continue
            largest = int(one.cause[at, :, horizon].argmax())
            right.append(self.causes[largest] == outcome.cause)
        return right


def at_level(judged: Judged, horizon: int, threshold: float, field_rate: float) -> Line:
    """Judge one horizon at one threshold, at so many failures per node-week in the field."""
    courses = judged.courses
    found = verdicts(courses, judged.values(horizon), threshold)
    leads = _leads(found)
    events = sum(course.outcome is not None for course in courses)
    false = sum(verdict.false_alerts for verdict in found)
    weeks = exposed_weeks(courses)
    rate = false / weeks if weeks else 0.0
    upper = poisson_upper(false) / weeks if weeks else 0.0
    recall = len(leads) / events if events else 0.0
    return Line(
        horizon=judged.horizons[horizon],
        threshold=threshold,
        events=events,
        detected=len(leads),
        recall_interval=wilson(len(leads), events),
        right_cause=sum(judged.named(horizon, found)),
        false_alerts=false,
        false_alerts_per_node_week=rate,
        false_alerts_per_node_week_upper=upper,
        precision=share(len(leads), false),
        precision_at_field_rate=share(recall * field_rate, rate),
        precision_at_field_rate_lower=share(recall * field_rate, upper),
        lead_hours_quartiles=quartiles(leads),
        of_mix=of_mix(mix.recall(courses, found), field_rate, rate, upper),
    )


def of_kind(judged: Judged, kind: str) -> KindLine:
    """Judge the nodes of one kind of story at the headline's level."""
    chosen = [one for one in judged.replays if one.course.kind == kind]
    part = Judged(chosen, judged.horizons, judged.causes, judged.channels)
    courses, horizon = part.courses, judged.horizons.index(HEADLINE[0])
    found = verdicts(courses, part.values(horizon), HEADLINE[1])
    peaks = [
        highest(course, one) for course, one in zip(courses, part.values(horizon), strict=True)
    ]
    leads, outcome = _leads(found), courses[0].outcome
    seen = [c for c, verdict in zip(courses, found, strict=True) if verdict.lead_hours is not None]
    return KindLine(
        kind=kind,
        cause="" if outcome is None else str(outcome.cause),
        sudden=courses[0].sudden,
        episodes=len(courses),
        node_weeks=sum(course.weeks for course in courses),
        detected=len(leads),
        recall_interval=wilson(len(leads), 0 if outcome is None else len(courses)),
        right_cause=sum(part.named(horizon, found)),
        false_alerts=sum(verdict.false_alerts for verdict in found),
        lead_hours_quartiles=quartiles(leads),
        highest_probability_median=float(np.median(peaks)),
        highest_probability_worst=float(np.min(peaks) if outcome is not None else np.max(peaks)),
        lead_hours=tuple(leads),
        development_hours=tuple(course.development_hours for course in seen),
    )


def by_pace(judged: Judged) -> tuple[PaceLine, ...]:
    """Judge by pace at each level of `PACE_LEVELS`."""
    lines = []
    for horizon, threshold in PACE_LEVELS:
        values = judged.values(judged.horizons.index(horizon))
        found = list(zip(judged.courses, verdicts(judged.courses, values, threshold), strict=True))
        for label, wanted in _pace_classes():
            inside = [(course, verdict) for course, verdict in found if wanted(course)]
            if inside:
                lines.append(_pace_line(horizon, threshold, label, inside))
    return tuple(lines)


def _pace_classes() -> list[tuple[str, Callable[[Course], bool]]]:
    """Return labels with the failing courses that they take."""
    classes: list[tuple[str, Callable[[Course], bool]]] = [
        ("sudden kinds", lambda course: course.outcome is not None and course.sudden),
        ("gradual kinds", lambda course: course.outcome is not None and not course.sudden),
    ]
    for low, high in pairwise(PACES_HOURS):
        label = f"- of {low:g} h and more" if np.isinf(high) else f"- of {low:g} to {high:g} h"
        classes.append((label, partial(_takes, low, high)))
    return classes


def _takes(low: float, high: float, course: Course) -> bool:
    return not course.sudden and low <= course.development_hours < high


def _pace_line(
    horizon: str, threshold: float, label: str, inside: Sequence[tuple[Course, Verdict]]
) -> PaceLine:
    seen = [
        (verdict.lead_hours, course.development_hours)
        for course, verdict in inside
        if verdict.lead_hours is not None
    ]
    return PaceLine(
        horizon=horizon,
        threshold=threshold,
        label=label,
        events=len(inside),
        detected=len(seen),
        recall_interval=wilson(len(seen), len(inside)),
        lead_hours_quartiles=quartiles([lead for lead, _ in seen]),
        median_share_foreseen=float(np.median([lead / took for lead, took in seen]))
        if seen
        else 0.0,
    )


def _leads(found: Sequence[Verdict]) -> list[float]:
    return [verdict.lead_hours for verdict in found if verdict.lead_hours is not None]


def of_mix(
    found: mix.Recall | None, field_rate: float, rate: float, upper: float
) -> MixLine | None:
    """Return the recall of the field's mix, with its precision beside false alerts."""
    if found is None:
        return None
    right = found.value * field_rate
    return MixLine(found.value, found.interval, share(right, rate), share(right, upper))


def share(right: float, wrong: float) -> float:
    """Return the part of alerts that is right, of so many a node-week of each; 0 of none."""
    return right / (right + wrong) if right + wrong else 0.0


def quartiles(leads: Sequence[float]) -> tuple[float, ...]:
    """Return the three quartiles, nothing of nothing."""
    return tuple(float(q) for q in np.percentile(leads, (25, 50, 75))) if leads else ()
