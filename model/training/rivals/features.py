"""What detectors without a memory are shown: the latest quarter hour of each GPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from model.schema import BY_NAME, Kind
from model.training.network.scaling import ACTION, HARDWARE_XIDS, PRECURSOR_XIDS, XID
from model.training.network.scorer import TAIL_STEPS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from model.training.episodes.dataset import Episode

SMALLEST_SPREAD = 0.02
LIMIT = 50.0
"""One absurd reading must not decide a whole score."""


def recent(episode: Episode, steps: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return [moment, gpu, channel]: means of gauges and flags, log of counts, NaN unobserved."""
    values = episode.readings.astype(np.float64)
    code = episode.channels.index(XID)
    values[:, :, code] = _evidence(values[:, :, code])
    action = episode.channels.index(ACTION)
    values[:, :, action] = np.clip(values[:, :, action], 0.0, 1.0)
    known = ~np.isnan(values)
    sums, counts = _rolling(np.where(known, values, 0.0), steps), _rolling(known, steps)
    counters = [BY_NAME[name].kind is Kind.COUNTER for name in episode.channels]
    mean = sums / np.maximum(counts, 1.0)
    shown = np.where(counters, np.log1p(np.maximum(sums, 0.0)), mean)
    return np.moveaxis(np.where(counts > 0, shown, np.nan), 1, 0)


def _evidence(codes: NDArray[np.float64]) -> NDArray[np.float64]:
    level = np.isin(codes, HARDWARE_XIDS) + 0.5 * np.isin(codes, PRECURSOR_XIDS)
    return np.where(np.isnan(codes), np.nan, level)


def _rolling(values: NDArray[np.generic], steps: NDArray[np.int64]) -> NDArray[np.float64]:
    whole = np.cumsum(values, axis=1, dtype=np.float64)
    padded = np.concatenate((np.zeros_like(whole[:, :1]), whole), axis=1)
    return np.asarray(padded[:, steps + 1] - padded[:, np.maximum(steps + 1 - TAIL_STEPS, 0)])


@dataclass(frozen=True, slots=True)
class Healthy:
    """Centre and spread [channel] of healthy rows."""

    centre: NDArray[np.float64]
    spread: NDArray[np.float64]

    @classmethod
    def of(cls, rows: NDArray[np.float64]) -> Healthy:
        """Learn from rows [row, channel]; a channel never seen keeps centre 0, spread 1."""
        known = ~np.isnan(rows)
        count = np.maximum(known.sum(0), 1)
        centre = np.where(known, rows, 0.0).sum(0) / count
        spread = np.sqrt((np.where(known, rows - centre, 0.0) ** 2).sum(0) / count)
        floored = np.maximum(spread, SMALLEST_SPREAD * np.maximum(1.0, np.abs(centre)))
        return cls(centre, np.where(known.any(0), floored, 1.0))

    def standardise(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return deviations, 0 where unobserved."""
        return np.nan_to_num(np.clip((rows - self.centre) / self.spread, -LIMIT, LIMIT))
