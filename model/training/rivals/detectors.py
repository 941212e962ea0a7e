"""PCA with T² and Q, and an isolation forest: fitted on the healthy nodes that training saw."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from model.training.rivals.features import Healthy, recent
from model.training.rivals.rival import Rival

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from model.training.episodes.dataset import Episode

    Rows = NDArray[np.float64]
    """[row, channel], standardised."""

EXPLAINED = 0.95
"""Share of the healthy variance that the kept components explain."""

LIMIT_QUANTILE = 0.99
"""Where a control limit is usually put."""

ALERT_QUANTILE = 0.999
"""A detector alerts by itself above this quantile of held-out healthy moments."""

TREES, SAMPLE, DEPTH = 100, 256, 8
"""As published (Liu, Ting, Zhou 2008)."""

EULER = 0.5772156649


class Detector(Protocol):
    """Gives rows an unbounded score, the higher the stranger."""

    def __call__(self, rows: Rows) -> NDArray[np.float64]:
        """Return [row]."""


@dataclass(frozen=True, slots=True)
class Pca:
    """Hotelling's T² inside the kept components, squared error Q outside, each over its limit."""

    axes: NDArray[np.float64]
    variance: NDArray[np.float64]
    limits: tuple[float, float]

    @classmethod
    def of(cls, rows: Rows) -> Pca:
        """Fit on healthy rows."""
        variance, axes = np.linalg.eigh(np.cov(rows, rowvar=False))
        variance, axes = variance[::-1], axes[:, ::-1]
        kept = int(np.searchsorted(np.cumsum(variance) / variance.sum(), EXPLAINED)) + 1
        free = cls(axes[:, :kept], np.maximum(variance[:kept], 1e-9), (1.0, 1.0))
        inside, outside = free.statistics(rows)
        limits = (np.quantile(inside, LIMIT_QUANTILE), np.quantile(outside, LIMIT_QUANTILE))
        return cls(free.axes, free.variance, (float(limits[0]), float(limits[1])))

    def statistics(self, rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return T² and Q [row]."""
        scores = rows @ self.axes
        rest = rows - scores @ self.axes.T
        return (scores**2 / self.variance).sum(1), (rest**2).sum(1)

    def __call__(self, rows: Rows) -> NDArray[np.float64]:
        """Return the larger of both, over their limits."""
        inside, outside = self.statistics(rows)
        return np.maximum(inside / self.limits[0], outside / self.limits[1])


class Forest:
    """Isolation forest; a tree is three arrays over a complete binary tree."""

    def __init__(self, rows: Rows, rng: np.random.Generator) -> None:
        size = 2 ** (DEPTH + 1) - 1
        self._channel = np.zeros((TREES, size), np.int64)
        self._cut = np.full((TREES, size), np.inf)
        self._path = np.zeros((TREES, size))
        self._norm = _expected_path(min(SAMPLE, len(rows)))
        for tree in range(TREES):
            sample = rows[rng.choice(len(rows), min(SAMPLE, len(rows)), replace=False)]
            self._grow(tree, 0, sample, 0, rng)

    def _grow(
        self, tree: int, place: int, rows: Rows, depth: int, rng: np.random.Generator
    ) -> None:
        spread = np.ptp(rows, axis=0) if len(rows) else np.zeros(1)
        if depth == DEPTH or len(rows) <= 1 or not spread.any():
            self._path[tree, place] = depth + _expected_path(len(rows))
            self._stretch(tree, place, depth)
            return
        channel = int(rng.choice(np.flatnonzero(spread)))
        low = rows[:, channel].min()
        cut = float(rng.uniform(low, low + spread[channel]))
        self._channel[tree, place], self._cut[tree, place] = channel, cut
        above = rows[:, channel] >= cut
        self._grow(tree, 2 * place + 1, rows[~above], depth + 1, rng)
        self._grow(tree, 2 * place + 2, rows[above], depth + 1, rng)

    def _stretch(self, tree: int, place: int, depth: int) -> None:
        """Carry a leaf's path down the left edge, where an endless cut leads every row."""
        below = place
        for _ in range(depth, DEPTH):
            below = 2 * below + 1
            self._path[tree, below] = self._path[tree, place]

    def __call__(self, rows: Rows) -> NDArray[np.float64]:
        """Return 2^(-path / expected path): near 1 is strange, 0.5 ordinary."""
        path = np.zeros(len(rows))
        each = np.arange(len(rows))
        for channel, cut, reached in zip(self._channel, self._cut, self._path, strict=True):
            place = np.zeros(len(rows), np.int64)
            for _ in range(DEPTH):
                place = 2 * place + 1 + (rows[each, channel[place]] >= cut[place])
            path += reached[place]
        return np.asarray(np.exp2(-path / TREES / self._norm))


def _expected_path(rows: int) -> float:
    """Mean length of an unsuccessful search in a binary tree of so many rows."""
    if rows <= 1:
        return 0.0
    if rows == 2:
        return 1.0
    return 2.0 * (math.log(rows - 1.0) + EULER) - 2.0 * (rows - 1.0) / rows


def fitted(
    name: str,
    make: Callable[[Rows], Detector],
    healthy: Sequence[NDArray[np.float64]],
    held: Sequence[NDArray[np.float64]],
) -> Rival:
    """Fit a detector on healthy features [moment, gpu, channel] and set its level on held-out ones.

    A node scores as its strangest GPU does.
    """
    rows = np.concatenate([part.reshape(-1, part.shape[-1]) for part in healthy])
    scale = Healthy.of(rows)
    detector = make(scale.standardise(rows))

    def of(features: NDArray[np.float64]) -> NDArray[np.float64]:
        flat = scale.standardise(features.reshape(-1, features.shape[-1]))
        return np.asarray(detector(flat).reshape(features.shape[:2]).max(1))

    level = float(np.quantile(np.concatenate([of(part) for part in held]), ALERT_QUANTILE))

    def score(episode: Episode, steps: NDArray[np.int64]) -> NDArray[np.float64]:
        return of(recent(episode, steps))

    return Rival(name, level, score)
