"""How far today's inputs are from what the model was trained on, and whether it still counts.

An artefact tells the range in which each physical quantity lay while its
training nodes were healthy.  A quantity is outside while the median of the
node's GPUs is: one sick GPU is what the model is there for, a node all of
whose GPUs are strange is one that it does not know.  Averaged over a day, and
doubted are the quantities that were nearly always outside: a failing part is
repaired before that, a foreign machine is strange from the first minute.

What a node draws and how much coolant it takes goes by its number of GPUs, and
that number is no range: a model that never saw a node of two doubts itself there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from model.artefact import ArtefactInfo

HALF_LIFE_HOURS = 24.0
"""In the model's own time."""

SETTLED = 0.95
"""Share outside of a quantity that is strange for good: in range until then, after 104 hours."""


class Doubt(StrEnum):
    """Why the model in force may not drive remediation."""

    DRIFTED = "drifted"
    STALE = "stale"
    GPU_COUNT = "gpu_count"


@dataclass(frozen=True, slots=True)
class Drift:
    """Averages per channel with a training range, in the artefact's order, both in [0, 1].

    `outside` is the weight of the steps that lay outside, `seen` of all steps
    that were read: a young average is a true share and not a small one.
    """

    outside: NDArray[np.float64]
    seen: NDArray[np.float64]

    def fits(self, info: ArtefactInfo) -> bool:
        """Tell whether there is one average per training range of the artefact."""
        return len(self.outside) == len(self.seen) == len(info.training_ranges)

    def after(self, row: NDArray[np.float64], info: ArtefactInfo) -> Drift:
        """Return the averages one grid step later; `row` is [gpu, ranged channel], NaN missing."""
        if not len(self.outside):
            return self
        keep = 2.0 ** (-info.step_seconds / (HALF_LIFE_HOURS * 3600))
        low, high = np.array(list(info.training_ranges.values())).T
        known = ~np.isnan(row).all(axis=0)
        middle = np.zeros(len(low))
        middle[known] = np.nanmedian(row[:, known], axis=0)
        strange = (middle < low) | (middle > high)
        return replace(
            self,
            outside=np.where(known, keep * self.outside + (1 - keep) * strange, self.outside),
            seen=np.where(known, keep * self.seen + (1 - keep), self.seen),
        )

    @property
    def ratio(self) -> float | None:
        """Share of the channels' recent readings outside; None while none of them was read."""
        known = self.seen > 0
        if not known.any():
            return None
        return float((self.outside[known] / self.seen[known]).mean())

    @property
    def settled(self) -> float:
        """Share of the channels that were read which lie outside for good; 0 of none."""
        known = self.seen > 0
        return float(
            (self.outside[known] >= SETTLED * self.seen[known]).sum() / max(1, known.sum())
        )

    def by_channel(self, info: ArtefactInfo) -> Mapping[str, float]:
        """Return the share of recent readings outside, of each channel that was outside at all."""
        pairs = zip(info.training_ranges, self.outside, self.seen, strict=True)
        return {name: float(out / seen) for name, out, seen in pairs if out > 0}


def unknown() -> Drift:
    """Return the averages of a model that tells no range."""
    return Drift(np.zeros(0), np.zeros(0))


def cold(info: ArtefactInfo) -> Drift:
    """Return the averages of a model that has seen nothing here."""
    channels = len(info.training_ranges)
    return Drift(np.zeros(channels), np.zeros(channels))


@dataclass(frozen=True, slots=True)
class Trust:
    """Where doubt begins: share outside for good, seconds since the training (None: no limit).

    With `any_gpu_count` a model counts on nodes with other numbers of GPUs than it has seen.
    """

    drift_limit_ratio: float
    stale_after_seconds: float | None
    any_gpu_count: bool = False

    def doubts(
        self, info: ArtefactInfo, drift: Drift, *, gpus: int | None, wall: float
    ) -> frozenset[Doubt]:
        """Return why a model may not drive remediation at `wall` (seconds since the epoch).

        `gpus` is how many the node has, None while nobody knows.
        """
        limit = self.stale_after_seconds
        holds = {
            Doubt.DRIFTED: drift.settled > self.drift_limit_ratio,
            Doubt.STALE: limit is not None and wall - info.trained_timestamp > limit,
            Doubt.GPU_COUNT: not self.any_gpu_count and _never_seen(gpus, info.training.gpus),
        }
        return frozenset(doubt for doubt, held in holds.items() if held)


def _never_seen(gpus: int | None, trained: tuple[int, ...]) -> bool:
    return gpus is not None and bool(trained) and gpus not in trained


UNLIMITED = Trust(drift_limit_ratio=1.0, stale_after_seconds=None, any_gpu_count=True)
