"""The product's networks and scorer on any series of many channels: fit, freeze, score causally.

Networks, losses and scorer are those of the artefact (`model.training`); only
the window's length and the number of channels differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from model.training.fitting.fit import Schedule, Trainer
from model.training.network.scaling import LIMIT
from model.training.network.scorer import Scorer, measure
from model.training.network.tadgan import Size, TadGan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from model.training.network.scorer import Raw

    Table = NDArray[np.float64]
    """Readings [step, channel] in the data's own units."""

SMALLEST = 1e-6
BATCH = 1024
MEMBERS = 3
SEED_STRIDE = 1_000
SCHEDULE = Schedule(iterations=400, critic_steps=1, patience_iterations=1_000_000)
"""One for all sets: nothing is shipped from here, a run is judged by what it detects."""

USUAL_QUANTILE = 0.99
MARGIN = 2.0
"""An alarm is a score above this multiple of what 99 % of healthy scores stay below."""


@dataclass(frozen=True, slots=True)
class Standard:
    """Mean and deviation per channel, frozen on healthy readings."""

    centre: NDArray[np.float64]
    scale: NDArray[np.float64]

    @classmethod
    def of(cls, healthy: Table) -> Standard:
        """Return those of healthy readings; a channel that never moved has a scale of 1."""
        spread = healthy.std(axis=0)
        still = spread < SMALLEST * np.maximum(1.0, np.abs(healthy.mean(axis=0)))
        return cls(healthy.mean(axis=0), np.where(still, 1.0, spread))

    def __call__(self, readings: Table) -> NDArray[np.float32]:
        """Standardise, within what the artefact holds."""
        scaled = (readings - self.centre) / self.scale
        return np.clip(scaled, -LIMIT, LIMIT).astype(np.float32)


class Detector:
    """Several TadGANs over windows of standardised readings [step, channel], scored as one.

    One fit alone is a draw: the game ends elsewhere with each seed.
    """

    def __init__(self, channels: int, steps: int, seed: int, members: int = MEMBERS) -> None:
        self.steps = steps
        self._channels = channels
        self._seeds = [seed + SEED_STRIDE * index for index in range(members)]
        self._members = [_drawn(channels, steps, one) for one in self._seeds]

    def fit(self, parts: Sequence[NDArray[np.float32]], schedule: Schedule) -> None:
        """Train each on every window of the healthy parts."""
        rows = torch.cat([self._windows(part) for part in parts])
        for tadgan, seed in zip(self._members, self._seeds, strict=True):
            Trainer(tadgan, schedule, seed).fit(rows, torch.ones_like(rows), lambda *_: None)

    def freeze(self, healthy: Sequence[NDArray[np.float32]]) -> list[Scorer]:
        """Return a scorer for each, whose constants are those of these healthy parts."""
        return [self._frozen(tadgan, healthy) for tadgan in self._members]

    def score(
        self, readings: NDArray[np.float32], scorers: Sequence[Scorer]
    ) -> NDArray[np.float64]:
        """Return the score of each step from the window that ends with it, NaN before the first.

        A score is a product of excesses, so the members' geometric mean is taken.
        """
        with torch.no_grad():
            each = [
                scorer(self._raw(tadgan, readings)).score.log()
                for tadgan, scorer in zip(self._members, scorers, strict=True)
            ]
        out = np.full(len(readings), np.nan)
        out[self.steps - 1 :] = torch.stack(each).mean(0).exp().numpy()
        return out

    def _frozen(self, tadgan: TadGan, healthy: Sequence[NDArray[np.float32]]) -> Scorer:
        scorer = Scorer(self._channels)
        raws = [self._raw(tadgan, part) for part in healthy]
        scorer.freeze(type(raws[0])(*(torch.cat(each) for each in zip(*raws, strict=True))))
        return scorer

    def _raw(self, tadgan: TadGan, readings: NDArray[np.float32]) -> Raw:
        parts = []
        with torch.no_grad():
            for batch in self._windows(readings).split(BATCH):
                seen = torch.ones_like(batch)
                rebuilt, critic = tadgan(batch, seen)
                parts.append(measure(batch, seen, rebuilt, critic))
        return type(parts[0])(*(torch.cat(each) for each in zip(*parts, strict=True)))

    def _windows(self, readings: NDArray[np.float32]) -> torch.Tensor:
        views = np.lib.stride_tricks.sliding_window_view(readings, self.steps, axis=0)
        return torch.from_numpy(np.ascontiguousarray(views.transpose(0, 2, 1)))


def _drawn(channels: int, steps: int, seed: int) -> TadGan:
    torch.manual_seed(seed)
    return TadGan(channels, Size(steps=steps))


class Pca:
    """The rival: Hotelling's T² and the residual Q of principal components, step by step."""

    def __init__(self, healthy: Table, kept_ratio: float = 0.9) -> None:
        self._standard = Standard.of(healthy)
        scaled = self._scaled(healthy)
        _, sizes, axes = np.linalg.svd(scaled, full_matrices=False)
        variances = sizes**2 / len(scaled)
        share = np.cumsum(variances) / variances.sum()
        kept = int(np.searchsorted(share, kept_ratio)) + 1
        self._axes, self._variances = axes[:kept], np.maximum(variances[:kept], SMALLEST)

    def statistics(self, readings: Table) -> NDArray[np.float64]:
        """Return [step, 2]: T² and Q."""
        scaled = self._scaled(readings)
        along = scaled @ self._axes.T
        rest = scaled - along @ self._axes
        return np.stack(((along**2 / self._variances).sum(axis=1), (rest**2).sum(axis=1)), axis=1)

    def _scaled(self, readings: Table) -> NDArray[np.float64]:
        return (readings - self._standard.centre) / self._standard.scale


def bar(healthy: NDArray[np.float64]) -> float:
    """Return the least score that is an alarm, from healthy scores (NaN where there is none)."""
    return MARGIN * float(np.nanquantile(healthy, USUAL_QUANTILE))
