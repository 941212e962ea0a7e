"""When a node began to be measured otherwise: a step of all its GPUs that a restart brought.

A new dcgm-exporter can keep idle chips awake, or ask the driver in another way;
a new driver rests at other clocks.  Nothing is ill after it, and nothing is as
before: one scale over both would be of neither.  No series tells the exporter's
version, so the step itself is what is looked for: power at rest, since work
explains every other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from model.history.failures import POWER, UTILISATION, stretches
from model.schema import STEP_SECONDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from model.history.record import Record

STEP_WATTS = 10.0
"""A change of less than this at rest moves no scale: it is the floor of a scale for power."""
ALIKE = 0.5
"""Each GPU's step is at least this share of the middle one, and of each step so much stays."""
REST_STEPS = 30
"""So many steps of rest on either side tell a level; the nearest ones are taken."""
SETTLING_STEPS = 10
"""A chip that has just come to rest, or back, is still on its way."""
REACH_STEPS = 24 * 60
"""Rest that lies further from a restart than this says nothing of it, and so long a step stays."""


@dataclass(frozen=True, slots=True)
class Regime:
    """From `start` (wall-clock seconds) on, every GPU at rest draws `watts` more than before."""

    start: float
    watts: float


def regimes(record: Record) -> tuple[Regime, ...]:
    """Return where a restart of the source or a change of driver began another regime."""
    if not record.uuids:
        return ()
    power = np.where(_resting(record), record.channel(POWER), np.nan)
    found = []
    for step in _restarts(record):
        watts = _step(power, step)
        if watts is not None:
            found.append(Regime(record.start + step * float(STEP_SECONDS), watts))
    return tuple(found)


def _restarts(record: Record) -> list[int]:
    """Return the first steps after the source was silent, or under another driver."""
    silent = stretches(~np.asarray(record.present.any(0)))
    back = {end for begin, end in silent if begin > 0 and end < record.steps}
    return sorted(back | set(map(int, np.flatnonzero(record.changed))))


def _resting(record: Record) -> NDArray[np.bool_]:
    """Mark [gpu, step] at which a GPU did nothing, nor had in the steps before."""
    busy = ~(record.channel(UTILISATION) == 0.0)
    lately = busy.copy()
    for steps in range(1, SETTLING_STEPS):
        lately[:, steps:] |= busy[:, :-steps]
    return np.asarray(~lately)


def _step(power: NDArray[np.float64], step: int) -> float | None:
    """Return by how many watts all GPUs [gpu, step] rest higher from `step` on; None: no step."""
    before = power[:, max(0, step - REACH_STEPS) : step][:, ::-1]
    after = power[:, step + SETTLING_STEPS : step + REACH_STEPS]
    levels = [
        (_level(old), _level(new), _level(new[::-1]))
        for old, new in zip(before, after, strict=True)
    ]
    known = np.array([one for one in levels if not np.isnan(one).any()])
    # GPUs that did not rest on both sides leave it to the others, while these are half of all.
    if not len(known) or 2 * len(known) < len(power):
        return None
    steps, stays = known[:, 1] - known[:, 0], known[:, 2] - known[:, 0]
    middle = float(np.median(steps))
    if abs(middle) < STEP_WATTS:
        return None
    together = (steps / middle >= ALIKE).all()
    flat = (np.abs(stays / middle - 1.0) <= ALIKE).all()
    return middle if together and flat else None


def _level(power: NDArray[np.float64]) -> float:
    """Return the middle of the first steps of rest in [step]; NaN of too few."""
    rest = power[~np.isnan(power)][:REST_STEPS]
    return float(np.median(rest)) if len(rest) == REST_STEPS else float("nan")
