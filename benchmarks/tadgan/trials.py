"""Made-up anomalies in training parts, by which a scoring is chosen without any true label."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.tadgan.series import Interval

KINDS = ("spike", "shift", "freeze", "noise")
MARGIN_STEPS = 120


def spoil(
    values: NDArray[np.float64], seed: list[int], count: int = 3
) -> tuple[NDArray[np.float64], tuple[Interval, ...]]:
    """Return a copy of a training part [step] with `count` anomalies, and where they are."""
    rng = np.random.default_rng(seed)
    out = values.copy()
    spread = float(values.max() - values.min()) or 1.0
    room = len(values) // count
    truth = []
    for index in range(count):
        if room <= MARGIN_STEPS:
            break
        first = index * room + int(rng.integers(MARGIN_STEPS // 2, room - MARGIN_STEPS // 2))
        kind = str(rng.choice(KINDS))
        length = int(rng.integers(1, 4)) if kind == "spike" else int(rng.integers(20, 150))
        last = min(first + length, len(values)) - 1
        stretch = slice(first, last + 1)
        height = float(rng.choice((-1, 1)) * rng.uniform(0.3, 1.0)) * spread
        if kind in ("spike", "shift"):
            out[stretch] += height
        elif kind == "freeze":
            out[stretch] = values.mean() + height / 2
        else:
            out[stretch] += rng.normal(0.0, abs(height) / 2, last + 1 - first)
        truth.append((first, last))
    return out, tuple(truth)
