"""What the fits of a series make of it: of both parts, and of made-up anomalies."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from benchmarks.tadgan import errors, trials
from benchmarks.tadgan.fitting import WINDOW, Scale, held_from, windows
from benchmarks.tadgan.view import View, starts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from benchmarks.tadgan.errors import Seen
    from benchmarks.tadgan.series import Interval, Series
    from model.training.network.published import PublishedTadGan

BATCH = 128


@dataclass(frozen=True, slots=True)
class Look:
    """One part of a series by the fits of it: the windows of each, and what they say by step."""

    views: tuple[View, ...]
    seen: tuple[Seen, ...]

    @property
    def values(self) -> NDArray[np.float32]:
        """The part itself, scaled."""
        return self.views[0].values


class Looks(NamedTuple):
    """Both parts, which are one where a set has no training part of its own, and CPU seconds."""

    train: Look
    test: Look
    cpu_seconds: float


class Spoilt(NamedTuple):
    """A training part with one made-up anomaly at `truth`."""

    draw: int
    look: Look
    truth: Interval


def looks(one: Series, members: Sequence[PublishedTadGan]) -> Looks:
    """Look at both parts."""
    scale = Scale.of(one.train)
    began = time.process_time()
    train = look(members, scale(one.train))
    test = look(members, scale(one.test)) if one.apart else train
    return Looks(train, test, time.process_time() - began)


def spoilt(
    one: Series, members: Sequence[PublishedTadGan], train: Look, seed: int
) -> Iterator[Spoilt]:
    """Look at made-up anomalies, in what is held where there is such."""
    scale = Scale.of(one.train)
    for trial in trials.make(one.train, held_from(one), [seed, len(one.train)]):
        again = look_again(members, train, scale(trial.values), trial.truth)
        yield Spoilt(trial.draw, again, trial.truth)


def look(members: Sequence[PublishedTadGan], values: NDArray[np.float32]) -> Look:
    """Run every member over every window that is looked at."""
    first_steps = starts(len(values), WINDOW)
    views = tuple(View(values, *_run(member, values, first_steps)) for member in members)
    return Look(views, tuple(errors.seen(view) for view in views))


def look_again(
    members: Sequence[PublishedTadGan],
    before: Look,
    values: NDArray[np.float32],
    changed: Interval,
) -> Look:
    """Return the look at `values`, which differ from those `before` in one stretch alone."""
    views = tuple(
        _view_again(member, view, values, changed)
        for member, view in zip(members, before.views, strict=True)
    )
    seen = (
        errors.seen_again(was, view, changed) for was, view in zip(before.seen, views, strict=True)
    )
    return Look(views, tuple(seen))


def _view_again(
    tadgan: PublishedTadGan, before: View, values: NDArray[np.float32], changed: Interval
) -> View:
    first, last = changed
    touched = (before.starts + WINDOW > first) & (before.starts <= last)
    rebuilt, critic = before.rebuilt.copy(), before.critic.copy()
    rebuilt[touched], critic[touched] = _run(tadgan, values, before.starts[touched])
    return View(values, rebuilt, critic)


def _run(
    tadgan: PublishedTadGan, values: NDArray[np.float32], first_steps: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    rebuilt, critic = [], []
    with torch.no_grad():
        for batch in windows(values)[torch.from_numpy(first_steps)].split(BATCH):
            made, judged = tadgan(batch, torch.ones_like(batch))
            rebuilt.append(made.squeeze(-1).numpy())
            critic.append(judged.numpy())
    return np.concatenate(rebuilt), np.concatenate(critic)
