"""A scaled series and what a model makes of it: all that the scorers are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

STRIDE = 2
"""One window in so many is looked at, so that 50 windows cover each step."""


@dataclass(frozen=True, slots=True)
class View:
    """`values` is [step]; `rebuilt` [window, step of the window] and `critic` [window].

    Windows begin at every `STRIDE`-th step such that the last ends with the
    series, and one at the very beginning.
    """

    values: NDArray[np.float32]
    rebuilt: NDArray[np.float32]
    critic: NDArray[np.float32]

    @property
    def window_steps(self) -> int:
        """How long a window is."""
        return int(self.rebuilt.shape[1])

    @property
    def starts(self) -> NDArray[np.int64]:
        """The step at which each window begins."""
        return starts(len(self.values), self.window_steps)[: len(self.critic)]

    def since(self, step: int) -> View:
        """Return the view of the windows that begin at `step` or later."""
        kept = self.starts >= step
        first = int(self.starts[kept][0]) if step else 0
        return View(self.values[first:], self.rebuilt[kept], self.critic[kept])

    def around(self, first: int, last: int) -> tuple[int, View]:
        """Return the view of all windows that cover a step from `first` to `last`.

        The first value is the step of the series at which that view begins.
        """
        kept = (self.starts + self.window_steps > first) & (self.starts <= last)
        begin, end = self.starts[kept][[0, -1]] + (0, self.window_steps)
        return int(begin), View(self.values[begin:end], self.rebuilt[kept], self.critic[kept])


def starts(steps: int, window_steps: int) -> NDArray[np.int64]:
    """Return where the windows of a series begin."""
    last = steps - window_steps
    every = np.arange(last % STRIDE, last + 1, STRIDE, dtype=np.int64)
    return every if every[0] == 0 else np.insert(every, 0, 0)
