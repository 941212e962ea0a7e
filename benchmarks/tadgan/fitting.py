"""One model over all series, then a copy of it tuned to each, and what it makes of that series.

The product trains like this: a fleet model first, then one per node.  What the
scorers need of a series is kept in one file, so that scoring costs no training
and a run that was cut short goes on with the next series.
"""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from benchmarks.tadgan import trials
from benchmarks.tadgan.view import View, starts
from model.training.fitting.fit import Losses, Trainer
from model.training.network.published import PAPER, PublishedTadGan

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmarks.tadgan.series import Interval, Series
    from model.training.fitting.fit import Schedule

WINDOW = PAPER.steps
POOL_WINDOWS = 200
"""Training windows of each series that the common model sees."""

BATCH = 512


@dataclass(frozen=True, slots=True)
class Preset:
    """What decides the weights, besides the data: how long both stages train, and the seed."""

    common: Schedule
    own: Schedule
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
    """The model's views of a series, and the CPU seconds spent.

    `trial` is the training part with made-up anomalies at `trial_truth`.
    """

    train: View
    test: View
    trial: View
    trial_truth: tuple[Interval, ...]
    fit_seconds: float
    look_seconds: float


def windows(values: NDArray[np.float32]) -> torch.Tensor:
    """Return [window, step, 1], one window from each step on."""
    views = np.lib.stride_tricks.sliding_window_view(values, WINDOW)
    return torch.from_numpy(views.copy()).unsqueeze(-1)


class Common:
    """The model that all series share, with its critic of latents; kept at `path`."""

    def __init__(self, path: Path, preset: Preset) -> None:
        self._path = path
        self._preset = preset
        torch.manual_seed(preset.seed)
        self._trainer = Trainer(PublishedTadGan(), preset.common, preset.seed)
        self.cpu_seconds = 0.0

    def fit(self, every: Sequence[Series]) -> None:
        """Train on a sample of each series' training windows, or take what an earlier run left."""
        if self._path.exists():
            kept = torch.load(self._path, weights_only=True)
            self.cpu_seconds = kept.pop("cpu_seconds")
            self._trainer.tadgan.load_state_dict(kept["tadgan"])
            self._trainer.latent_critic.load_state_dict(kept["latent"])
            self._trainer.tadgan.eval()
            return
        pool = torch.cat([self._sample(one, index) for index, one in enumerate(every)])
        began = time.process_time()
        self._trainer.fit(pool, torch.ones_like(pool), _tell)
        self.cpu_seconds = time.process_time() - began
        state = {
            "tadgan": self._trainer.tadgan.state_dict(),
            "latent": self._trainer.latent_critic.state_dict(),
            "cpu_seconds": self.cpu_seconds,
        }
        torch.save(state, self._path.with_suffix(".tmp"))
        self._path.with_suffix(".tmp").replace(self._path)

    def _sample(self, one: Series, index: int) -> torch.Tensor:
        every = windows(Scale.of(one.train)(one.train))
        rng = np.random.default_rng([self._preset.seed, index])
        return every[rng.integers(len(every), size=POOL_WINDOWS)]

    def tuned(self, one: Series) -> Fitted:
        """Return the views of a copy that was trained on this series alone."""
        scale = Scale.of(one.train)
        train = scale(one.train)
        rows = windows(train)
        torch.manual_seed(self._preset.seed)
        began = time.process_time()
        trainer = Trainer(copy.deepcopy(self._trainer.tadgan), self._preset.own, self._preset.seed)
        trainer.latent_critic.load_state_dict(self._trainer.latent_critic.state_dict())
        trainer.fit(rows, torch.ones_like(rows), lambda *_: None)
        fitted = time.process_time()
        on_train = look(trainer.tadgan, train)
        on_test = look(trainer.tadgan, scale(one.test)) if one.apart else on_train
        looked = time.process_time()
        spoilt, truth = trials.spoil(one.train, [self._preset.seed, len(one.train)])
        on_trial = look(trainer.tadgan, scale(spoilt))
        return Fitted(on_train, on_test, on_trial, truth, fitted - began, looked - fitted)


def look(tadgan: PublishedTadGan, values: NDArray[np.float32]) -> View:
    """Run the model over every window."""
    rebuilt, critic = [], []
    chosen = windows(values)[torch.from_numpy(starts(len(values), WINDOW))]
    with torch.no_grad():
        for batch in chosen.split(BATCH):
            made, judged = tadgan(batch, torch.ones_like(batch))
            rebuilt.append(made.squeeze(-1).numpy())
            critic.append(judged.numpy())
    return View(values, np.concatenate(rebuilt), np.concatenate(critic))


def save(path: Path, fitted: Fitted) -> None:
    """Keep the views."""
    temporary = path.with_suffix(".tmp.npz")
    parts = {"train": fitted.train, "test": fitted.test, "trial": fitted.trial}
    arrays = {
        f"{part}_{name}": getattr(view, name)
        for part, view in parts.items()
        for name in ("values", "rebuilt", "critic")
        if part == "train" or view is not fitted.train
    }
    seconds = np.array([fitted.fit_seconds, fitted.look_seconds])
    truth = np.array(fitted.trial_truth, np.int64).reshape(-1, 2)
    np.savez(temporary, seconds=seconds, trial_truth=truth, **arrays)
    temporary.replace(path)


def load(path: Path) -> Fitted:
    """Return what `save` kept."""
    with np.load(path) as kept:
        views = {
            part: View(kept[f"{part}_values"], kept[f"{part}_rebuilt"], kept[f"{part}_critic"])
            for part in ("train", "test", "trial")
            if f"{part}_values" in kept.files
        }
        fit_seconds, look_seconds = kept["seconds"]
        truth = tuple((int(first), int(last)) for first, last in kept["trial_truth"])
    test = views.get("test", views["train"])
    return Fitted(
        views["train"], test, views["trial"], truth, float(fit_seconds), float(look_seconds)
    )


def _tell(iteration: int, losses: Losses) -> None:
    if iteration % 50 == 0:
        print(f"common model: iteration {iteration}, cycle {losses.cycle:.4f}", flush=True)
