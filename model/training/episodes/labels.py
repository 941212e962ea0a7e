"""What became of each GPU and node after each step, in the form the likelihood needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from model.training.network.hazard import EDGES_HOURS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from model.schema import Cause

AFTERMATH_HOURS = 2.0
"""How long after a failure its rows still count as "failing now": the gauge must not fall."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A failure `hours` after the first step of its history; `gpu` None is the node itself."""

    hours: float
    gpu: int | None
    cause: Cause
    kind: str


class Fate(NamedTuple):
    """Per step: `exposure` [step, interval] in [0, 1], and `event` [step] interval or -1."""

    exposure: NDArray[np.float32]
    event: NDArray[np.int64]


def fate(
    hours: NDArray[np.float64], failure_hours: float | None, end_hours: float, *, struck: bool
) -> Fate:
    """Follow one GPU or node from each of `hours` until failure or the end of observation.

    An event is known by its interval only, so the intervals before it are
    survived whole and the later ones say nothing.  One that was not struck
    itself counts as exposed for the whole interval in which its node failed:
    it is known that this part was not the cause, and the last minutes, when
    everything on the node runs hot, are where that must be said.
    """
    edges = np.array(EDGES_HOURS)
    left, right = edges[:-1], edges[1:]
    # A failure behind the end of the record is as well known as one within it.
    until = end_hours if failure_hours is None else failure_hours
    ahead = until - hours
    exposure = np.clip((ahead[:, None] - left) / (right - left), 0.0, 1.0)
    event = np.full(len(hours), -1)
    if failure_hours is None:
        return Fate(exposure.astype(np.float32), event)
    after = ahead <= 0
    if struck:
        event = np.clip(np.searchsorted(edges, ahead, side="left") - 1, 0, None)
        event[ahead > edges[-1]] = -1
        known = event >= 0
        exposure[known] = np.arange(len(right)) < event[known, None]
    else:
        exposure = np.ceil(exposure)
        exposure[after] = np.arange(len(right)) == 0
    return Fate(exposure.astype(np.float32), event)


def within(
    hours: NDArray[np.float64], failure_hours: float | None, end_hours: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return [step, horizon]: whether the node fails within it, and whether that is known."""
    horizons = np.array(EDGES_HOURS[1:])
    ahead = np.inf if failure_hours is None else failure_hours - hours
    failed = np.broadcast_to(
        np.atleast_1d(ahead)[:, None] <= horizons, (len(hours), len(horizons))
    ).copy()
    known = failed | ((end_hours - hours)[:, None] >= horizons)
    return failed, known
