"""The published scorer: smooths with the future, and standardises by the series it is shown.

Geiger et al. 2020 name ten scores: a critic's, three reconstruction errors, and
their products and sums with the critic's.  Where several fits look at a series,
their standardised scores are joined before any of the ten is made of them.
Thresholds are set in windows of a third of the series, detections are padded,
merged and pruned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.tadgan import errors
from benchmarks.tadgan.intervals import merged, runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from benchmarks.tadgan.errors import Seen
    from benchmarks.tadgan.series import Interval

SMOOTHING_RATIO = 0.01
WINDOW_RATIO, WINDOW_STEP_RATIO = 0.33, 0.1
DEVIATIONS = 4.0
PADDING_STEPS = 50
LEAST_DROP_RATIO = 0.13
"""Of detections sorted by their peaks, those after the last fall by this much are noise."""

SCORES = (
    "critic", "point", "area", "dtw",
    "critic x point", "critic x area", "critic x dtw",
    "critic + point", "critic + area", "critic + dtw",
)  # fmt: skip
PAPERS_SCORE = "critic x dtw"
"""The paper's one for all sets."""


class Parts(NamedTuple):
    """Standardised scores by step, 1 and more: the critic's, and each reconstruction error's."""

    critic: NDArray[np.float64]
    error: dict[str, NDArray[np.float64]]


def parts(values: NDArray[np.floating], members: Sequence[Seen]) -> Parts:
    """Return what all ten scores are made of, from what each fit saw of the series `values`."""
    each = [_of_member(values.astype(np.float64), seen) for seen in members]
    return Parts(
        joined([one.critic for one in each]),
        {name: joined([one.error[name] for one in each]) for name in each[0].error},
    )


def joined(members: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the geometric mean of the scores of several fits: one fit's own peak weighs little."""
    return np.asarray(np.exp(np.mean(np.log(members), axis=0)))


def score(known: Parts, name: str) -> NDArray[np.float64]:
    """Return one of `SCORES` by step."""
    _, sign, error = name.rpartition(" x ") if " x " in name else name.rpartition(" + ")
    if name == "critic":
        return known.critic
    if not sign:
        return known.error[name]
    if sign == " x ":
        return known.critic * known.error[error]
    return 0.5 * (known.critic - 1.0) + 0.5 * (known.error[error] - 1.0)


def detect(scores: NDArray[np.float64]) -> list[Interval]:
    """Return what stands out of its third of the series, padded, pruned and merged."""
    length = max(1, int(len(scores) * WINDOW_RATIO))
    stride = max(1, int(length * WINDOW_STEP_RATIO))
    found: list[Interval] = []
    first = 0
    while True:
        window = scores[first : first + length]
        found += [(first + a, first + b) for a, b in _in_window(window)]
        if first + length >= len(scores):
            return merged(found)
        first += stride


def _in_window(window: NDArray[np.float64]) -> Iterator[Interval]:
    limit = window.mean() + DEVIATIONS * window.std()
    padded = np.zeros(len(window), bool)
    for first, last in runs(window > limit):
        padded[max(0, first - PADDING_STEPS) : last + PADDING_STEPS + 1] = True
    stretches = runs(padded)
    if not stretches:
        return
    peaks = np.array([window[first : last + 1].max() for first, last in stretches])
    order = np.argsort(-peaks, kind="stable")
    beside = window[~padded].max() if not padded.all() else 0.0
    falls = -np.diff(np.append(peaks[order], beside)) / peaks[order]
    deep = np.flatnonzero(falls > LEAST_DROP_RATIO)
    for index in order[: deep[-1] + 1 if len(deep) else 0]:
        yield stretches[index]


def _of_member(values: NDArray[np.float64], seen: Seen) -> Parts:
    made = {
        "point": errors.point(values, seen.guess),
        "area": errors.area(values, seen.guess),
        "dtw": errors.dtw(values, seen.guess),
    }
    return Parts(_of_critic(seen.critic), {name: _of_error(one) for name, one in made.items()})


def _of_error(error: NDArray[np.float64]) -> NDArray[np.float64]:
    smooth = _smoothed(error)
    return np.clip(_standard(smooth), 0.0, None) + 1.0


def _of_critic(values: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = np.quantile(values, (0.25, 0.75))
    inner = values[(values >= low) & (values <= high)]
    spread = max(float(values.std()), 1e-9)
    return _smoothed(np.abs(values - inner.mean()) / spread + 1.0)


def _standard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray((values - values.mean()) / max(float(values.std()), 1e-9))


def _smoothed(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean around each step; at the ends of what there is."""
    half = min(200, max(1, int(len(values) * SMOOTHING_RATIO))) // 2
    sums = np.concatenate(([0.0], np.cumsum(values)))
    steps = np.arange(len(values))
    first, last = np.maximum(steps - half, 0), np.minimum(steps + half + 1, len(values))
    return np.asarray((sums[last] - sums[first]) / (last - first))
