"""Cuts a node's past into stretches, each with one ending: a failure, or none that is known.

Nothing is learned across a gap of hours, a planned window, an exchange of
GPUs, or the time from a failure until its GPU is back.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from model.history.failures import ACTION, ACTIONS, REMAP_FAILED, Failure, signs, stretches
from model.history.incidents import PLANNED
from model.history.known import UNJUDGED_SECONDS, known
from model.history.regimes import regimes
from model.schema import STEP_SECONDS, WINDOW_STEPS
from model.sources import dcgm
from model.sources.xid import HARDWARE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from model.history.incidents import Incident
    from model.history.record import Lost, Record
    from model.history.regimes import Regime

HOUR = 3_600.0
GAP_SECONDS = 2 * HOUR
"""A longer silence of the whole node is a border: what a model remembers would be of before."""
AFTERMATH_SECONDS = 2 * HOUR
RECORD_SECONDS = 7 * 24 * HOUR
"""No stretch is longer: a memory of three days has settled by then."""
LEAST_SECONDS = 2 * WINDOW_STEPS * STEP_SECONDS
WELL_STEPS, LATCH_STEPS = 30, 24 * 60
"""A GPU works again once it has for half an hour; a latched code is doubted for a day."""


class LeftOut(StrEnum):
    """Why some of the past is not learned from."""

    GAP = "gap"
    EMPTY = "empty"
    """The server answered with nothing at all, though the node was found in this time."""
    COARSE = "coarse"
    """Days that were downsampled, or scraped less often than once in two steps."""
    MIXED = "mixed"
    """Two sources under one name: the counters of a GPU are missing, all else is learned from."""
    PLANNED = "planned"
    UNJUDGED = "unjudged"
    REPAIR = "repair"
    SHORT = "short"


@dataclass(frozen=True, slots=True)
class Stretch:
    """From `start` to before `end` (wall-clock seconds); a `failure` ends it, or nothing known."""

    start: float
    end: float
    failure: Failure | None


@dataclass(frozen=True, slots=True)
class Timeline:
    """What a node's past holds: stretches in order, and hours left out by reason.

    `regimes` cut no stretch: who is watched lives through them, and only who
    learns must not take two regimes for one (`model.training.site.past`).
    `conflicts` counts samples that are missing because they contradict each other.
    """

    node: str
    stretches: tuple[Stretch, ...]
    left_out_hours: Counter[LeftOut]
    regimes: tuple[Regime, ...] = ()
    conflicts: int = 0

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Those that a stretch ends with."""
        return tuple(one.failure for one in self.stretches if one.failure is not None)

    @property
    def hours(self) -> float:
        """Node hours that can be learned from."""
        return sum(one.end - one.start for one in self.stretches) / HOUR


def timeline(record: Record, incidents: Sequence[Incident]) -> Timeline:
    """Return the stretches of `record`; `incidents` are those of its node."""
    told = known(signs(record), incidents, record)
    closed, left_out = _closed(record, incidents, told.doubtful)
    failures = [
        one for one in told.failures if not any(begin <= one.time < end for begin, end in closed)
    ]
    repairs = [(one.time + AFTERMATH_SECONDS, _repaired(record, one)) for one in failures]
    left_out[LeftOut.REPAIR] += _hours(repairs)
    whole = [*closed, *((a, b) for a, b in repairs if b > a)]
    cut: list[Stretch] = []
    lost = [(one.time, until) for one, (_, until) in zip(failures, repairs, strict=True)]
    for begin, end in _free(record, whole, lost):
        cut.extend(_cut(begin, end, [one for one in failures if begin <= one.time < end]))
    kept = tuple(one for one in cut if one.end - one.start >= LEAST_SECONDS)
    left_out[LeftOut.SHORT] += _hours((o.start, o.end) for o in cut if o not in kept)
    return Timeline(record.node, kept, +left_out, regimes(record), record.lost.conflicts)


def _closed(
    record: Record, incidents: Sequence[Incident], unjudged: Sequence[float]
) -> tuple[list[tuple[float, float]], Counter[LeftOut]]:
    """Return the windows that prove nothing, with their hours by reason."""
    silent = ~np.asarray(record.present.any(0)) if record.uuids else np.ones(record.steps, bool)
    long = [(a, b) for a, b in stretches(silent) if (b - a) * STEP_SECONDS > GAP_SECONDS]
    gaps = [
        (record.start + a * float(STEP_SECONDS), record.start + b * float(STEP_SECONDS))
        for a, b in long
    ]
    planned = [(o.start, o.end or o.start) for o in incidents if o.cause == PLANNED]
    doubted = [(time - UNJUDGED_SECONDS, time + UNJUDGED_SECONDS) for time in unjudged]
    hours = Counter({LeftOut.PLANNED: _hours(planned), LeftOut.UNJUDGED: _hours(doubted)})
    hours.update(_silent_hours(record.lost, long))
    return [*gaps, *planned, *doubted], hours


def _silent_hours(lost: Lost, gaps: Sequence[tuple[int, int]]) -> dict[LeftOut, int]:
    """Return the hours of gaps (steps) by what they are of, and those without counters."""
    silent = np.zeros(len(lost.empty), dtype=bool)
    for begin, end in gaps:
        silent[begin:end] = True
    marked = {
        LeftOut.EMPTY: silent & lost.empty,
        LeftOut.COARSE: silent & lost.coarse,
        LeftOut.GAP: silent & ~lost.empty & ~lost.coarse,
        LeftOut.MIXED: lost.mixed,
    }
    return {one: round(int(steps.sum()) * STEP_SECONDS / HOUR) for one, steps in marked.items()}


def _repaired(record: Record, failure: Failure) -> float:
    """Return when the node is whole again: the GPU works, or another has taken its place."""
    soonest = failure.time + AFTERMATH_SECONDS
    if not failure.uuid:
        return soonest
    step = int((failure.time - record.start) // STEP_SECONDS)
    works = _works(record, record.uuids.index(failure.uuid), step)
    well = [begin for begin, end in stretches(works) if begin > step and end - begin >= WELL_STEPS]
    fresh = [int(np.argmax(one)) for one in record.present if one.any()]
    steps = [*well[:1], *(first for first in fresh if first > step), record.steps]
    return max(soonest, record.start + min(steps) * float(STEP_SECONDS))


def _works(record: Record, gpu: int, failed: int) -> NDArray[np.bool_]:
    """Mark [step] at which a GPU reports and shows no sign of the failure any more.

    A code stays latched until the source restarts, so after a day it says nothing.
    """
    flagged = (record.channel(REMAP_FAILED)[gpu] == 1.0) | np.isin(
        record.channel(ACTION)[gpu], ACTIONS
    )
    latched = np.isin(record.channel(dcgm.LATCHED)[gpu], tuple(HARDWARE))
    latched[failed + LATCH_STEPS :] = False
    return np.asarray(record.present[gpu] & ~flagged & ~latched)


def _free(
    record: Record, closed: list[tuple[float, float]], lost: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Return the complement of `closed`, cut where GPUs were exchanged; a `lost` one was not."""
    end = record.start + record.steps * float(STEP_SECONDS)
    free, at = [], float(record.start)
    for begin, after in sorted(closed):
        if begin > at:
            free.append((at, begin))
        at = max(at, after)
    if at < end:
        free.append((at, end))
    for border in _exchanges(record):
        if any(begin <= border <= after for begin, after in lost):
            continue
        free = [
            part
            for a, b in free
            for part in (((a, border), (border, b)) if a < border < b else ((a, b),))
        ]
    return free


def _exchanges(record: Record) -> list[float]:
    """Return when a GPU came that was not there before, or left for good."""
    steps = set()
    for present in record.present:
        heard = np.flatnonzero(present)
        if len(heard):
            steps |= {int(heard[0]), int(heard[-1]) + 1}
    inside = {step for step in steps if 0 < step < record.steps}
    return [record.start + step * float(STEP_SECONDS) for step in sorted(inside)]


def _cut(begin: float, end: float, failures: list[Failure]) -> list[Stretch]:
    """Cut one free interval at its failures, and the quiet between them to weeks."""
    out: list[Stretch] = []
    at = begin
    for one in failures:
        if one.time < at:
            continue
        first = max(at, one.time - RECORD_SECONDS)
        out += _weeks(at, first)
        out.append(Stretch(first, min(end, one.time + AFTERMATH_SECONDS), one))
        at = out[-1].end
    return out + _weeks(at, end)


def _weeks(begin: float, end: float) -> list[Stretch]:
    count = int(np.ceil((end - begin) / RECORD_SECONDS))
    edges = [begin + week * RECORD_SECONDS for week in range(count)] + [end]
    return [Stretch(a, b, None) for a, b in pairwise(edges)]


def _hours(windows: Iterable[tuple[float, float]]) -> int:
    """Return whole hours, and one for less: what is left out is never told as nothing."""
    hours = sum(max(0.0, b - a) for a, b in windows) / HOUR
    return max(1, round(hours)) if hours > 0 else 0
