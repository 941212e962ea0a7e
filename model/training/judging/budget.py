"""How many failures are foretold for how many false alerts: one score, every threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from model.training.judging.course import HOURS_PER_WEEK, LEAD_HOURS, highest, judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from model.training.judging.course import Course, Verdict

    Values = Sequence[NDArray[np.floating]]
    """Per course, [moment]."""

BUDGETS = (0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""False alerts per node-week."""

THRESHOLDS_AT_MOST = 120


class Point(NamedTuple):
    """What one threshold gives; false alerts per node-week."""

    threshold: float
    detected: int
    false_alerts: int
    false_rate: float


def exposed_weeks(courses: Sequence[Course]) -> float:
    """Node-weeks in which any alert is false: of nodes that do not fail, or not for 72 h."""
    spare = [
        course.weeks
        if course.outcome is None
        else max(0.0, course.failure_hours - LEAD_HOURS - float(course.hours[0])) / HOURS_PER_WEEK
        for course in courses
    ]
    return sum(spare)


def verdicts(courses: Sequence[Course], values: Values, threshold: float) -> list[Verdict]:
    """Judge every course at one threshold."""
    return [judge(course, one, threshold) for course, one in zip(courses, values, strict=True)]


def points(courses: Sequence[Course], values: Values) -> list[Point]:
    """Return every operating point worth telling apart, from the quietest threshold down."""
    weeks = exposed_weeks(courses)
    peaks = [highest(course, one) for course, one in zip(courses, values, strict=True)]
    levels = np.unique([peak for peak in peaks if peak > 0])
    if len(levels) > THRESHOLDS_AT_MOST:
        levels = np.unique(np.quantile(levels, np.linspace(0, 1, THRESHOLDS_AT_MOST)))
    found = []
    for threshold in levels[::-1].tolist():
        judged = verdicts(courses, values, threshold)
        false = sum(verdict.false_alerts for verdict in judged)
        detected = sum(verdict.lead_hours is not None for verdict in judged)
        found.append(Point(threshold, detected, false, false / weeks if weeks else 0.0))
    return found


def within(found: Sequence[Point], budget: float) -> Point:
    """Return the point that detects most at no more than `budget`; of equals the quietest."""
    nothing = Point(float("inf"), 0, 0, 0.0)
    allowed = [point for point in found if point.false_rate <= budget]
    return max([nothing, *allowed], key=lambda point: (point.detected, -point.false_rate))
