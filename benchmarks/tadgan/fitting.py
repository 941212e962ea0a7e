"""A common model over all series, then a copy of it tuned to each; and that several times.

The product trains like this: a fleet model first, then one per node.  The
weights of a series are kept in one file, so that scoring costs no training and
a run that was cut short goes on with the next series.
"""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from benchmarks.tadgan import stages
from model.training.network.published import PAPER, PublishedTadGan

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmarks.tadgan.series import Series
    from benchmarks.tadgan.stages import Stages
    from model.training.fitting.fit import Losses

WINDOW = PAPER.steps
POOL_WINDOWS = 200
"""Training windows of each series that the common model sees."""

MEMBERS = 4
SEED_STRIDE = 1_000

HELD_RATIO = 0.25
"""Of a training part of its own, its end: constants are frozen and scorings chosen on it."""

LEAST_HELD_STEPS = 2 * WINDOW


@dataclass(frozen=True, slots=True)
class Preset:
    """What decides the weights, besides the data: how long both models train, and the seed."""

    common: Stages
    own: Stages
    seed: int


@dataclass(frozen=True, slots=True)
class Scale:
    """The published scaling: the training part's range becomes [-1, 1]; nothing is clipped."""

    low: float
    high: float

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Scale:
        """Return the scale of a training part."""
        return cls(float(values.min()), float(values.max()))

    def __call__(self, values: NDArray[np.float64]) -> NDArray[np.float32]:
        """Scale [step]; a series that never moved is 0, and what leaves it is in its own unit."""
        width = self.high - self.low
        middle = (self.high + self.low) / 2
        return ((values - middle) / (width / 2 if width > 0 else 1.0)).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A model tuned to one series, and the CPU seconds that took."""

    tadgan: PublishedTadGan
    fit_seconds: float


def windows(values: NDArray[np.float32]) -> torch.Tensor:
    """Return [window, step, 1], one window from each step on."""
    views = np.lib.stride_tricks.sliding_window_view(values, WINDOW)
    return torch.from_numpy(views.copy()).unsqueeze(-1)


def held_from(one: Series) -> int:
    """Return the step from which a training part is kept out of the fit.

    Where there is no training part of its own, or one too short to share, the
    whole is fitted, and 0 is returned.
    """
    kept = int(len(one.train) * HELD_RATIO)
    return len(one.train) - kept if one.apart and kept >= LEAST_HELD_STEPS else 0


def _rows(one: Series) -> torch.Tensor:
    """Return the windows that may be fitted."""
    return windows(Scale.of(one.train)(one.train)[: held_from(one) or None])


class Common:
    """The model that all series share, with its critic of latents; kept at `path`."""

    def __init__(self, path: Path, preset: Preset) -> None:
        self._path = path
        self._preset = preset
        torch.manual_seed(preset.seed)
        self._tadgan = PublishedTadGan()
        self._latent: dict[str, torch.Tensor] = {}
        self.cpu_seconds = 0.0

    def fit(self, every: Sequence[Series]) -> None:
        """Train on a sample of each series' training windows, or take what an earlier run left."""
        if self._path.exists():
            kept = torch.load(self._path, weights_only=True)
            self.cpu_seconds = kept["cpu_seconds"]
            self._tadgan.load_state_dict(kept["tadgan"])
            self._latent = kept["latent"]
            self._tadgan.eval()
            return
        pool = torch.cat([self._sample(one, index) for index, one in enumerate(every)])
        began = time.process_time()
        stages.rebuild(self._tadgan, pool, self._preset.common, self._preset.seed)
        stages.whiten(self._tadgan, pool)
        self._latent = stages.play(
            self._tadgan, pool, self._preset.common, self._preset.seed, report=_tell
        )
        self.cpu_seconds = time.process_time() - began
        state = {
            "tadgan": self._tadgan.state_dict(),
            "latent": self._latent,
            "cpu_seconds": self.cpu_seconds,
        }
        _keep(self._path, state)

    def _sample(self, one: Series, index: int) -> torch.Tensor:
        every = _rows(one)
        rng = np.random.default_rng([self._preset.seed, index])
        return every[rng.integers(len(every), size=POOL_WINDOWS)]

    def tuned(self, one: Series) -> Fitted:
        """Return a copy that was trained on this series alone."""
        rows = _rows(one)
        torch.manual_seed(self._preset.seed)
        began = time.process_time()
        tadgan = copy.deepcopy(self._tadgan)
        stages.rebuild(tadgan, rows, self._preset.own, self._preset.seed)
        stages.play(tadgan, rows, self._preset.own, self._preset.seed, latent=self._latent)
        return Fitted(tadgan, time.process_time() - began)


class Members:
    """Several fits of each series, each from a common model of its own, kept under `folder`.

    A fit alone is a draw: the game ends elsewhere with each seed.
    """

    def __init__(self, folder: Path, preset: Preset) -> None:
        self._folders = [folder / str(member) for member in range(MEMBERS)]
        self._commons = [
            Common(own / "common.pt", replace(preset, seed=preset.seed + SEED_STRIDE * member))
            for member, own in enumerate(self._folders)
        ]

    @property
    def common_cpu_seconds(self) -> float:
        """What all common models took."""
        return sum(common.cpu_seconds for common in self._commons)

    def fit(self, every: Sequence[Series]) -> None:
        """Train the common models, or take what an earlier run left."""
        for own, common in zip(self._folders, self._commons, strict=True):
            own.mkdir(parents=True, exist_ok=True)
            common.fit(every)

    def tuned(self, one: Series) -> list[Fitted]:
        """Tune each to a series."""
        return [common.tuned(one) for common in self._commons]

    def kept(self, one: Series) -> list[Fitted]:
        """Return what `tuned` does, each from what an earlier run left where it did."""
        return [
            _kept(own / f"{one.group}-{one.name}.pt", common, one)
            for own, common in zip(self._folders, self._commons, strict=True)
        ]


def _kept(path: Path, common: Common, one: Series) -> Fitted:
    if not path.exists():
        save(path, common.tuned(one))
    return load(path)


def save(path: Path, fitted: Fitted) -> None:
    """Keep the weights."""
    _keep(path, {"tadgan": fitted.tadgan.state_dict(), "fit_seconds": fitted.fit_seconds})


def load(path: Path) -> Fitted:
    """Return what `save` kept."""
    kept = torch.load(path, weights_only=True)
    tadgan = PublishedTadGan()
    tadgan.load_state_dict(kept["tadgan"])
    tadgan.eval()
    return Fitted(tadgan, kept["fit_seconds"])


def _keep(path: Path, state: dict[str, object]) -> None:
    torch.save(state, path.with_suffix(".tmp"))
    path.with_suffix(".tmp").replace(path)


def _tell(iteration: int, losses: Losses) -> None:
    if iteration % 50 == 0:
        print(f"common model: iteration {iteration}, cycle {losses.cycle:.4f}", flush=True)
