"""What the scorers start from: reconstruction errors and critic values by step (published forms).

Every function takes a series' view and sees all of it; which of it a scorer
may use at which step is the scorer's matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.tadgan.view import STRIDE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.tadgan.series import Interval
    from benchmarks.tadgan.view import View

    Steps = NDArray[np.float64]
    """One value per step."""

AREA_STEPS = 10
DTW_STEPS = 11


class Seen(NamedTuple):
    """What all windows that cover a step say of it: its value rebuilt, and the critic's."""

    guess: Steps
    critic: Steps


def seen(view: View) -> Seen:
    """Return it for every step."""
    return Seen(rebuilt(view), critic(view))


def seen_again(before: Seen, view: View, changed: Interval) -> Seen:
    """Return `seen` of a view that differs in one stretch alone from what was seen `before`."""
    reach = view.window_steps - 1
    first = max(changed[0] - reach, 0)
    end = min(changed[1] + reach + 1, len(view.values))
    begin, near = view.around(first, end - 1)
    out = Seen(before.guess.copy(), before.critic.copy())
    for whole, part in zip(out, seen(near), strict=True):
        whole[first:end] = part[first - begin : end - begin]
    return out


def rebuilt(view: View) -> Steps:
    """Return the median of all windows that cover a step."""
    return np.nanmedian(_covering(view, view.rebuilt), axis=1)


def point(values: Steps, guess: Steps) -> Steps:
    """Return the absolute difference at each step."""
    return np.abs(values - guess)


def area(values: Steps, guess: Steps) -> Steps:
    """Return the difference of the areas under both curves, over `AREA_STEPS` around each step."""
    difference = values - guess
    between = np.concatenate(([0.0], np.cumsum((difference[1:] + difference[:-1]) / 2)))
    half = AREA_STEPS // 2
    steps = np.arange(len(values))
    last, first = np.minimum(steps + half, len(values) - 1), np.maximum(steps - half, 0)
    return np.asarray(np.abs(between[last] - between[first]))


def dtw(values: Steps, guess: Steps) -> Steps:
    """Return the cost of the best warping of both curves, over `DTW_STEPS` around each step."""
    half = DTW_STEPS // 2
    ours = np.lib.stride_tricks.sliding_window_view(np.pad(values, half, mode="edge"), DTW_STEPS)
    theirs = np.lib.stride_tricks.sliding_window_view(np.pad(guess, half, mode="edge"), DTW_STEPS)
    best = np.full((DTW_STEPS + 1, DTW_STEPS + 1, len(values)), np.inf)
    best[0, 0] = 0.0
    for i in range(DTW_STEPS):
        for j in range(DTW_STEPS):
            cheapest = np.minimum(np.minimum(best[i, j], best[i, j + 1]), best[i + 1, j])
            best[i + 1, j + 1] = (ours[:, i] - theirs[:, j]) ** 2 + cheapest
    return np.asarray(np.sqrt(best[-1, -1]))


def critic(view: View) -> Steps:
    """Return the likeliest of the critic's values of the windows that cover a step.

    The likeliest is where a Gaussian kernel density over the values, with
    Scott's bandwidth, is highest among them.
    """
    spread = np.repeat(view.critic[:, np.newaxis], view.rebuilt.shape[1], axis=1)
    values = _covering(view, spread)
    count = (~np.isnan(values)).sum(axis=1)
    width = np.maximum(np.nanstd(values, axis=1) * count**-0.2, 1e-9)
    densest = np.full(len(values), -1.0)
    likeliest = np.zeros(len(values))
    for column in values.T:
        away = (values - column[:, np.newaxis]) / width[:, np.newaxis]
        density = np.nansum(np.exp(-0.5 * away * away), axis=1)
        better = ~np.isnan(column) & (density > densest)
        likeliest[better], densest[better] = column[better], density[better]
    return likeliest


def _covering(view: View, values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return [step, window]: for each step the values that its windows hold of it, NaN beyond."""
    length = values.shape[1]
    slots = -(-length // STRIDE) + 1
    out = np.full((len(view.values), slots), np.nan)
    for offset in range(length):
        steps = view.starts + offset
        out[steps, offset // STRIDE] = values[:, offset]
    return out
