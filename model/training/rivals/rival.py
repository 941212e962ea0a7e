"""What a rival is, and the rolling windows that rules are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from model.training.episodes.dataset import Episode

    Condition = NDArray[np.bool_]
    """[gpu, step]."""
    Score = Callable[[Episode, NDArray[np.int64]], NDArray[np.float64]]
    """Episode and the steps that are looked at → score of the node [moment]."""


@dataclass(frozen=True, slots=True)
class Rival:
    """A name, a score, and the level at which it alerts by itself."""

    name: str
    threshold: float
    score: Score


class Seen:
    """The channels of an episode by name, each float64 [gpu, step]; counters are increments."""

    def __init__(self, episode: Episode) -> None:
        self._readings = episode.readings
        self._names = episode.channels

    def __call__(self, name: str) -> NDArray[np.float64]:
        """Return one channel, all missing where nothing reads it."""
        if name not in self._names:
            return np.full(self._readings.shape[:2], np.nan)
        return self._readings[:, :, self._names.index(name)].astype(np.float64)

    @property
    def reports(self) -> Condition:
        """Whether a GPU's row holds anything of its own."""
        own = [i for i, name in enumerate(self._names) if name.startswith("gpu_")]
        return np.asarray(~np.isnan(self._readings[:, :, own]).all(-1))


def total(values: NDArray[np.float64], minutes: int) -> NDArray[np.float64]:
    """Sum over the latest `minutes`, what is missing counting as nothing."""
    whole = np.cumsum(np.nan_to_num(values), axis=1)
    before = np.zeros_like(whole)
    before[:, minutes:] = whole[:, :-minutes]
    return np.asarray(whole - before)


def held(condition: Condition, minutes: int) -> Condition:
    """Whether a condition was true in each of the latest `minutes`."""
    return np.asarray(total(condition.astype(np.float64), minutes) >= minutes - 0.5)


def since_last_look(values: NDArray[np.float64], steps: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the highest of `values` [step] since the look before, at each of `steps`."""
    return np.maximum.reduceat(values[: steps[-1] + 1], np.concatenate(([0], steps[:-1] + 1)))
