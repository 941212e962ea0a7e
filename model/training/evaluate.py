"""What an artefact is worth: it is replayed over nodes it never saw, beside its rivals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from model.artefact import Evaluation
from model.training import calibration
from model.training.budget import BUDGETS, exposed_weeks, verdicts
from model.training.comparison import Rated, compare, curves
from model.training.course import highest
from model.training.examples import examples
from model.training.hazard import BASE_FAILURES_PER_NODE_WEEK
from model.training.rates import poisson_upper, wilson
from model.training.replay import replay
from model.training.report import CalibrationLine, KindLine, Line, PaceLine, Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from model.runtime import Predictor
    from model.training.course import Course, Verdict
    from model.training.dataset import Episode
    from model.training.replay import Replay
    from model.training.rivals.calibrated import Calibrated

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
HEADLINE = ("24h", 0.3)
"""Horizon and threshold of the shipped critical alert and of the artefact's summary.

Chosen on nodes of another seed (decision 0100), never on those that are judged.
"""

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


def evaluate(
    predictor: Predictor,
    episodes: Iterable[Episode],
    data: str,
    rivals: Sequence[Calibrated] = (),
    *,
    as_they_are: bool = False,
) -> Report:
    """Replay and judge; `data` says in words what the episodes are.

    They are weighed to the field's rate of failures, or counted `as_they_are`
    where they are a site's own time.
    """
    replays, scores = [], []
    for episode in episodes:
        replays.append(replay(predictor, episode))
        hours = replays[-1].course.hours
        scores.append([rival.score(episode, hours) for rival in rivals])
    info = predictor.info
    judged = Judged(replays, info.horizons, info.causes, info.names)
    rated = [
        Rated(rival.name, rival.threshold, [one[place] for one in scores], rival.levels)
        for place, rival in enumerate(rivals)
    ]
    return report(judged, rated, data, as_they_are=as_they_are)


def report(
    judged: Judged, rivals: Sequence[Rated], data: str, *, as_they_are: bool = False
) -> Report:
    """Measure everything that can be said of the replays and of the rivals beside them."""
    courses, headline = judged.courses, judged.horizons.index(HEADLINE[0])
    weeks = sum(course.weeks for course in courses)
    events = sum(course.outcome is not None for course in courses)
    rate = events / max(weeks, 1e-9) if as_they_are else BASE_FAILURES_PER_NODE_WEEK
    heavy = 1.0 if as_they_are else None
    ours = Rated("Forewarn", HEADLINE[1], judged.values(headline), ())
    return Report(
        data=data,
        node_weeks=weeks,
        quiet_node_weeks=sum(course.weeks for course in courses if course.outcome is None),
        exposed_node_weeks=exposed_weeks(courses),
        events=events,
        field_failures_per_node_week=rate,
        headline_horizon=HEADLINE[0],
        headline_threshold=HEADLINE[1],
        horizons=judged.horizons,
        budgets=BUDGETS,
        lines=tuple(
            _line(judged, horizon, threshold, rate)
            for horizon in range(len(judged.horizons))
            for threshold in THRESHOLDS
        ),
        kinds=tuple(
            _kind_line(judged, kind) for kind in dict.fromkeys(course.kind for course in courses)
        ),
        paces=_paces(judged),
        calibration=tuple(
            calibrated(courses, judged.values(place), name, place, heavy)
            for place, name in enumerate(judged.horizons)
        ),
        curves=curves(courses, [ours, *rivals]),
        rivals=compare(courses, ours, rivals, len(judged.horizons)),
        examples=examples(judged.replays, judged.causes, judged.channels, headline, HEADLINE[1]),
    )


def summarise(found: Report) -> Evaluation:
    """Return the headline as the artefact carries it."""
    horizon, threshold = HEADLINE
    line = next(x for x in found.lines if x.horizon == horizon and x.threshold == threshold)
    told = next(x for x in found.calibration if x.horizon == horizon)
    leads = line.lead_hours_quartiles or (0.0, 0.0, 0.0)
    return Evaluation(
        data=found.data,
        horizon=horizon,
        threshold=threshold,
        events=line.events,
        node_weeks=found.node_weeks,
        base_rate_per_node_week=found.events / found.node_weeks if found.node_weeks else 0.0,
        event_recall=line.detected / line.events if line.events else 0.0,
        precision=line.precision,
        precision_at_field_rate_lower=line.precision_at_field_rate_lower,
        field_rate_per_node_week=found.field_failures_per_node_week,
        false_alerts_per_node_week=line.false_alerts_per_node_week,
        false_alerts_per_node_week_upper=line.false_alerts_per_node_week_upper,
        median_lead_hours=leads[1],
        lead_hours_quartiles=(leads[0], leads[2]),
        brier=told.brier,
        brier_of_base_rate=told.brier_of_base_rate,
        brier_of_always_healthy=told.brier_of_always_healthy,
    )


def _line(judged: Judged, horizon: int, threshold: float, field_rate: float) -> Line:
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
        precision=_share(len(leads), false),
        precision_at_field_rate=_share(recall * field_rate, rate),
        precision_at_field_rate_lower=_share(recall * field_rate, upper),
        lead_hours_quartiles=quartiles(leads),
    )


def _kind_line(judged: Judged, kind: str) -> KindLine:
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


def _paces(judged: Judged) -> tuple[PaceLine, ...]:
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


def calibrated(
    courses: Sequence[Course],
    values: Sequence[NDArray[np.float32]],
    name: str,
    horizon: int,
    heavy: float | None = None,
) -> CalibrationLine:
    """Say whether probabilities of one horizon mean what they say.

    `values` are given per course [moment], `heavy` is what a moment of a quiet one
    weighs; none given: to the field's rate.
    """
    at = calibration.moments(courses, horizon, heavy)
    if not len(at.failed):
        return CalibrationLine(name, 0, 0.0, 0.0, 0.0, 0.0, None, None, None, None, ())
    said = at.of(values)
    base = float(np.average(at.failed, weights=at.weight))
    return CalibrationLine(
        horizon=name,
        moments=len(at.failed),
        failing_ratio=base,
        brier=calibration.brier(said, at),
        brier_of_always_healthy=base,
        brier_of_base_rate=base * (1.0 - base),
        slope=calibration.slope(said, at),
        slope_interval=calibration.interval(calibration.slope, said, at),
        observed_over_expected=calibration.observed_over_expected(said, at),
        observed_over_expected_interval=calibration.interval(
            calibration.observed_over_expected, said, at
        ),
        reliability=calibration.reliability(said, at),
    )


def _leads(found: Sequence[Verdict]) -> list[float]:
    return [verdict.lead_hours for verdict in found if verdict.lead_hours is not None]


def _share(right: float, wrong: float) -> float:
    return right / (right + wrong) if right + wrong else 0.0


def quartiles(leads: Sequence[float]) -> tuple[float, ...]:
    """Return the three quartiles, nothing of nothing."""
    return tuple(float(q) for q in np.percentile(leads, (25, 50, 75))) if leads else ()
