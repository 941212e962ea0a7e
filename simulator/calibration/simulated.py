"""The same quantities of simulated nodes on which nothing fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulator.calibration.recorded import Sample
from simulator.history import Recording, record_all
from simulator.instruments.readout import (
    APPLICATION_XIDS,
    APPLICATION_XIDS_PER_SECOND,
    APPLICATION_XIDS_UP_TO,
)
from simulator.physics import board
from simulator.scenario import HEALTHY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulator.arrays import Floats
    from simulator.history import NodeHistory

SIMULATED = "simulated, H100"
IDLE_WATTS = 2_100.0
"""A node that draws less does not work."""
DAY_SECONDS = 86_400.0


def healthy_nodes(nodes: int, steps: int, seed: int) -> list[NodeHistory]:
    """Record `nodes` healthy nodes with the mix of work that the draw gives."""
    wanted = [Recording(HEALTHY, f"calibration-{i}", seed * 1_000 + i) for i in range(nodes)]
    return list(record_all(wanted, steps=steps))


class Nodes:
    """Quantities of some histories, in the terms of the recordings."""

    def __init__(self, histories: Sequence[NodeHistory]) -> None:
        self._histories = histories

    def gpu_power_ratio(self) -> Sample:
        """Board power over the power limit."""
        return self._gpus("gpu_power_watts", 1.0 / board.POWER_LIMIT_WATTS)

    def gpu_core_celsius(self) -> Sample:
        """Core temperature."""
        return self._gpus("gpu_temperature_celsius")

    def gpu_memory_celsius(self) -> Sample:
        """Memory temperature."""
        return self._gpus("gpu_memory_temperature_celsius")

    def gpu_utilization_ratio(self) -> Sample:
        """Share of time in which a kernel ran."""
        return self._gpus("gpu_utilization_ratio")

    def node_power_ratio(self) -> Sample:
        """Power of a node over the level that all exceed 1 % of the time."""
        watts = self._each("node_power_watts", lambda values: values)
        return Sample(SIMULATED, watts / np.percentile(watts, 99))

    def rack_heat_steps(self) -> Sample:
        """Change of a node's power from minute to minute, over its mean: a rack of one job."""
        return Sample(
            SIMULATED,
            self._each("node_power_watts", lambda watts: np.abs(np.diff(watts)) / watts.mean()),
        )

    def inlet_kelvin(self) -> Sample:
        """Inlet temperature less the node's median."""
        return self._about_median("node_inlet_temperature_celsius", np.subtract)

    def fan_ratio(self) -> Sample:
        """Fan speed over the node's median."""
        return self._about_median("node_fan_speed_rpm", np.divide)

    def supply_efficiency_ratio(self) -> Sample:
        """Efficiency of the worst power supply while the node does not work."""
        watts = self._each("node_power_watts", lambda values: values, drop=False)
        ratio = self._each("node_power_supply_efficiency_ratio", lambda values: values, drop=False)
        return Sample(SIMULATED, ratio[(watts < IDLE_WATTS) & np.isfinite(ratio)])

    def xids_per_gpu_day(self) -> dict[int, float]:
        """Expected application XIDs per GPU and day, by code, at these nodes' utilisation."""
        busy = float(np.nanmean(self._gpus("gpu_utilization_ratio").values))
        shares = np.diff(APPLICATION_XIDS_UP_TO, prepend=0.0, append=1.0)
        daily = APPLICATION_XIDS_PER_SECOND * DAY_SECONDS * busy
        return {
            int(code): float(share * daily)
            for code, share in zip(APPLICATION_XIDS, shares, strict=True)
        }

    def _gpus(self, name: str, scale: float = 1.0) -> Sample:
        column = self._histories[0].channels.index(name)
        values = np.concatenate([one.values[:, :, column].ravel() for one in self._histories])
        return Sample(SIMULATED, values[np.isfinite(values)] * scale)

    def _about_median(self, name: str, compare: Callable[[Floats, float], Floats]) -> Sample:
        return Sample(
            SIMULATED,
            self._each(name, lambda values: compare(values, float(np.median(values)))),
        )

    def _each(self, name: str, turn: Callable[[Floats], Floats], *, drop: bool = True) -> Floats:
        """Apply `turn` to every node's readings of a node channel and join the results."""
        column = self._histories[0].channels.index(name)
        rows = [one.values[0, :, column] for one in self._histories]
        return np.concatenate([turn(row[np.isfinite(row)] if drop else row) for row in rows])
