"""What is compared, and the table of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulator.calibration import recorded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from simulator.arrays import Floats
    from simulator.calibration.recorded import Sample
    from simulator.calibration.simulated import Nodes

PERCENTILES = (1, 10, 25, 50, 75, 90, 99)


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity that recordings and simulated nodes have in common; `name` is its file's."""

    name: str
    title: str
    unit: str
    read: Callable[[Path], list[Sample]]


QUANTITIES: tuple[Quantity, ...] = (
    Quantity("gpu_power_ratio", "GPU power over its limit", "ratio", recorded.gpu_power_ratio),
    Quantity("gpu_core_celsius", "GPU core temperature", "°C", recorded.gpu_core_celsius),
    Quantity("gpu_memory_celsius", "GPU memory temperature", "°C", recorded.gpu_memory_celsius),
    Quantity(
        "gpu_utilization_ratio", "GPU utilisation", "ratio", recorded.gpu_utilization_ratio
    ),
    Quantity(
        "node_power_ratio", "Node power over its 99th percentile", "ratio",
        recorded.node_power_ratio,
    ),
    Quantity(
        "rack_heat_steps", "Change of heat load in a minute, over its mean", "ratio",
        recorded.rack_heat_steps,
    ),
    Quantity("inlet_kelvin", "Inlet air, less its median", "K", recorded.inlet_kelvin),
    Quantity("fan_ratio", "Fan speed over its median", "ratio", recorded.fan_ratio),
    Quantity(
        "supply_efficiency_ratio", "Power supplies at light load", "output over input",
        recorded.supply_efficiency_ratio,
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Comparison:
    """Recordings beside the simulation; `gaps` are the largest differences of the CDFs, each."""

    quantity: Quantity
    recorded: tuple[Sample, ...]
    simulated: Sample
    gaps: tuple[float, ...]


def compare(data: Path, nodes: Nodes) -> Iterator[Comparison]:
    """Compare every quantity; raises `OSError` where a recording is not in `data`."""
    for quantity in QUANTITIES:
        real = tuple(quantity.read(data))
        ours: Sample = getattr(nodes, quantity.name)()
        gaps = tuple(gap(one.values, ours.values) for one in real)
        yield Comparison(quantity, real, ours, gaps)


def gap(one: Floats, other: Floats) -> float:
    """Return the largest difference of two cumulative distributions, 0 to 1."""
    first, second = np.sort(one), np.sort(other)
    at = np.concatenate((first, second))
    shares = (np.searchsorted(values, at, side="right") / values.size for values in (first, second))
    return float(np.abs(np.subtract(*shares)).max())


def table(comparisons: Sequence[Comparison]) -> str:
    """Return all quantiles as a Markdown table."""
    head = " | ".join(f"p{percent}" for percent in PERCENTILES)
    lines = [
        f"| quantity | source | {head} | gap |",
        "| --- | --- |" + " ---: |" * (len(PERCENTILES) + 1),
    ]
    for one in comparisons:
        title = f"{one.quantity.title}, {one.quantity.unit}"
        for sample, far in zip(one.recorded, one.gaps, strict=True):
            lines.append(_row(title, sample, f"{far:.2f}"))
        lines.append(_row(title, one.simulated, ""))
    return "\n".join(lines) + "\n"


def codes(real: dict[int, float], ours: dict[int, float]) -> str:
    """Return the rates of XIDs per thousand GPU-days as a Markdown table."""
    lines = ["| XID | recorded | simulated, healthy |", "| ---: | ---: | ---: |"]
    for code in sorted(real, key=lambda code: -real[code]):
        simulated = f"{1_000.0 * ours[code]:.3f}" if code in ours else "only as a fault"
        lines.append(f"| {code} | {1_000.0 * real[code]:.4f} | {simulated} |")
    return "\n".join(lines) + "\n"


def _row(title: str, sample: Sample, gap_text: str) -> str:
    quantiles = np.percentile(sample.values, PERCENTILES)
    cells = " | ".join(f"{value:.3g}" for value in quantiles)
    return f"| {title} | {sample.source} | {cells} | {gap_text} |"
