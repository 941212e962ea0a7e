"""Nodes that share a coolant loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.arrays import Floats


class Racks:
    """Which nodes stand in which rack."""

    def __init__(self, rack_of_node: Sequence[str]) -> None:
        self.names = tuple(dict.fromkeys(rack_of_node))
        self._index = np.array([self.names.index(rack) for rack in rack_of_node])
        self._sizes = np.bincount(self._index).astype(np.float64)

    def mean(self, per_node: Floats) -> Floats:
        """Return [node]: the mean of `per_node` over the rack of each node."""
        sums = np.bincount(self._index, weights=per_node, minlength=self._sizes.size)
        return np.asarray((sums / self._sizes)[self._index])
