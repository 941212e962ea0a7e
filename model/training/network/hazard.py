"""Competing causes: non-negative hazards per interval, added over causes and GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from model.schema import BY_NAME, HORIZONS, Cause
from model.training.network.evidence import PRESENCES
from model.training.network.scaling import ACTION, XID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model.training.network.evidence import Evidence

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
    Cause.MEMORY: 0.22,
    Cause.INTERCONNECT: 0.16,
    Cause.THERMAL: 0.12,
    Cause.POWER: 0.08,
    Cause.DEVICE: 0.30,
    Cause.FACILITY: 0.12,
}
"""Division of the prior over causes: rough, in the order of that report's table.

Flatter than the table, which counts one site: causes that are rare there are
not rare everywhere.  Sites set their own `base_rate_log`.
"""

SCORE = -2
"""Position of the score among the features: known exactly where the GPU reports."""

CONTEXT = {
    Cause.MEMORY: ("gpu_memory_active_ratio", "gpu_utilization_ratio"),
    Cause.INTERCONNECT: ("gpu_utilization_ratio", "blank"),
    Cause.THERMAL: (
        "gpu_power_watts",
        "gpu_power_limit_watts",
        "gpu_sm_clock_hertz",
        "gpu_utilization_ratio",
        "node_coolant_supply_temperature_celsius",
        "node_coolant_flow_liters_per_minute",
        "node_inlet_temperature_celsius",
    ),
    Cause.POWER: (
        "gpu_utilization_ratio",
        "gpu_temperature_celsius",
        "node_board_temperature_celsius",
    ),
    Cause.DEVICE: (
        "gpu_power_watts",
        "gpu_sm_clock_hertz",
        "gpu_pcie_replays_total",
        "blank",
    ),
    Cause.FACILITY: (
        "gpu_temperature_celsius",
        "gpu_memory_temperature_celsius",
        "gpu_temperature_margin_celsius",
        "gpu_thermal_slowdown_active",
        "gpu_thermal_violation_seconds_total",
        "gpu_power_watts",
        "node_power_watts",
    ),
}
"""Channels that a cause reads besides its own (`model.schema` says which are its own)."""

FOR_ALL = (XID, ACTION, "lost")
"""Signs that any cause may leave at the end."""

HIDDEN, VOICES = 8, 4
"""Hidden units of a cause in one voice, and how many voices are joined."""

SMALLEST_SCALE = 1e-3
LINEAR, FEATURE_LIMIT = 2.0, 8.0
"""Standardised features grow by logarithms beyond LINEAR, and end at FEATURE_LIMIT.

One error in a quiet counter is fifty of its deviations and a storm a thousand: both must show.
"""
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
    """Features [row, feature] → integrated hazards [row, cause, interval] of one level.

    Each cause has a small network of its own over the features that physics
    gives it (`relevant` [cause, feature]): a cause that may look at everything
    learns the accidents of its training data.  `learned` [cause, 1] is 0 for
    causes of which no failure was ever shown: they stay at their base rate,
    since absence from training is not safety.  `past` [feature] marks what comes
    from memory ("6h score", "drift 1h-24h ...").
    """

    relevant: Tensor
    past: Tensor
    learned: Tensor
    centre: Tensor
    scale: Tensor
    cause: Tensor
    exposure_log: Tensor

    def __init__(
        self, features: Sequence[str], causes: tuple[Cause, ...], share_log: Tensor, hidden: int
    ) -> None:
        super().__init__()
        intervals = len(EDGES_HOURS) - 1
        self.hidden = hidden
        self.mix = nn.Linear(len(features), len(causes) * hidden)
        self.out = nn.Parameter(torch.zeros(len(causes), hidden, intervals))
        self.offset = nn.Parameter(torch.zeros(len(causes), intervals))
        relevant = relevance(features, causes).repeat_interleave(hidden, 0)
        self.register_buffer("relevant", relevant)
        self.register_buffer("past", torch.tensor([" " in name for name in features]))
        self.register_buffer("learned", torch.ones(len(causes), 1))
        self.register_buffer("centre", torch.zeros(len(features)))
        self.register_buffer("scale", torch.ones(len(features)))
        self.register_buffer("cause", torch.tensor([CAUSES.index(cause) for cause in causes]))
        widths = torch.tensor(EDGES_HOURS[1:]) - torch.tensor(EDGES_HOURS[:-1])
        self.register_buffer("exposure_log", share_log.unsqueeze(-1) + torch.log(widths))

    def freeze(self, features: Tensor) -> None:
        """Standardise by the training rows; a constant feature keeps scale 1."""
        self.centre.copy_(features.mean(0))
        spread = features.std(0)
        self.scale.copy_(torch.where(spread > SMALLEST_SCALE, spread, torch.ones_like(spread)))

    def standardise(self, features: Tensor) -> Tensor:
        """Standardised features are linear within ±LINEAR and held within ±FEATURE_LIMIT."""
        scaled = (features - self.centre) / self.scale
        beyond = torch.log(scaled.abs().clamp(min=LINEAR) / LINEAR)
        bent = scaled.clamp(-LINEAR, LINEAR) + torch.sign(scaled) * beyond
        return bent.clamp(-FEATURE_LIMIT, FEATURE_LIMIT)

    def nothing(self) -> Tensor:
        """Return [feature] as standardised where nothing is observed, or nothing is wrong."""
        return self.standardise(torch.zeros_like(self.centre))

    def forward(self, standardised: Tensor, base_rate_log: Tensor) -> Tensor:
        """Return base rate times exp(evidence), bounded."""
        return self.hazard(self.evidence(standardised), base_rate_log)

    def evidence(self, standardised: Tensor) -> Tensor:
        """Return log ratios to the base rate [row, cause, interval]."""
        mixed = nn.functional.linear(standardised, self.mix.weight * self.relevant, self.mix.bias)
        hidden = torch.tanh(mixed).reshape(-1, len(self.out), 1, self.hidden)
        return (hidden @ self.out).squeeze(-2) + self.offset

    def hazard(self, evidence: Tensor, base_rate_log: Tensor) -> Tensor:
        """Return what log ratios [row, cause, interval] make of the base rate, bounded."""
        ratio = evidence.clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT) * self.learned
        base = base_rate_log.index_select(0, self.cause).unsqueeze(-1) + self.exposure_log
        return torch.exp((ratio + base).clamp(max=LOG_HAZARD_LIMIT))

    def join(self, voices: Sequence[Head]) -> None:
        """Take the mean of several heads' log ratios: their hidden units stand side by side."""
        causes = len(self.out)
        own = [(head.mix.weight, head.mix.bias) for head in voices]
        weight = torch.stack([one.reshape(causes, HIDDEN, -1) for one, _ in own], 1)
        bias = torch.stack([one.reshape(causes, HIDDEN) for _, one in own], 1)
        with torch.no_grad():
            self.mix.weight.copy_(weight.reshape(self.mix.weight.shape))
            self.mix.bias.copy_(bias.flatten())
            self.out.copy_(torch.cat([head.out for head in voices], 1) / len(voices))
            self.offset.copy_(torch.stack([head.offset for head in voices]).mean(0))


class HazardLayer(nn.Module):
    """Two heads over evidence and memory, on top of an explicit base rate.

    A head is the mean of `voices` that were fitted apart: each has learned some accidents of
    its own way, and what they agree on is the evidence.
    """

    base_rate_log: Tensor

    def __init__(self, features: Sequence[str], voices: int = VOICES) -> None:
        super().__init__()
        self.features, self.voices = tuple(features), voices
        hidden = voices * HIDDEN
        self.gpu = Head(features, GPU_CAUSES, _share_log(GPU_CAUSES, at_node=False), hidden)
        self.node = Head(features, NODE_CAUSES, _share_log(NODE_CAUSES, at_node=True), hidden)
        self.register_buffer("base_rate_log", prior())

    def voice(self) -> HazardLayer:
        """Return one voice: fresh weights, the same constants."""
        fresh = HazardLayer(self.features, voices=1)
        for own, theirs in ((fresh.gpu, self.gpu), (fresh.node, self.node)):
            for constant in ("learned", "centre", "scale"):
                getattr(own, constant).copy_(getattr(theirs, constant))
        return fresh

    def forward(self, evidence: Evidence, past: Tensor) -> Hazards:
        """Return hazards per GPU and, once, for the node as a whole.

        `past` [gpu, ...] is what `Memory.read` tells.
        """
        features = torch.cat((evidence.values, past), -1)
        pooled = pool(features, evidence.known).unsqueeze(0)
        return Hazards(
            self.gpu(self.gpu.standardise(features), self.base_rate_log),
            self.node(self.node.standardise(pooled), self.base_rate_log)[0],
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


def relevance(features: Sequence[str], causes: Sequence[Cause]) -> Tensor:
    """Return [cause, feature], 1 where the cause reads the feature ("kind:channel" or a word)."""
    return torch.tensor(
        [[float(_reads(cause, _subject(feature))) for feature in features] for cause in causes]
    )


def _subject(feature: str) -> str:
    """ "6h peer:gpu_power_watts" → "gpu_power_watts"."""
    return feature.rpartition(" ")[2].rpartition(":")[2]


def _reads(cause: Cause, channel: str) -> bool:
    if channel in FOR_ALL:
        return True
    if channel in BY_NAME:
        return BY_NAME[channel].cause is cause or channel in CONTEXT[cause]
    if channel in PRESENCES:
        return False
    if channel == "blank":
        return channel in CONTEXT[cause]
    return cause in (Cause.DEVICE, Cause.THERMAL, Cause.POWER, Cause.FACILITY)


def _share_log(causes: tuple[Cause, ...], *, at_node: bool) -> Tensor:
    """Split a cause that may start at either level in half, and GPU causes over the GPUs."""
    parts = [2.0 if cause in GPU_CAUSES and cause in NODE_CAUSES else 1.0 for cause in causes]
    spread = 1.0 if at_node else float(GPUS_OF_PRIOR)
    return -torch.log(torch.tensor(parts) * spread)
