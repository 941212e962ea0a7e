"""Scenarios drawn at random, reproducibly: varied in time, speed, severity, GPU and work."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from simulator.faults import story
from simulator.physics.workload import Workload
from simulator.scenario import HEALTHY, Scenario

if TYPE_CHECKING:
    from simulator.faults.story import Story

WORKLOADS: dict[Workload, float] = {
    Workload.TRAINING: 0.44,
    Workload.INFERENCE: 0.10,
    Workload.MIXED: 0.22,
    Workload.IDLE: 0.24,
}
"""As many samples at rest as a real cluster's: a third of its GPUs' time is idle."""
FAILURE_SHARE = (0.35, 1.15)
"""Where in the record a failure may fall; some fall after its end."""
LOOKALIKE_SHARE = (0.15, 0.85)
EARLIEST_SHARE = 0.04


def draw(
    kind: str, *, seed: int, span_seconds: float, gpus: int, mended_ratio: float | None = None
) -> Scenario:
    """Draw the parameters of one story for a record of `span_seconds`.

    A fault is mended at `mended_ratio` of its way, if any; what is none is over by
    itself.  A fault's onset is never before a small share of the record, so a slow one
    in a short record develops faster than its drawn duration.  Raises
    `ValueError` for an unknown kind.
    """
    told = story(kind)
    rng = np.random.default_rng([seed, *kind.encode()])
    # An idle board does not fail by heat or traffic, so faults strike nodes at work.
    choices = [w for w in WORKLOADS if told.cause is None or w is not Workload.IDLE]
    weights = np.array([WORKLOADS[choice] for choice in choices])
    work = rng.choice(choices, p=weights / weights.sum())
    if kind == HEALTHY:
        return Scenario(workload=Workload(work))
    duration = math.exp(rng.uniform(*np.log(told.duration_seconds)))
    onset, duration = _place(told, rng, duration, span_seconds)
    return Scenario(
        kind=kind,
        onset_seconds=onset,
        duration_seconds=duration,
        severity=float(rng.uniform(0.5, 1.0)),
        shape=float(rng.uniform(1.0, 2.5)),
        gpu=int(rng.integers(gpus)),
        workload=Workload(work),
        mended_ratio=None if told.cause is None else mended_ratio,
    )


def _place(
    told: Story, rng: np.random.Generator, duration: float, span_seconds: float
) -> tuple[float, float]:
    """Return onset and duration in seconds."""
    if told.lookalike:
        return float(rng.uniform(*LOOKALIKE_SHARE)) * span_seconds, duration
    end = float(rng.uniform(*FAILURE_SHARE)) * span_seconds
    onset = max(EARLIEST_SHARE * span_seconds, end - duration)
    return onset, end - onset
