"""Competing causes: non-negative hazards per interval, added over causes and GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from model.schema import HORIZONS, Cause

if TYPE_CHECKING:
    from model.training.evidence import Evidence

EDGES_HOURS = (0.0, *(seconds / 3600.0 for seconds in HORIZONS.values()))
"""Interval k is (EDGES_HOURS[k], EDGES_HOURS[k + 1]]."""

CAUSES = tuple(Cause)
GPU_CAUSES = (Cause.MEMORY, Cause.INTERCONNECT, Cause.THERMAL, Cause.POWER, Cause.DEVICE)
NODE_CAUSES = (Cause.THERMAL, Cause.POWER, Cause.FACILITY)
"""A cause may start at one GPU, at the node, or at either."""

BASE_FAILURES_PER_NODE_WEEK = 0.027
"""0.0038 unexpected failures per node-day (Llama 3 training report, 2024), as a prior."""

GPUS_OF_PRIOR = 8
SHARES = {
    Cause.MEMORY: 0.30,
    Cause.INTERCONNECT: 0.14,
    Cause.THERMAL: 0.10,
    Cause.POWER: 0.05,
    Cause.DEVICE: 0.36,
    Cause.FACILITY: 0.05,
}
"""Division of the prior over causes: rough, in the order of that report's table.

Causes that are rare there are given a twentieth.  Sites set their own
`base_rate_log`.
"""

SCORE = -2
"""Position of the score among the features: known exactly where the GPU reports."""

LOG_RATIO_LIMIT = 18.0
LOG_HAZARD_LIMIT = 3.0
"""exp(3) = 20 integrated hazard: certainty to nine digits, and no overflow."""


class Hazards(NamedTuple):
    """Integrated hazards of each interval: `gpu` [gpu, cause, interval], `node` [cause, interval].

    Causes in the order of `GPU_CAUSES` and `NODE_CAUSES`.
    """

    gpu: Tensor
    node: Tensor


def prior() -> Tensor:
    """Return log failures per hour by cause [cause]: per node, before division over its parts."""
    per_hour = BASE_FAILURES_PER_NODE_WEEK / (7 * 24)
    return torch.log(torch.tensor([per_hour * SHARES[cause] for cause in CAUSES]))


class Head(nn.Module):
    """Features [row, feature] → log ratio of each hazard to its base rate [row, cause, interval].

    `learned` [cause, 1] is 0 for causes of which no failure was ever shown:
    they stay at their base rate, since absence from training is not safety.
    """

    def __init__(self, features: int, causes: int, hidden: int) -> None:
        super().__init__()
        self.causes = causes
        self.mix = nn.Linear(features, hidden)
        self.out = nn.Linear(hidden, causes * (len(EDGES_HOURS) - 1))
        self.register_buffer("centre", torch.zeros(features))
        self.register_buffer("scale", torch.ones(features))
        self.register_buffer("learned", torch.ones(causes, 1))
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def freeze(self, features: Tensor) -> None:
        """Standardise by the training rows; a constant feature keeps scale 1."""
        self.centre.copy_(features.mean(0))
        spread = features.std(0)
        self.scale.copy_(torch.where(spread > 1e-3, spread, torch.ones_like(spread)))

    def forward(self, features: Tensor) -> Tensor:
        """Return bounded log ratios; standardised features are held within ±6."""
        scaled = ((features - self.centre) / self.scale).clamp(-6.0, 6.0)
        ratio = self.out(torch.tanh(self.mix(scaled))).clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)
        return torch.as_tensor(ratio).reshape(-1, self.causes, len(EDGES_HOURS) - 1) * self.learned


class HazardLayer(nn.Module):
    """Two heads over evidence and memory, on top of an explicit base rate."""

    def __init__(self, features: int, remembered: int, hidden: int = 32) -> None:
        super().__init__()
        width = features + remembered
        self.gpu_head = Head(width, len(GPU_CAUSES), hidden)
        self.node_head = Head(width, len(NODE_CAUSES), hidden // 2)
        self.register_buffer("base_rate_log", prior())
        widths = torch.tensor(EDGES_HOURS[1:]) - torch.tensor(EDGES_HOURS[:-1])
        self.register_buffer("width_log", torch.log(widths))
        self.register_buffer("gpu_cause", torch.tensor([CAUSES.index(c) for c in GPU_CAUSES]))
        self.register_buffer("node_cause", torch.tensor([CAUSES.index(c) for c in NODE_CAUSES]))
        self.register_buffer("gpu_share_log", _share_log(GPU_CAUSES, at_node=False))
        self.register_buffer("node_share_log", _share_log(NODE_CAUSES, at_node=True))

    def forward(self, evidence: Evidence, state: Tensor) -> Hazards:
        """Return hazards per GPU and, once, for the node as a whole."""
        features = torch.cat((evidence.values, state), -1)
        pooled = pool(features, evidence.known).unsqueeze(0)
        return Hazards(self.of_gpus(features), self.of_nodes(pooled)[0])

    def of_gpus(self, features: Tensor) -> Tensor:
        """Hazards [gpu, cause, interval] of features [gpu, feature]."""
        base = self.base_rate_log.index_select(0, self.gpu_cause) + self.gpu_share_log
        return self._hazard(self.gpu_head(features), base)

    def of_nodes(self, pooled: Tensor) -> Tensor:
        """Hazards [node, cause, interval] of pooled features [node, feature]."""
        base = self.base_rate_log.index_select(0, self.node_cause) + self.node_share_log
        return self._hazard(self.node_head(pooled), base)

    def _hazard(self, ratio: Tensor, base: Tensor) -> Tensor:
        return torch.exp(
            (ratio + base.unsqueeze(-1) + self.width_log).clamp(max=LOG_HAZARD_LIMIT)
        )


def pool(features: Tensor, known: Tensor) -> Tensor:
    """Mean of [..., gpu, feature] over the GPUs that report; over all when none does.

    In the latter case only the node's own channels differ from 0, and they are
    the same on every row.
    """
    present = known[..., SCORE : SCORE + 1]
    none = (present.amax(-2, keepdim=True) == 0).to(present.dtype)
    weight = present + none
    return (features * weight).sum(-2) / weight.sum(-2)


def _share_log(causes: tuple[Cause, ...], *, at_node: bool) -> Tensor:
    """Split a cause that may start at either level in half, and GPU causes over the GPUs."""
    parts = [2.0 if cause in GPU_CAUSES and cause in NODE_CAUSES else 1.0 for cause in causes]
    spread = 1.0 if at_node else float(GPUS_OF_PRIOR)
    return -torch.log(torch.tensor(parts) * spread)
