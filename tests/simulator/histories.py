"""Builders and readers of histories, so that a test shows only what matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulator.history import NodeHistory, record
from simulator.physics.workload import Workload
from simulator.scenario import Scenario

if TYPE_CHECKING:
    from numpy.typing import NDArray

HOUR = 3_600.0


def fault(kind: str, **changes: object) -> Scenario:
    """A fault that begins after one hour and takes four."""
    settled = {"onset_seconds": HOUR, "duration_seconds": 4 * HOUR, "gpu": 2}
    return Scenario(kind=kind, **(settled | changes))  # type: ignore[arg-type]


def told(scenario: Scenario, *, hours: float = 6, seed: int = 5, **changes: object) -> NodeHistory:
    return record(scenario, node="n1", seed=seed, steps=round(hours * 60), **changes)  # type: ignore[arg-type]


def at_work(kind: Workload, *, hours: float = 24, seed: int = 5) -> NodeHistory:
    return told(Scenario(workload=kind), hours=hours, seed=seed)


def channel(history: NodeHistory, name: str) -> NDArray[np.float64]:
    """[gpu, step]."""
    return history.values[:, :, history.channels.index(name)]


def at(history: NodeHistory, name: str, seconds: float) -> NDArray[np.float64]:
    """[gpu] at a time in seconds."""
    return channel(history, name)[:, int(seconds // history.step_seconds)]
