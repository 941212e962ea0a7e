"""Ours beside each rival on the same nodes: at every budget, and at the rival's own level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from model.training.judging import calibration
from model.training.judging.budget import BUDGETS, exposed_weeks, points, verdicts, within
from model.training.judging.rates import poisson_upper
from model.training.judging.report import Curve, RivalLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from model.training.episodes.dataset import Episode
    from model.training.judging.budget import Point
    from model.training.judging.calibration import Isotonic, Moments
    from model.training.judging.course import Course, Verdict


@dataclass(frozen=True, slots=True)
class Rated:
    """One score over all courses: `values` per course [moment].

    `levels` [fold][horizon] make probabilities of it, none where it has none;
    `fold` [course] says by which of them.
    """

    name: str
    threshold: float
    values: Sequence[NDArray[np.floating]]
    levels: Sequence[Sequence[Isotonic]]
    fold: NDArray[np.int64]

    def probability(self, horizon: int, at: Moments) -> NDArray[np.float64]:
        """Return the probability [moment] of one horizon."""
        score = at.of(self.values)
        each = self.fold[at.node]
        said = np.zeros(len(score))
        for fold, levels in enumerate(self.levels):
            said[each == fold] = levels[horizon](score[each == fold])
        return said


class Beside(Protocol):
    """A rival that is replayed beside the artefact."""

    @property
    def name(self) -> str:
        """Its name."""

    def score(self, episode: Episode, hours: NDArray[np.float64]) -> NDArray[np.float64]:
        """Score an episode at the moments that lie at `hours`."""

    def rated(
        self, courses: Sequence[Course], scores: Sequence[NDArray[np.float64]], horizons: int
    ) -> Rated:
        """Return the scores of all courses with what they mean."""


def curves(courses: Sequence[Course], rated: Sequence[Rated]) -> tuple[Curve, ...]:
    """Return recall against false alerts of every score."""
    return tuple(_curve(courses, one, points(courses, one.values)) for one in rated)


def _curve(courses: Sequence[Course], one: Rated, found: Sequence[Point]) -> Curve:
    events = max(1, sum(course.outcome is not None for course in courses))
    return Curve(
        name=one.name,
        recall_at_budgets=tuple(within(found, budget).detected / events for budget in BUDGETS),
        points=tuple((point.false_rate, point.detected / events) for point in found),
    )


def compare(
    courses: Sequence[Course], ours: Rated, rivals: Sequence[Rated], at: Sequence[Moments]
) -> tuple[RivalLine, ...]:
    """Return one line per rival; `at` [horizon] are the moments that its probabilities are of."""
    found = points(courses, ours.values)
    return tuple(_line(courses, ours, found, rival, at) for rival in rivals)


def _line(
    courses: Sequence[Course],
    ours: Rated,
    found: Sequence[Point],
    rival: Rated,
    at: Sequence[Moments],
) -> RivalLine:
    theirs = verdicts(courses, rival.values, rival.threshold)
    weeks = exposed_weeks(courses) or 1.0
    false = sum(verdict.false_alerts for verdict in theirs)
    matched = within(found, false / weeks)
    mine = verdicts(courses, ours.values, matched.threshold)
    leads = [verdict.lead_hours for verdict in theirs if verdict.lead_hours is not None]
    gains = _gains(courses, mine, theirs)
    return RivalLine(
        name=rival.name,
        threshold=rival.threshold,
        events=sum(course.outcome is not None for course in courses),
        detected=len(leads),
        false_alerts_per_node_week=false / weeks,
        false_alerts_per_node_week_upper=poisson_upper(false) / weeks,
        lead_hours_quartiles=tuple(map(float, np.percentile(leads, (25, 50, 75)))) if leads else (),
        ours_threshold=matched.threshold if np.isfinite(matched.threshold) else 1.0,
        ours_detected=matched.detected,
        ours_false_alerts_per_node_week=matched.false_rate,
        shared=len(gains),
        earlier=sum(gain > 0 for _, gain in gains),
        same=sum(gain == 0 for _, gain in gains),
        not_earlier=tuple((course.kind, course.node) for course, gain in gains if gain <= 0),
        brier=_brier(rival, at),
    )


def _gains(
    courses: Sequence[Course], mine: Sequence[Verdict], theirs: Sequence[Verdict]
) -> list[tuple[Course, float]]:
    """Return by how many hours ours came first, for each event that both foresaw."""
    return [
        (course, one.lead_hours - other.lead_hours)
        for course, one, other in zip(courses, mine, theirs, strict=True)
        if one.lead_hours is not None and other.lead_hours is not None
    ]


def _brier(rival: Rated, at: Sequence[Moments]) -> tuple[float, ...]:
    if not rival.levels:
        return ()
    return tuple(
        calibration.brier(rival.probability(horizon, known), known) if len(known.failed) else 0.0
        for horizon, known in enumerate(at)
    )
