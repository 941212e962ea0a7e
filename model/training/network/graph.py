"""The one module that becomes the artefact: raw window and state in, six outputs out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from model.training.network.evidence import Evidence, Gather
from model.training.network.hazard import CAUSES, GPU_CAUSES, NODE_CAUSES, HazardLayer, Hazards
from model.training.network.memory import Memory
from model.training.network.scaling import Scaling
from model.training.network.scorer import Raw, Scorer, Scores, measure
from model.training.network.tadgan import NODE, Size, TadGan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model.schema import Cause
    from model.training.network.scaling import View

SMALL = 0.01
"""Below this, 1 - exp(-x) is taken from its series: float32 would lose its digits."""


class Outputs(NamedTuple):
    """In the order of `model.artefact.OUTPUTS`; shapes as listed there."""

    node_probability: Tensor
    cause_probability: Tensor
    gpu_probability: Tensor
    score: Tensor
    contribution: Tensor
    state_out: Tensor


class Graph(nn.Module):
    """Scaling → TadGAN → scorer → evidence → memory → hazards."""

    def __init__(self, names: Sequence[str], size: Size = NODE) -> None:
        super().__init__()
        self.names = tuple(names)
        self.scaling = Scaling(names)
        self.tadgan = TadGan(len(names), size)
        self.scorer = Scorer(len(names))
        self.gather = Gather(names)
        self.memory = Memory(self.gather.features)
        self.hazard = HazardLayer((*self.gather.features, *self.memory.features))

    def raw(self, view: View) -> Raw:
        """Scores of [..., gpu, step, channel] before standardising."""
        rows = view.values.shape[:-2]
        values, seen = view.values, view.seen
        if len(rows) > 1:
            values, seen = values.flatten(0, -3), seen.flatten(0, -3)
        rebuilt, critic = self.tadgan(values, seen)
        if len(rows) > 1:
            rebuilt, critic = rebuilt.unflatten(0, rows), critic.unflatten(0, rows)
        return measure(view.values, view.seen, rebuilt, critic)

    def observe(self, window: Tensor) -> tuple[Scores, Evidence]:
        """Everything that needs no state; the GPUs of one node are compared with each other."""
        view = self.scaling(window)
        scores = self.scorer(self.raw(view))
        return scores, self.gather(view, scores)

    def forward(self, window: Tensor, state: Tensor) -> Outputs:
        """Run one grid step; `window` [gpu, step, channel], `state` [gpu, k]."""
        scores, evidence = self.observe(window)
        state_out = self.memory(evidence, state)
        node, cause, gpu = probabilities(self.hazard(evidence, self.memory.read(state_out)))
        return Outputs(node, cause, gpu, scores.score, scores.contribution, state_out)


def probabilities(hazards: Hazards) -> tuple[Tensor, Tensor, Tensor]:
    """Add hazards over GPUs and causes: node [horizon], cause [., horizon], gpu [., horizon]."""
    from_gpus = hazards.gpu.sum(0)
    by_cause = torch.stack([_of_cause(cause, from_gpus, hazards.node) for cause in CAUSES])
    return within(by_cause.sum(0)), within(by_cause), within(hazards.gpu.sum(1))


def within(hazard: Tensor) -> Tensor:
    """Integrated hazards per interval [..., interval] → 1 - exp(-sum) up to each horizon.

    Accumulated as P + (1 - P) p: equal to the formula, precise where hazards
    are tiny, and in floats never falling with the horizon nor above 1.
    """
    small = hazard * (1.0 - hazard / 2.0 + hazard * hazard / 6.0)
    each = torch.where(hazard < SMALL, small, 1.0 - torch.exp(-hazard)).clamp(0.0, 1.0)
    reached = [each[..., 0]]
    for interval in range(1, each.shape[-1]):
        before = reached[-1]
        reached.append((before + (1.0 - before) * each[..., interval]).clamp(max=1.0))
    return torch.stack(reached, -1)


def _of_cause(cause: Cause, from_gpus: Tensor, at_node: Tensor) -> Tensor:
    total = torch.zeros_like(from_gpus[0])
    if cause in GPU_CAUSES:
        total = total + from_gpus[GPU_CAUSES.index(cause)]
    if cause in NODE_CAUSES:
        total = total + at_node[NODE_CAUSES.index(cause)]
    return total
