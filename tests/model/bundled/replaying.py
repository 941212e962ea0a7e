"""Feeds simulated nodes to the shipped artefact as the exporter would, without training code."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from model import schema
from model.increments import increments
from simulator.history import record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from model.runtime import Predictor
    from simulator.history import NodeHistory
    from simulator.scenario import Scenario

HOUR = 3_600.0
DAY = list(schema.HORIZONS).index("24h")


class Told(NamedTuple):
    """What the artefact said: `hours` [step] before the failure (or since the start if none),
    `node` [step, horizon], `cause` [step, cause, horizon], `gpu` [step, gpu, horizon],
    `contribution` [step, gpu, channel], `score` [step, gpu]."""

    hours: NDArray[np.float64]
    node: NDArray[np.float32]
    cause: NDArray[np.float32]
    gpu: NDArray[np.float32]
    contribution: NDArray[np.float32]
    score: NDArray[np.float32]


def watch(
    predictor: Predictor,
    scenario: Scenario,
    *,
    hours: float,
    seed: int,
    hidden: frozenset[str] = frozenset(),
) -> Told:
    """Record a node, hide some channels, and replay every step from the first full window on."""
    history = record(scenario, node=f"watched-{seed}", seed=seed, steps=round(hours * 60))
    names = predictor.info.names
    values = inputs(history, names)
    values[:, :, [i for i, name in enumerate(names) if name in hidden]] = np.nan
    length = predictor.info.window_steps
    state = predictor.initial_state(values.shape[0])
    parts = []
    for end in range(1, values.shape[1] + 1):
        window = np.full((values.shape[0], length, values.shape[2]), np.nan, np.float32)
        recent = values[:, max(0, end - length) : end]
        window[:, length - recent.shape[1] :] = recent
        said = predictor.predict(window, state)
        state = said.state
        if end >= length:
            parts.append((said.node, said.cause, said.gpu, said.contribution, said.score))
    at = np.arange(length - 1, values.shape[1]) / 60.0
    failure = history.failure
    before = at if failure is None else failure.time_seconds / HOUR - at
    return Told(before, *(np.stack(column) for column in zip(*parts, strict=True)))


def inputs(history: NodeHistory, names: tuple[str, ...]) -> NDArray[np.float32]:
    """Pick what the artefact reads, in its order; counters as increments."""
    values = history.values[:, :, [history.channels.index(name) for name in names]]
    counters = [i for i, n in enumerate(names) if schema.BY_NAME[n].kind is schema.Kind.COUNTER]
    counted = np.ascontiguousarray(np.moveaxis(values[:, :, counters], 1, 0))
    values[:, :, counters] = np.moveaxis(increments(counted), 0, 1)
    return values.astype(np.float32)


def lead_hours(told: Told, horizon: str, threshold: float) -> float:
    """Return how long before the failure the probability first reached `threshold`, 0 if never."""
    column = list(schema.HORIZONS).index(horizon)
    reached = told.hours[(told.node[:, column] >= threshold) & (told.hours > 0)]
    return float(reached.max()) if len(reached) else 0.0
