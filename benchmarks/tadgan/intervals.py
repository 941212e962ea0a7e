"""Stretches of steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from benchmarks.tadgan.series import Interval


def runs(mask: NDArray[np.bool_]) -> list[Interval]:
    """Return the stretches in which `mask` holds."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], mask.astype(np.int8), [0]))))
    return [(int(first), int(end) - 1) for first, end in zip(edges[::2], edges[1::2], strict=True)]


def merged(stretches: Iterable[Interval]) -> list[Interval]:
    """Return the stretches in order, those that touch or overlap as one."""
    out: list[Interval] = []
    for first, last in sorted(stretches):
        if out and first <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(last, out[-1][1]))
        else:
            out.append((first, last))
    return out
