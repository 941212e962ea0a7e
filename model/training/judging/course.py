"""One node's course of events, and how alerts on it are judged, whoever raised them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from model.training.network.hazard import EDGES_HOURS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from model.training.episodes.labels import Outcome

LEAD_HOURS = EDGES_HOURS[-1]
"""An alert may come this long before the failure; earlier than that it is false."""

WAIT_HOURS = 2.0 / 60.0
"""How long the shipped critical alert waits (`for`): what crosses later before the failure than

this never fires, and foretells nothing.
"""

MERGE_HOURS = 6.0
"""Two crossings of a threshold this close together are one alert."""

HOURS_PER_WEEK = 7 * 24


@dataclass(frozen=True, slots=True)
class Course:
    """When a node was looked at (`hours` [moment]) and what became of it.

    `onset_hours` is when its fault began, None where none did; times count from
    the first step of the record.  `sudden` kinds of fault announce themselves
    for minutes at most.
    """

    node: str
    kind: str
    outcome: Outcome | None
    onset_hours: float | None
    end_hours: float
    hours: NDArray[np.float64]
    sudden: bool = False

    @property
    def failure_hours(self) -> float:
        """When it failed; infinite where it did not."""
        return np.inf if self.outcome is None else self.outcome.hours

    @property
    def development_hours(self) -> float:
        """From the fault's onset to the failure, NaN where there is none."""
        if self.outcome is None or self.onset_hours is None:
            return np.nan
        return self.outcome.hours - self.onset_hours

    @property
    def in_time(self) -> NDArray[np.bool_]:
        """Whether an alert that begins at a moment fires before the failure [moment]."""
        return np.asarray(self.hours + WAIT_HOURS <= self.failure_hours)

    @property
    def weeks(self) -> float:
        """Node-weeks in which an alert could have been raised."""
        end = min(self.failure_hours, float(self.hours[-1]))
        return max(0.0, end - float(self.hours[0])) / HOURS_PER_WEEK


@dataclass(frozen=True, slots=True)
class Verdict:
    """`lead_hours` and `moment` of the detection, None without one; and the false alerts."""

    lead_hours: float | None
    moment: int | None
    false_alerts: int


def alerts(course: Course, values: NDArray[np.floating], threshold: float) -> list[int]:
    """Return the moments at which alerts begin that fire before any failure of the node."""
    above = np.flatnonzero((values >= threshold) & course.in_time)
    if not len(above):
        return []
    gaps = np.diff(course.hours[above]) > MERGE_HOURS
    return [int(above[0]), *(int(moment) for moment in above[1:][gaps])]


def judge(course: Course, values: NDArray[np.floating], threshold: float) -> Verdict:
    """Sort the alerts that `values` [moment] raise into a detection (the first) and false ones.

    One that begins before the fault does cannot have seen it, and is false too.
    """
    begun = alerts(course, values, threshold)
    first = -np.inf if course.onset_hours is None else course.onset_hours
    earliest = max(first, course.failure_hours - LEAD_HOURS)
    timely = [moment for moment in begun if course.hours[moment] >= earliest]
    if course.outcome is None or not timely:
        return Verdict(None, None, len(begun))
    lead = course.failure_hours - float(course.hours[timely[0]])
    return Verdict(lead, timely[0], len(begun) - len(timely))


def highest(course: Course, values: NDArray[np.floating]) -> float:
    """Highest value by which an alert would fire before the failure, or at all."""
    in_time = course.in_time
    return float(values[in_time].max()) if in_time.any() else 0.0
