"""The product's scorer on a published series: only the past, constants frozen on the training part.

The score of a step is made of the window that ends with it, so that a series
scores the same however it is cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.tadgan.intervals import merged, runs

if TYPE_CHECKING:
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


RULES = tuple(
    Rule(tail, joined, deviations)
    for tail in (4, 16, 100)
    for joined in ("error", "critic x error", "critic + error")
    for deviations in (3.0, 4.0, 6.0, 8.0, 12.0)
)


def detect(train: View, test: View, rule: Rule, held_from: int = 0) -> list[Interval]:
    """Return the stretches of `test` in alarm.

    Constants and bar are those of the windows of `train` from `held_from` on.
    """
    held = train.since(held_from)
    frozen = _constants(held, rule)
    usual = _scores(held, frozen, rule)
    bar = usual.mean() + rule.deviations * max(float(usual.std()), 1e-6)
    ends = test.starts + test.rebuilt.shape[1] - 1
    alarmed = np.zeros(len(test.values) + 1, bool)
    for end in ends[_scores(test, frozen, rule) > bar]:
        alarmed[end : end + HOLD_STEPS] = True
    return merged(runs(alarmed[:-1]))


class _Constants(NamedTuple):
    error: tuple[float, float]
    critic: tuple[float, float]


def _constants(train: View, rule: Rule) -> _Constants:
    return _Constants(_moments(_error(train, rule)), _moments(train.critic))


def _scores(view: View, frozen: _Constants, rule: Rule) -> NDArray[np.float64]:
    mean, spread = frozen.error
    error = 1.0 + np.clip((_error(view, rule) - mean) / spread, 0.0, None)
    mean, spread = frozen.critic
    critic = 1.0 + np.abs(view.critic - mean) / spread
    if rule.joined == "error":
        return error
    joined = critic * error if rule.joined == "critic x error" else (critic + error) / 2
    return np.asarray(joined)


def _error(view: View, rule: Rule) -> NDArray[np.float64]:
    """Mean absolute error of each window's last steps."""
    windows = np.lib.stride_tricks.sliding_window_view(view.values, view.rebuilt.shape[1])
    tail = slice(-rule.tail_steps, None)
    difference = windows[view.starts][:, tail] - view.rebuilt[:, tail]
    return np.asarray(np.abs(difference).mean(axis=1, dtype=np.float64))


def _moments(values: NDArray[np.floating]) -> tuple[float, float]:
    return float(values.mean()), max(float(values.std()), 1e-6)
