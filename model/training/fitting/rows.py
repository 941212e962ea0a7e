"""Scored episodes → weighted rows for the likelihood, at the base rate of the field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from model.training.episodes.labels import AFTERMATH_HOURS, fate
from model.training.fitting.likelihood import Rows
from model.training.network.evidence import Evidence
from model.training.network.hazard import (
    BASE_FAILURES_PER_NODE_WEEK,
    EDGES_HOURS,
    GPU_CAUSES,
    NODE_CAUSES,
    SHARES,
    pool,
)
from model.training.network.scorer import TAIL_STEPS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from model.schema import Cause
    from model.training.episodes.dataset import Episode
    from model.training.network.graph import Graph

DENSE_STEPS, WATCHED_STEPS, SPARSE_STEPS = 20, 40, 60
"""Steps between the moments that training looks at: near a fault, in the week of a look-alike,

and in long quiet time.
"""

STORY_HOURS = 12.0
"""A story is looked at densely from this long before its onset."""

MOMENTS_AT_ONCE = 128
BYSTANDER_RATIO = 0.3
"""Share of the rows of GPUs that did not fail that is kept, with their weight raised to match."""


class Scored(NamedTuple):
    """Features at some moments of one episode: `gpu` [moment, gpu, feature], `node` [moment, ...].

    `share` [moment] is the time that a moment stands for, over the dense stride; `heard`
    [moment] whether anything at all was read lately.
    """

    hours: NDArray[np.float64]
    share: NDArray[np.float32]
    heard: NDArray[np.bool_]
    gpu: Tensor
    node: Tensor


def moments(episode: Episode) -> NDArray[np.int64]:
    """Return the steps to look at: dense in a story, sparse in the quiet before or without one."""
    steps, begun = len(episode.hours), episode.onset_hours
    if begun is None and episode.outcome is not None:
        begun = episode.outcome.hours - EDGES_HOURS[-1]  # of a real fault nobody knows the onset
    if begun is None:
        stride = WATCHED_STEPS if episode.lookalike else SPARSE_STEPS
        return np.arange(stride - 1, steps, stride)
    quiet = max(0, int(np.searchsorted(episode.hours, begun - STORY_HOURS)))
    sparse = np.arange(SPARSE_STEPS - 1, quiet, SPARSE_STEPS)
    first = DENSE_STEPS - 1 if not len(sparse) else int(sparse[-1]) + DENSE_STEPS
    return np.concatenate((sparse, np.arange(first, steps, DENSE_STEPS)))


def score(graph: Graph, episode: Episode) -> Scored:
    """Run everything but the hazards over an episode, from a cold start.

    The evidence of a moment is taken to have held since the one before.
    """
    steps = moments(episode)
    strides = np.diff(steps, prepend=-1)
    state = torch.zeros((episode.readings.shape[0], graph.memory.width))
    gpus, nodes = [], []
    with torch.no_grad():
        for part in np.array_split(np.arange(len(steps)), max(1, len(steps) // MOMENTS_AT_ONCE)):
            windows = episode.windows(steps[part], graph.tadgan.size.steps)
            _, evidence = graph.observe(torch.from_numpy(windows))
            states = []
            for moment, stride in enumerate(strides[part]):
                now = Evidence(evidence.values[moment], evidence.known[moment])
                state = graph.memory(now, state, float(stride))
                states.append(state)
            features = torch.cat((evidence.values, graph.memory.read(torch.stack(states))), -1)
            gpus.append(features)
            nodes.append(pool(features, evidence.known))
    share = (strides / DENSE_STEPS).astype(np.float32)
    heard = _heard(episode, steps)
    return Scored(episode.hours[steps], share, heard, torch.cat(gpus), torch.cat(nodes))


def _heard(episode: Episode, steps: NDArray[np.int64]) -> NDArray[np.bool_]:
    said = np.cumsum(~np.isnan(episode.readings).all((0, 2)))
    before = np.where(steps >= TAIL_STEPS, said[steps - TAIL_STEPS], 0)
    return np.asarray(said[steps] > before)


@dataclass(frozen=True, slots=True)
class Weights:
    """How much one row of an episode counts, by how it ended."""

    by_cause: dict[Cause, float]
    quiet: float

    def of(self, cause: Cause | None) -> float:
        """Return the weight of rows of an episode that failed of `cause`, or did not fail."""
        return self.quiet if cause is None else self.by_cause[cause]


def field_weights(failures: Mapping[Cause, int], quiet_hours: float) -> Weights:
    """Weigh episodes so that each cause fails as often as its base rate says.

    `failures` counts episodes by cause, `quiet_hours` is the node time of those
    without failure.  Failures weigh 1 on average; quiet time stands for the
    many weeks in which a real node does not fail.  Without any failure there is
    nothing to weigh it against.
    """
    if not failures:
        return Weights({}, 1.0)
    total = sum(failures.values())
    share = sum(SHARES[cause] for cause in failures)
    by_cause = {cause: SHARES[cause] / share * total / count for cause, count in failures.items()}
    weeks = total / (BASE_FAILURES_PER_NODE_WEEK * share)
    return Weights(by_cause, weeks * 7 * 24 / quiet_hours)


class Collector:
    """Gathers labelled rows of both levels, episode by episode.

    `aftermath` is what a row after the failure counts beside one before it.
    """

    def __init__(self, weights: Weights, rng: np.random.Generator, aftermath: float) -> None:
        self._weights = weights
        self._rng = rng
        self._aftermath = aftermath
        self._gpu: list[tuple[str, Rows]] = []
        self._node: list[tuple[str, Rows]] = []

    def add(self, episode: Episode, scored: Scored) -> None:
        """Label one episode's rows, those after the aftermath of a failure left out.

        Silence after a failure teaches nothing: all sources silent is unknown, not failing.
        """
        outcome = episode.outcome
        weight = self._weights.of(None if outcome is None else outcome.cause)
        last = np.inf if outcome is None else outcome.hours + AFTERMATH_HOURS
        failed = np.inf if outcome is None else outcome.hours
        usable = np.flatnonzero((scored.hours <= last) & (scored.heard | (scored.hours < failed)))
        for gpu in range(scored.gpu.shape[1]):
            struck = outcome is not None and outcome.gpu == gpu
            kept = usable if struck else self._thin(usable)
            raised = weight if struck else weight / BYSTANDER_RATIO
            part = _part(scored, kept, gpu, raised * self._later(scored, kept, failed, struck))
            self._gpu.append((episode.kind, label(episode, part, struck, GPU_CAUSES)))
        struck = outcome is not None and outcome.gpu is None
        part = _part(scored, usable, None, weight * self._later(scored, usable, failed, struck))
        self._node.append((episode.kind, label(episode, part, struck, NODE_CAUSES)))

    def rows(self, without: str = "") -> tuple[Rows, Rows]:
        """Return (GPU rows, node rows), those of one kind of story left out."""
        return _join(self._gpu, without), _join(self._node, without)

    def _later(
        self, scored: Scored, kept: NDArray[np.int64], failed: float, struck: bool
    ) -> NDArray[np.float32]:
        """Return what each row counts for its time: full ahead of the failure of this part."""
        after = struck & (scored.hours[kept] >= failed)
        return np.where(after, np.float32(self._aftermath), np.float32(1.0))

    def _thin(self, usable: NDArray[np.int64]) -> NDArray[np.int64]:
        return usable[self._rng.random(len(usable)) < BYSTANDER_RATIO]


class Part(NamedTuple):
    """Some moments of one GPU or node."""

    hours: NDArray[np.float64]
    features: Tensor
    weight: NDArray[np.float32]


def label(episode: Episode, part: Part, struck: bool, causes: tuple[Cause, ...]) -> Rows:
    """Attach to each moment what became of the part; `struck` is what failed in the end."""
    outcome = episode.outcome
    failure = None if outcome is None else outcome.hours
    exposure, event = fate(part.hours, failure, episode.end_hours, struck=struck)
    cause = causes.index(outcome.cause) if struck and outcome is not None else -1
    return Rows(
        features=part.features,
        exposure=torch.from_numpy(exposure),
        interval=torch.from_numpy(event),
        cause=torch.full((len(part.hours),), cause),
        weight=torch.from_numpy(part.weight),
    )


def _part(
    scored: Scored, kept: NDArray[np.int64], gpu: int | None, weight: NDArray[np.float32]
) -> Part:
    rows = torch.from_numpy(kept)
    features = scored.node[rows] if gpu is None else scored.gpu[rows, gpu]
    return Part(scored.hours[kept], features, scored.share[kept] * weight)


def _join(parts: list[tuple[str, Rows]], without: str) -> Rows:
    kept = [rows for kind, rows in parts if kind != without]
    return Rows(*(torch.cat(columns) for columns in zip(*kept, strict=True)))
