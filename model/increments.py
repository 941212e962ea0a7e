"""Counters as reset-aware increments per step: one function for the exporter and for training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from model.schema import BY_NAME, STEP_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

RESTARTED = 0.5
"""A counter that runs for days does not get half as far again within one step."""

POWER_LIMIT = "gpu_power_limit_watts"
BOARD_ENERGY, NODE_ENERGY = "gpu_energy_joules_total", "node_energy_joules_total"
BOARD_WATTS = BY_NAME["gpu_power_watts"].high
NODE_WATTS = BY_NAME["node_power_watts"].high
"""Beyond the schema's range a power is no reading, so what it would add up to is none either."""

LATE_STEPS = 2
"""A page may be read late and show what was collected before: this much more time may have passed
between two readings than between their steps."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The most that counters can gain: `per_step` [step, ...], infinite where nothing is known.

    `ahead` [...] is the same at the reading ahead of the first step, which is
    `age` [...] steps older than it.
    """

    per_step: NDArray[np.float64]
    ahead: NDArray[np.float64]
    age: NDArray[np.float64]


def most_per_step(
    names: Sequence[str], limit_watts: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Return [..., counter], the most that each of `names` can gain in a grid step, None for all.

    `limit_watts` [...] is the power limit of the boards, NaN where it is not
    known: then it is the most that a reading of power may be.  A counter that
    does not count joules has no bound.
    """
    watts = {
        BOARD_ENERGY: np.where(np.isnan(limit_watts), BOARD_WATTS, limit_watts),
        NODE_ENERGY: np.full(limit_watts.shape, NODE_WATTS),
    }
    if not watts.keys() & set(names):
        return None
    endless = np.full(limit_watts.shape, np.inf)
    return np.stack([watts.get(name, endless) for name in names], axis=-1) * STEP_SECONDS


def increments(
    counters: NDArray[np.float64],
    before: NDArray[np.float64] | None = None,
    bound: Bound | None = None,
) -> NDArray[np.float64]:
    """Turn counter readings into increments along the first axis.

    `counters` is [step, ...] in float64, NaN where nothing was read; `before`
    is [...], the last known reading ahead of the first step (NaN: none).  A
    reading below `RESTARTED` of the last known one means that the counter
    restarted, so the increment is the new reading; a smaller fall is another
    copy of the same counter (a MIG instance, a replica), and the increment is
    not known.  The increment over a gap is given to the step that ends it.
    Steps without a reading, the first reading ever, and increments beyond
    `bound` are NaN.
    """
    if counters.dtype != np.float64:
        raise TypeError(
            f"counters must be float64, not {counters.dtype}: float32 steps by 4,096 at 5e10"
        )
    out = np.full_like(counters, np.nan)
    last = np.full(counters.shape[1:], np.nan) if before is None else before.astype(np.float64)
    gauge = None if bound is None else _Gauge(bound)
    for step, reading in enumerate(counters):
        seen = ~np.isnan(reading)
        known = seen & ~np.isnan(last)
        fell = known & (reading < np.where(known, last, -np.inf))
        restarted = fell & (reading < RESTARTED * np.where(known, last, np.inf))
        grown = known & ~fell
        gained = np.where(grown, reading - last, np.where(restarted, reading, np.nan))
        out[step] = gained if gauge is None else gauge.possible(step, gained, seen)
        last = np.where(seen, reading, last)
    return out


class _Gauge:
    """Remembers how long ago each counter was read, and what it could gain then."""

    def __init__(self, bound: Bound) -> None:
        self._per_step = bound.per_step
        self._last = bound.ahead
        self._since = bound.age

    def possible(
        self, step: int, gained: NDArray[np.float64], seen: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return [...] of one step: `gained`, NaN where so much cannot be in the time since."""
        now = self._per_step[step]
        most = np.fmax(now, self._last) * np.maximum(1.0, self._since + LATE_STEPS)
        self._last = np.where(seen, now, self._last)
        self._since = np.where(seen, 1.0, self._since + 1.0)
        return np.where(gained <= most, gained, np.nan)
