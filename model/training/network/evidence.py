"""What the hazard layer is told about each GPU: scores, levels, peers, counters, flags, structure.

Every value is 0 for a healthy or unobserved quantity as far as its kind
allows, so that a channel that is missing argues neither way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from model.schema import BY_NAME, Kind, Level
from model.training.network.scaling import ACTION, XID, positions
from model.training.network.scorer import SMALLEST_SPREAD, TAIL_STEPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model.training.network.scaling import View
    from model.training.network.scorer import Scores

LOST_STEPS = 3
"""A GPU is lost when its row has been empty for this long while siblings report."""

FAR = 1.0e6
"""Stands in for a missing peer when peers are sorted; scaled values stay below 10."""

HEATED = ("gpu_temperature_celsius", "gpu_memory_temperature_celsius")
POWER = "gpu_power_watts"
REFERENCES = ("node_coolant_supply_temperature_celsius", "node_inlet_temperature_celsius")
USUAL_CELSIUS = 30.0
LOADED_WATTS = 150.0
"""A thermal resistance is known only under load: heat that hardly flows says little of its path."""

SMALLEST_RISE = 1.0

PRESENCES = ("alive", "loaded", "watched")
"""Whether the GPU reports, works hard enough for a resistance, and its BMC answers: always 1,

and unknown otherwise.  What memory holds of them says how much of the past was seen.
"""

OF_THE_EXPORTER = "node_dcgm_"
"""What dcgm-exporter tells of itself is known without a BMC."""

SLOW = ("gpu_energy_joules_total",)
"""Counters whose increments are a level (power), not evidence of faults."""


class Evidence(NamedTuple):
    """`values` and `known` are [..., gpu, feature]; `known` is 1 where the feature was observed."""

    values: Tensor
    known: Tensor


class Gather(nn.Module):
    """Collects the features of one step, in the order of `features`."""

    gauges: Tensor
    peers: Tensor
    counters: Tensor
    flags: Tensor
    codes: Tensor
    reports: Tensor
    watches: Tensor
    peer_spread: Tensor
    heated: Tensor
    resistance_mean: Tensor
    resistance_spread: Tensor
    resistance_peer_spread: Tensor

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        gauges = positions(names, kinds=(Kind.GAUGE,))
        peers = positions(names, kinds=(Kind.GAUGE,), level=Level.GPU)
        flags = positions(names, kinds=(Kind.FLAG,))
        counters = torch.tensor(
            [i for i in positions(names, kinds=(Kind.COUNTER,)).tolist() if names[i] not in SLOW]
        )
        self.register_buffer("gauges", gauges)
        self.register_buffer("peers", peers)
        self.register_buffer("counters", counters)
        self.register_buffer("flags", flags)
        self.register_buffer("codes", torch.tensor([names.index(XID), names.index(ACTION)]))
        self.register_buffer("reports", _reports(names))
        self.register_buffer("watches", _watches(names))
        self.register_buffer("peer_spread", torch.ones(len(peers)))
        self.register_buffer("heated", torch.tensor([names.index(name) for name in HEATED]))
        self.register_buffer("resistance_mean", torch.zeros(len(HEATED)))
        self.register_buffer("resistance_spread", torch.ones(len(HEATED)))
        self.register_buffer("resistance_peer_spread", torch.ones(len(HEATED)))
        self.power = names.index(POWER)
        self.references = tuple(names.index(name) for name in REFERENCES)
        self.features = (
            *(f"residual:{names[i]}" for i in gauges.tolist()),
            *(f"error:{names[i]}" for i in gauges.tolist()),
            *(f"level:{names[i]}" for i in gauges.tolist()),
            *(f"peer:{names[i]}" for i in peers.tolist()),
            *(f"resistance:{name}" for name in HEATED),
            *(f"peer-resistance:{name}" for name in HEATED),
            *(f"recent:{names[i]}" for i in counters.tolist()),
            *(f"hour:{names[i]}" for i in counters.tolist()),
            *(f"flag:{names[i]}" for i in flags.tolist()),
            *(f"flag:{name}" for name in (XID, ACTION)),
            "blank",
            *PRESENCES,
            "critic",
            "score",
            "lost",
        )

    def forward(self, view: View, scores: Scores) -> Evidence:
        """Return the features of the newest step."""
        level, plain, known = recent_means(view)
        resistance, loaded = self._resistance(plain, known)
        row = (known * self.reports).amax(-1, keepdim=True)
        counts = view.increments.index_select(-1, self.counters)
        gauge, counter = known.index_select(-1, self.gauges), known.index_select(-1, self.counters)
        columns = (
            (squash(scores.residual.index_select(-1, self.gauges)), gauge),
            (torch.log1p(scores.error.index_select(-1, self.gauges)), gauge),
            (level.index_select(-1, self.gauges).clamp(-4.0, 4.0), gauge),
            (self._peer_difference(level, known), known.index_select(-1, self.peers)),
            (squash((resistance - self.resistance_mean) / self.resistance_spread) * loaded, loaded),
            (squash(from_median(resistance, loaded) / self.resistance_peer_spread), loaded),
            (torch.log1p(counts[..., -TAIL_STEPS:, :].sum(-2)), counter),
            (torch.log1p(counts.sum(-2)), counter),
            (plain.index_select(-1, self.flags), known.index_select(-1, self.flags)),
            # An absent code means that none was seen, so it is known wherever the GPU is.
            (plain.index_select(-1, self.codes), row.expand(*row.shape[:-1], 2)),
            (self._blank(view.seen), torch.ones_like(row)),
            (torch.ones_like(row), row),
            (torch.ones_like(row), loaded[..., :1]),
            (torch.ones_like(row), (known * self.watches).amax(-1, keepdim=True)),
            (torch.log1p(scores.critic).unsqueeze(-1), row),
            (torch.log1p(scores.score).unsqueeze(-1), row),
            (self._lost(view.seen), torch.ones_like(row)),
        )
        return Evidence(
            torch.cat([column[0] for column in columns], -1),
            torch.cat([column[1] for column in columns], -1),
        )

    def freeze(self, view: View) -> None:
        """Set the constants of peers and resistances from held-out healthy moments."""
        level, plain, known = recent_means(view)
        own, mask = level.index_select(-1, self.peers), known.index_select(-1, self.peers)
        resistance, loaded = self._resistance(plain, known)
        self.peer_spread.copy_(_spread(from_median(own, mask), mask))
        self.resistance_peer_spread.copy_(_spread(from_median(resistance, loaded), loaded))
        count = loaded.flatten(0, -2).sum(0).clamp(min=1.0)
        self.resistance_mean.copy_((resistance * loaded).flatten(0, -2).sum(0) / count)
        self.resistance_spread.copy_(_spread(resistance - self.resistance_mean, loaded))

    def _peer_difference(self, level: Tensor, known: Tensor) -> Tensor:
        own, mask = level.index_select(-1, self.peers), known.index_select(-1, self.peers)
        return squash(from_median(own, mask) / self.peer_spread)

    def _resistance(self, plain: Tensor, known: Tensor) -> tuple[Tensor, Tensor]:
        """Return log kelvin per watt from coolant to core and memory [..., gpu, 2], and its mask.

        Whatever the load, this is what a failing interface changes on one GPU
        and a failing flow on all.  Without a coolant or inlet reading a usual
        temperature stands in: levels shift, differences between peers do not.
        """
        reference = torch.full_like(plain[..., :1], USUAL_CELSIUS)
        for column in reversed(self.references):
            here = known[..., column : column + 1] > 0
            reference = torch.where(here, plain[..., column : column + 1], reference)
        watts = plain[..., self.power : self.power + 1]
        loaded = known.index_select(-1, self.heated) * (watts > LOADED_WATTS).to(known.dtype)
        rise = (plain.index_select(-1, self.heated) - reference).clamp(min=SMALLEST_RISE)
        return torch.log(rise / watts.clamp(min=LOADED_WATTS)), loaded

    def _blank(self, seen: Tensor) -> Tensor:
        """Return [..., gpu, 1]: log count of steps at which a sibling reported and this one not."""
        own = (seen * self.reports).amax(-1)
        missed = (1.0 - own) * own.amax(-2, keepdim=True)
        return torch.log1p(missed.sum(-1)).unsqueeze(-1)

    def _lost(self, seen: Tensor) -> Tensor:
        """Return [..., gpu, 1]: 1 where the row is empty while at least one sibling reports."""
        reported = (seen[..., -LOST_STEPS:, :] * self.reports).sum((-2, -1))
        reports = (reported > 0).to(seen.dtype)
        return ((1.0 - reports) * reports.amax(-1, keepdim=True)).unsqueeze(-1)


def _reports(names: Sequence[str]) -> Tensor:
    """Mark the channels that prove a GPU alive; a latched code outlives its GPU."""
    return torch.tensor(
        [float(BY_NAME[n].level is Level.GPU and n not in (XID, ACTION)) for n in names]
    )


def _watches(names: Sequence[str]) -> Tensor:
    """Mark the channels that prove a BMC alive."""
    return torch.tensor(
        [float(BY_NAME[n].level is Level.NODE and not n.startswith(OF_THE_EXPORTER)) for n in names]
    )


def recent_means(view: View) -> tuple[Tensor, Tensor, Tensor]:
    """Return means over the latest steps, standardised and plain, and what was seen at all."""
    count = view.seen[..., -TAIL_STEPS:, :].sum(-2)
    standardised = view.values[..., -TAIL_STEPS:, :].sum(-2) / count.clamp(min=1.0)
    plain = view.plain[..., -TAIL_STEPS:, :].sum(-2) / count.clamp(min=1.0)
    return standardised, plain, (count > 0).to(standardised.dtype)


def from_median(own: Tensor, known: Tensor) -> Tensor:
    """Return [..., gpu, feature] minus the median over the GPUs where it is known, else 0."""
    count = known.sum(-2, keepdim=True)
    ordered, _ = torch.sort(torch.where(known > 0, own, torch.full_like(own, FAR)), dim=-2)
    last = (count - 1.0).clamp(min=0.0)
    low = torch.floor(last / 2.0).to(torch.long)
    high = torch.minimum(torch.floor(count / 2.0), last).to(torch.long)
    median = (torch.gather(ordered, -2, low) + torch.gather(ordered, -2, high)) / 2.0
    return torch.where(known > 0, own - median, torch.zeros_like(own))


def _spread(differences: Tensor, known: Tensor) -> Tensor:
    """Root mean square per feature over all rows, floored; 1 where hardly anything was seen."""
    rows, mask = differences.flatten(0, -2), known.flatten(0, -2)
    count = mask.sum(0)
    spread = ((rows**2 * mask).sum(0) / count.clamp(min=1.0)).sqrt().clamp(min=SMALLEST_SPREAD)
    return torch.where(count > 1, spread, torch.ones_like(spread))


def squash(values: Tensor) -> Tensor:
    """Sign-preserving logarithm: linear near 0, so that ten and a hundred deviations stay apart."""
    return torch.sign(values) * torch.log1p(values.abs())
