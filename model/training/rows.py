"""Scored episodes → weighted rows for the likelihood, at the base rate of the field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from model.training.hazard import (
    BASE_FAILURES_PER_NODE_WEEK,
    GPU_CAUSES,
    NODE_CAUSES,
    SHARES,
    pool,
)
from model.training.labels import AFTERMATH_HOURS, fate
from model.training.likelihood import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from model.schema import Cause
    from model.training.dataset import Episode
    from model.training.graph import Graph

STRIDE_STEPS = 20
"""Training looks at every 20th step; the memory is advanced by as many at once."""

MOMENTS_AT_ONCE = 128
BYSTANDER_RATIO = 0.3
"""Share of the rows of GPUs that did not fail that is kept, with their weight raised to match."""


class Scored(NamedTuple):
    """Features of one episode: `gpu` [moment, gpu, feature], `node` [moment, feature]."""

    hours: NDArray[np.float64]
    gpu: Tensor
    node: Tensor


def score(graph: Graph, episode: Episode) -> Scored:
    """Run everything but the hazards over an episode, from a cold start."""
    first = STRIDE_STEPS - 1
    steps = np.arange(first, len(episode.hours), STRIDE_STEPS)
    state = torch.zeros((episode.readings.shape[0], graph.memory.width))
    gpus, nodes = [], []
    with torch.no_grad():
        for part in np.array_split(steps, max(1, len(steps) // MOMENTS_AT_ONCE)):
            windows = torch.from_numpy(episode.windows(part, graph.tadgan.size.steps))
            _, evidence = graph.observe(windows)
            states = []
            for moment in range(len(part)):
                now = type(evidence)(evidence.values[moment], evidence.known[moment])
                state = graph.memory(now, state, STRIDE_STEPS)
                states.append(state)
            features = torch.cat((evidence.values, torch.stack(states)), -1)
            gpus.append(features)
            nodes.append(pool(features, evidence.known))
    return Scored(episode.hours[steps], torch.cat(gpus), torch.cat(nodes))


@dataclass(frozen=True, slots=True)
class Weights:
    """How much one row of an episode counts, by how it ended."""

    by_cause: dict[Cause, float]
    quiet: float

    def of(self, cause: Cause | None) -> float:
        """Return the weight of rows of an episode that failed of `cause`, or did not fail."""
        return self.quiet if cause is None else self.by_cause[cause]


def field_weights(failures: dict[Cause, int], quiet_hours: float) -> Weights:
    """Weigh episodes so that each cause fails as often as its base rate says.

    `failures` counts episodes by cause, `quiet_hours` is the node time of those
    without failure.  Failures weigh 1 on average; quiet time stands for the
    many weeks in which a real node does not fail.
    """
    total = sum(failures.values())
    share = sum(SHARES[cause] for cause in failures)
    by_cause = {cause: SHARES[cause] / share * total / count for cause, count in failures.items()}
    weeks = total / (BASE_FAILURES_PER_NODE_WEEK * share)
    return Weights(by_cause, weeks * 7 * 24 / quiet_hours)


class Collector:
    """Gathers labelled rows of both levels, episode by episode."""

    def __init__(self, weights: Weights, rng: np.random.Generator) -> None:
        self._weights = weights
        self._rng = rng
        self._gpu: list[Rows] = []
        self._node: list[Rows] = []

    def add(self, episode: Episode, scored: Scored) -> None:
        """Label one episode's rows, those after the aftermath of a failure left out."""
        outcome = episode.outcome
        weight = self._weights.of(None if outcome is None else outcome.cause)
        last = np.inf if outcome is None else outcome.hours + AFTERMATH_HOURS
        moments = np.flatnonzero(scored.hours <= last)
        for gpu in range(scored.gpu.shape[1]):
            struck = outcome is not None and outcome.gpu == gpu
            kept = moments if struck else self._thin(moments)
            part = Part(scored.hours[kept], scored.gpu[torch.from_numpy(kept), gpu], struck)
            self._gpu.append(
                label(episode, part, GPU_CAUSES, weight if struck else weight / BYSTANDER_RATIO)
            )
        struck = outcome is not None and outcome.gpu is None
        part = Part(scored.hours[moments], scored.node[torch.from_numpy(moments)], struck)
        self._node.append(label(episode, part, NODE_CAUSES, weight))

    def rows(self) -> tuple[Rows, Rows]:
        """Return (GPU rows, node rows)."""
        return _join(self._gpu), _join(self._node)

    def _thin(self, moments: NDArray[np.int64]) -> NDArray[np.int64]:
        return moments[self._rng.random(len(moments)) < BYSTANDER_RATIO]


class Part(NamedTuple):
    """The moments of one GPU or node, and whether it is what failed in the end."""

    hours: NDArray[np.float64]
    features: Tensor
    struck: bool


def label(episode: Episode, part: Part, causes: tuple[Cause, ...], weight: float) -> Rows:
    """Attach to each moment of one GPU or node what became of it."""
    outcome = episode.outcome
    failure = None if outcome is None else outcome.hours
    exposure, event = fate(part.hours, failure, episode.end_hours, struck=part.struck)
    cause = causes.index(outcome.cause) if part.struck and outcome is not None else -1
    count = len(part.hours)
    return Rows(
        features=part.features,
        exposure=torch.from_numpy(exposure),
        interval=torch.from_numpy(event),
        cause=torch.full((count,), cause),
        weight=torch.full((count,), weight),
    )


def _join(parts: list[Rows]) -> Rows:
    return Rows(*(torch.cat(columns) for columns in zip(*parts, strict=True)))
