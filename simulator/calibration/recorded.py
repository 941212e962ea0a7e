"""Distributions of real clusters, read from public recordings.

`acme_cdf`: quantile functions of two A100 clusters (AcmeTrace, CC-BY-4.0).
`frontier_cdu_power`: heat load of 25 CDUs over a day at 15 s (MIT).
`harvard_ipmi`: sensor records of three nodes over a day at a minute (MIT).
`summit_xid`: XID events of 27,756 V100s over 2020 (MIT).
"""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simulator.arrays import Floats

A100_LIMIT_WATTS = 400.0
SUMMIT_GPU_DAYS = 27_756 * 366.0
PERCENT = 0.01
EVEN = np.linspace(0.0, 1.0, 1_001)
"""Probabilities at which a quantile function is sampled."""
STEPS_PER_MINUTE = 4
"""Of the CDUs' recording."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Values of one quantity at one site, in any order, evenly weighted."""

    source: str
    values: Floats


def gpu_power_ratio(data: Path) -> list[Sample]:
    """Board power over the power limit."""
    return [
        Sample(f"{site}, A100", _acme(data, f"gpu_power_{site.lower()}", 0) / A100_LIMIT_WATTS)
        for site in ("Kalos", "Seren")
    ]


def gpu_core_celsius(data: Path) -> list[Sample]:
    """Core temperature."""
    return [
        Sample(f"{site}, A100", _acme(data, f"gpu_temp_{site.lower()}", 0))
        for site in ("Kalos", "Seren")
    ]


def gpu_memory_celsius(data: Path) -> list[Sample]:
    """Memory temperature."""
    return [
        Sample(f"{site}, A100", _acme(data, f"gpu_temp_{site.lower()}", 1))
        for site in ("Kalos", "Seren")
    ]


def gpu_utilization_ratio(data: Path) -> list[Sample]:
    """Share of time in which a kernel ran."""
    return [
        Sample(f"{site}, A100", _acme(data, f"util_gpu_{site.lower()}", 0) * PERCENT)
        for site in ("Kalos", "Seren")
    ]


def node_power_ratio(data: Path) -> list[Sample]:
    """Power of a GPU server over the level that it exceeds 1 % of the time."""
    watts = _acme(data, "server_power", 0)
    return [Sample("Acme, 8 A100", watts[watts > 0.0] / np.percentile(watts, 99))]


def rack_heat_steps(data: Path) -> list[Sample]:
    """Change of a CDU's heat load from minute to minute, over its mean."""
    path = data / "frontier_cdu_power" / "input_04-07-24.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    loads = np.array([row[1:26] for row in rows[1:]], dtype=np.float64)[::STEPS_PER_MINUTE]
    return [Sample("Frontier, 25 CDUs", np.abs(np.diff(loads, axis=0) / loads.mean(0)).ravel())]


def inlet_kelvin(data: Path) -> list[Sample]:
    """Inlet temperature less the node's median of the day."""
    return [
        Sample(node, values - np.median(values))
        for node, values in _harvard(data, "Ambient Temp")
        if node.startswith("lichtmandce")
    ]


def fan_ratio(data: Path) -> list[Sample]:
    """Fan speed over the node's median of the day."""
    return [
        Sample(node, values / np.median(values)) for node, values in _harvard(data, "Fan 3 Tach")
    ]


def supply_efficiency_ratio(data: Path) -> list[Sample]:
    """Output over input of a node's two power supplies at light load."""
    sums: dict[str, list[Floats]] = defaultdict(list)
    for direction in ("DC Out", "AC In"):
        for supply in (1, 2):
            for node, values in _harvard(data, f"PSU{supply} {direction} Pwr"):
                sums[node].append(values)
    return [
        Sample(node, (one + other) / np.maximum(1.0, first + second))
        for node, (one, other, first, second) in sums.items()
    ]


def xids_per_gpu_day(data: Path) -> dict[int, float]:
    """Events per GPU and day, by code."""
    path = data / "summit_xid" / "summit_xid_counts_2020.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return {
            int(row["xid"]): float(row["count"]) / SUMMIT_GPU_DAYS for row in csv.DictReader(file)
        }


def _acme(data: Path, name: str, pair: int) -> Floats:
    """Return a quantile function as evenly weighted values; each is a pair of arrays."""
    with np.load(data / "acme_cdf" / "acme_cdfs.npz", allow_pickle=False) as archive:
        values, percent = archive[f"{name}_{2 * pair}"], archive[f"{name}_{2 * pair + 1}"]
    return np.asarray(np.interp(EVEN, percent * PERCENT, values))


def _harvard(data: Path, sensor: str) -> Iterator[tuple[str, Floats]]:
    """Yield each node that has `sensor`, with its readings in order of time."""
    for (node, name), values in _sensors(data).items():
        if name == sensor:
            yield node, values


@cache
def _sensors(data: Path) -> dict[tuple[str, str], Floats]:
    """Return the readings by node and sensor."""
    path = data / "harvard_ipmi" / "sdr_numeric_3nodes_2025-06-03.csv.gz"
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        next(rows)
        for node, _, sensor, value, _, _ in rows:
            found[node, sensor].append(float(value))
    return {place: np.array(values) for place, values in found.items()}
