"""Raw window values as comparable numbers inside the graph, with a mask for what is missing.

The exported graph sees one node, [gpu, step, channel]; training puts moments
of many nodes in front, [..., gpu, step, channel], through the same code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from model.schema import BY_NAME, Kind, Level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model.schema import Channel

LIMIT = 10.0
"""Scaled values are held within ±LIMIT, so that one absurd reading cannot swamp a row."""

RESOLUTION = {
    "celsius": 1.0,
    "watts": 10.0,
    "hertz": 15.0e6,
    "ratio": 0.01,
    "bytes": 2.0**28,
    "rpm": 50.0,
    "liters_per_minute": 0.2,
    "pascals": 1_000.0,
    "volts": 0.05,
    "seconds": 0.05,
}
"""Smallest step of a sensor, by unit: the floor of a gauge's scale.

A channel that rested at one value must not make one quantum a sensation, nor
the rounding of a large number a unit.
"""

COUNTED = 0.35
"""The floor for counters, in log(1 + increment): a first event is two of it."""

LEAST = 0.25
"""The floor for flags, codes and plain numbers."""

RANGE_DEVIATIONS = 4.0
"""A training range reaches this many healthy deviations to both sides of the mean."""

LEAST_RANGE_RATIO = 0.02
"""And at least this share of the mean: a site's constants differ by rounding."""

HARDWARE_XIDS = (
    46, 48, 54, 62, 64, 74, 79, 95, 109, 110, 119, 120, 136, 140, 142, 143,
    *range(144, 151), 155, 156, 157, 158, 167,
)  # fmt: skip
PRECURSOR_XIDS = (63, 92, 94, 121, 160, *range(161, 167), 168, 169, 170, 171, 172)
"""Codes of NVIDIA's catalogue by the action it names; application codes are in neither."""

XID = "gpu_xid_code"
ACTION = "gpu_recovery_action"


def positions(names: Sequence[str], *, kinds: Sequence[Kind], level: Level | None = None) -> Tensor:
    """Return the indices in `names` of channels of these kinds (and level), codes left out."""
    chosen = [
        index
        for index, name in enumerate(names)
        if name not in (XID, ACTION)
        and BY_NAME[name].kind in kinds
        and (level is None or BY_NAME[name].level is level)
    ]
    return torch.tensor(chosen, dtype=torch.long)


class View(NamedTuple):
    """One window in the forms the layers need, each [..., gpu, step, channel].

    `increments` are raw units floored at 0 (read for counters only), `plain`
    transformed units, `values` standardised units; all 0 where `seen` is 0.
    """

    increments: Tensor
    plain: Tensor
    values: Tensor
    seen: Tensor


class Scaling(nn.Module):
    """Transform, standardise and mask: counters as log(1 + increment), codes as evidence levels.

    `centre` and `scale` [channel] are frozen on healthy training data.
    """

    counter: Tensor
    node_level: Tensor
    xid: Tensor
    action: Tensor
    hardware: Tensor
    precursor: Tensor
    floor: Tensor
    centre: Tensor
    scale: Tensor

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.names = tuple(names)
        counters = [BY_NAME[name].kind is Kind.COUNTER for name in names]
        self.register_buffer("counter", torch.tensor(counters))
        self.register_buffer("node_level", _mask(names, Level.NODE))
        self.xid_index = self.names.index(XID)
        self.register_buffer("xid", torch.tensor([name == XID for name in names]))
        self.register_buffer("action", torch.tensor([name == ACTION for name in names]))
        self.register_buffer("hardware", torch.tensor(HARDWARE_XIDS, dtype=torch.float32))
        self.register_buffer("precursor", torch.tensor(PRECURSOR_XIDS, dtype=torch.float32))
        self.register_buffer("floor", torch.tensor([_floor(name) for name in names]))
        self.register_buffer("centre", torch.zeros(len(names)))
        self.register_buffer("scale", torch.ones(len(names)))

    def freeze(self, windows: Tensor) -> None:
        """Set `centre` and `scale` from healthy windows [row, step, channel], rows independent."""
        values, seen = self.transform(windows)
        count = seen.sum((0, 1))
        mean = (values * seen).sum((0, 1)) / count.clamp(min=1)
        spread = ((values - mean) ** 2 * seen).sum((0, 1)) / count.clamp(min=1)
        self.centre.copy_(mean)
        self.scale.copy_(
            torch.where(count > 1, torch.maximum(spread.sqrt(), self.floor), torch.ones_like(mean))
        )

    def ranges(self) -> dict[str, tuple[float, float]]:
        """Return where each physical quantity lay in healthy training data, in its unit.

        Counters, flags, codes and counts of broken parts have none: each of
        them is evidence of a failure, not of another kind of node.
        """
        frozen = zip(self.names, self.centre.tolist(), self.scale.tolist(), strict=True)
        return {
            name: _around(BY_NAME[name], centre, scale)
            for name, centre, scale in frozen
            if BY_NAME[name].kind is Kind.GAUGE and BY_NAME[name].unit
        }

    def transform(self, window: Tensor) -> tuple[Tensor, Tensor]:
        """Return values in transformed units, 0 where missing, and the mask."""
        missing = torch.isnan(window)
        values = torch.where(missing, torch.zeros_like(window), window)
        counted = torch.log1p(values.clamp(min=0.0))
        code = values[..., self.xid_index : self.xid_index + 1]
        level = _matches(code, self.hardware) + 0.5 * _matches(code, self.precursor)
        values = torch.where(self.counter, counted, values)
        values = torch.where(self.xid, level, values)
        values = torch.where(self.action, values.clamp(0.0, 1.0), values)
        return values, (~missing).to(window.dtype)

    def share_node_channels(self, window: Tensor) -> Tensor:
        """Give every row the node's readings: the rows of lost GPUs are NaN, the node is not."""
        missing = torch.isnan(window)
        filled = torch.where(missing, torch.zeros_like(window), window)
        count = (~missing).to(window.dtype).sum(-3, keepdim=True)
        mean = filled.sum(-3, keepdim=True) / count.clamp(min=1.0)
        mean = torch.where(count > 0, mean, torch.full_like(mean, float("nan")))
        return torch.where(self.node_level, mean.expand_as(window), window)

    def standardise(self, values: Tensor, seen: Tensor) -> Tensor:
        """Return transformed values [gpu, step, channel] in healthy deviations, 0 where missing."""
        return ((values - self.centre) / self.scale).clamp(-LIMIT, LIMIT) * seen

    def forward(self, window: Tensor) -> View:
        """Return every form of `window` [gpu, step, channel] that later layers read."""
        shared = self.share_node_channels(window)
        plain, seen = self.transform(shared)
        increments = torch.where(torch.isnan(shared), torch.zeros_like(shared), shared)
        return View(increments.clamp(min=0.0), plain, self.standardise(plain, seen), seen)


def _around(channel: Channel, centre: float, scale: float) -> tuple[float, float]:
    half = max(RANGE_DEVIATIONS * scale, LEAST_RANGE_RATIO * abs(centre))
    low, high = max(channel.low, centre - half), min(channel.high, centre + half)
    # For people to read: no digits that mean nothing.
    return float(f"{low:.6g}"), float(f"{high:.6g}")


def _floor(name: str) -> float:
    channel = BY_NAME[name]
    if channel.kind is Kind.COUNTER:
        return COUNTED
    return RESOLUTION.get(channel.unit, LEAST) if channel.kind is Kind.GAUGE else LEAST


def _mask(names: Sequence[str], level: Level) -> Tensor:
    return torch.tensor([BY_NAME[name].level is level for name in names])


def _matches(values: Tensor, codes: Tensor) -> Tensor:
    return (values.unsqueeze(-1) == codes).any(-1).to(values.dtype)
