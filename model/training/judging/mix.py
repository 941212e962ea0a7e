"""Recall with each kind of fault as frequent as in the field.

A simulated split holds equally many of each kind, so that rare ones are known as
well as frequent ones; a site meets them as `simulator.mix` counts them.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from model.training.judging.rates import wilson
from simulator.mix import shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model.training.judging.course import Course, Verdict


class Recall(NamedTuple):
    """A recall with its interval (95 %, two-sided)."""

    value: float
    interval: tuple[float, float]


def recall(courses: Sequence[Course], found: Sequence[Verdict]) -> Recall | None:
    """Weigh the recall of each kind by its share of failures in the field.

    The interval is that of a sum of independent shares, put together from the Wilson
    interval of each (Zou and Donner, Statistics in Medicine 2008).  None where some
    kind of the field has no failure here, as of a site's own past.
    """
    events: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for course, verdict in zip(courses, found, strict=True):
        if course.outcome is not None:
            events[course.kind] += 1
            seen[course.kind] += verdict.lead_hours is not None
    share = shares()
    if set(events) != set(share):
        return None
    value = below = above = 0.0
    for kind, weight in share.items():
        part = seen[kind] / events[kind]
        low, high = wilson(seen[kind], events[kind])
        value += weight * part
        below += (weight * (part - low)) ** 2
        above += (weight * (high - part)) ** 2
    return Recall(value, (value - math.sqrt(below), value + math.sqrt(above)))
