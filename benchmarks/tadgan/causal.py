"""The product's scorer on a published series: only the past, constants frozen on the training part.

The score of a step is made of the window that ends with it, so that a series
scores the same however it is cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.tadgan.intervals import merged, runs
from benchmarks.tadgan.published import DEVIATIONS, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmarks.tadgan.series import Interval
    from benchmarks.tadgan.view import View

HOLD_STEPS = 50
"""An alarm lasts this long after the last step that raised it."""


class Rule(NamedTuple):
    """Steps at the window's end whose error counts, how it is joined with the critic, and the bar.

    The bar is `deviations` of the training part's scores above their mean.
    """

    tail_steps: int
    joined: str
    deviations: float

    def __str__(self) -> str:
        """Return it in words."""
        return f"{self.joined}, last {self.tail_steps} steps, mean + {self.deviations:g} deviations"


TAILS_STEPS = (4, 16, 100)
RULES = tuple(
    Rule(tail, joined, deviations)
    for tail in TAILS_STEPS
    for joined in ("error", "critic x error", "critic + error")
    for deviations in (3.0, 4.0, 6.0, 8.0, 12.0)
)
USUAL_RULE = Rule(tail_steps=16, joined="critic x error", deviations=DEVIATIONS)
"""The artefact's tail, and the paper's way of joining and its bar."""


class Ends(NamedTuple):
    """What one fit makes of the windows that end with the steps `at`, of a series of `steps`.

    `error` is the mean absolute error of each window's last steps, by their number.
    """

    at: NDArray[np.int64]
    steps: int
    error: dict[int, NDArray[np.float64]]
    critic: NDArray[np.float64]


def ends(view: View) -> Ends:
    """Return it for all windows of a view."""
    windows = np.lib.stride_tricks.sliding_window_view(view.values, view.window_steps)
    away = np.abs(windows[view.starts] - view.rebuilt)
    return Ends(
        view.starts + view.window_steps - 1,
        len(view.values),
        {tail: away[:, -tail:].mean(axis=1, dtype=np.float64) for tail in TAILS_STEPS},
        view.critic.astype(np.float64),
    )


def detect(held: Sequence[Ends], test: Sequence[Ends], rule: Rule) -> list[Interval]:
    """Return the stretches of `test` in alarm; both hold one for each fit.

    Constants and bar are those of the windows of `held`.
    """
    frozen = [_constants(one, rule) for one in held]
    usual = joined([_scores(*one, rule) for one in zip(held, frozen, strict=True)])
    score = joined([_scores(*one, rule) for one in zip(test, frozen, strict=True)])
    bar = usual.mean() + rule.deviations * max(float(usual.std()), 1e-6)
    alarmed = np.zeros(test[0].steps, bool)
    for end in test[0].at[score > bar]:
        alarmed[end : end + HOLD_STEPS] = True
    return merged(runs(alarmed))


class _Constants(NamedTuple):
    error: tuple[float, float]
    critic: tuple[float, float]


def _constants(held: Ends, rule: Rule) -> _Constants:
    return _Constants(_moments(held.error[rule.tail_steps]), _moments(held.critic))


def _scores(seen: Ends, frozen: _Constants, rule: Rule) -> NDArray[np.float64]:
    mean, spread = frozen.error
    error = 1.0 + np.clip((seen.error[rule.tail_steps] - mean) / spread, 0.0, None)
    mean, spread = frozen.critic
    critic = 1.0 + np.abs(seen.critic - mean) / spread
    if rule.joined == "error":
        return error
    return np.asarray(critic * error if rule.joined == "critic x error" else (critic + error) / 2)


def _moments(values: NDArray[np.floating]) -> tuple[float, float]:
    return float(values.mean()), max(float(values.std()), 1e-6)
