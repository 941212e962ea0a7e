"""Counters as reset-aware increments per step: one function for the exporter and for training."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESTARTED = 0.5
"""A counter that runs for days does not get half as far again within one step."""


def increments(
    counters: NDArray[np.float64], before: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Turn counter readings into increments along the first axis.

    `counters` is [step, ...] in float64, NaN where nothing was read; `before`
    is [...], the last known reading ahead of the first step (NaN: none).  A
    reading below `RESTARTED` of the last known one means that the counter
    restarted, so the increment is the new reading; a smaller fall is another
    copy of the same counter (a MIG instance, a replica), and the increment is
    not known.  The increment over a gap is given to the step that ends it.
    Steps without a reading, and the first reading ever, are NaN.
    """
    if counters.dtype != np.float64:
        raise TypeError(
            f"counters must be float64, not {counters.dtype}: float32 steps by 4,096 at 5e10"
        )
    out = np.full_like(counters, np.nan)
    last = np.full(counters.shape[1:], np.nan) if before is None else before.astype(np.float64)
    for step, reading in enumerate(counters):
        seen = ~np.isnan(reading)
        known = seen & ~np.isnan(last)
        fell = known & (reading < np.where(known, last, -np.inf))
        restarted = fell & (reading < RESTARTED * np.where(known, last, np.inf))
        grown = known & ~fell
        out[step] = np.where(grown, reading - last, np.where(restarted, reading, np.nan))
        last = np.where(seen, reading, last)
    return out
