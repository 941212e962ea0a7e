"""Made-up anomalies in training parts, by which a scoring is chosen without any true label.

They are single steps, stretches at a wrong level, stretches that belong
elsewhere and stretches that behave wrongly; how large they are is measured by
the series' own deviation, and they lie in what no network was fitted on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from benchmarks.tadgan.series import Interval

    Steps = NDArray[np.float64]

KINDS = ("spike", "shift", "ramp", "freeze", "noise", "stranger", "tempo", "amplitude")
DRAWS = 4
"""Of each kind in each series."""

SPIKE_STEPS = (1, 6)
STRETCH_STEPS = (20, 200)
SEEN_DEVIATIONS = 0.5
"""What moves no step by this much is no anomaly, and is left out."""


class Trial(NamedTuple):
    """A training part with one anomaly, and where it is; `draw` is one of `DRAWS`."""

    draw: int
    kind: str
    values: Steps
    truth: Interval


def make(values: Steps, first_step: int, seed: list[int]) -> Iterator[Trial]:
    """Yield copies of a training part [step] with an anomaly at `first_step` or later."""
    deviation = float(values.std())
    unit = deviation if deviation > 1e-6 * max(1.0, float(np.abs(values).max())) else 1.0
    for draw in range(DRAWS):
        for index, kind in enumerate(KINDS):
            rng = np.random.default_rng([*seed, draw, index])
            where = _place(kind, first_step, len(values), rng)
            spoilt = values.copy()
            spoilt[where] = _spoilt(kind, values, where, unit, rng)
            if np.abs(spoilt - values).max() > SEEN_DEVIATIONS * unit:
                yield Trial(draw, kind, spoilt, (where.start, where.stop - 1))


def _place(kind: str, first_step: int, end: int, rng: np.random.Generator) -> slice:
    """Draw where it is, away from the end; lengths of stretches are even by their logarithm."""
    room = end - first_step
    length = int(rng.integers(*SPIKE_STEPS))
    if kind != "spike":
        length = int(np.exp(rng.uniform(*np.log(STRETCH_STEPS))))
    length = min(length, room // 4)
    first = first_step + int(rng.integers(room // 20, room - length - room // 20))
    return slice(first, first + length)


def _spoilt(kind: str, values: Steps, where: slice, unit: float, rng: np.random.Generator) -> Steps:
    usual = values[where]
    length = len(usual)
    height = float(rng.choice((-1, 1)) * rng.uniform(1.5, 4.0)) * unit
    middle = usual.mean()
    match kind:
        case "spike":
            out = usual + height
        case "shift":
            out = usual + height / 2
        case "ramp":
            out = usual + height * np.linspace(0.0, 1.0, length)
        case "freeze":
            out = np.full(length, usual[0])
        case "noise":
            out = usual + rng.normal(0.0, abs(height) / 4, length)
        case "stranger":
            other = int(rng.integers(0, len(values) - length))
            out = values[other : other + length]
        case "tempo":
            steps = where.start + np.arange(length) * float(rng.choice((0.4, 0.5, 2.0, 3.0)))
            out = np.interp(steps % len(values), np.arange(len(values)), values)
        case _:
            out = middle + (usual - middle) * float(rng.choice((0.2, 0.4, 2.0, 3.0)))
    return np.asarray(out)
