"""Cooling faults of one GPU's cold plate and of one node's fans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from model.schema import Cause
from simulator.faults.curves import after, damage
from simulator.faults.endings import lose_gpu, power_off
from simulator.faults.story import HOUR, Reach, Story
from simulator.physics import cooling

if TYPE_CHECKING:
    from simulator.physics.stress import Stress
    from simulator.scenario import Scenario


class BlockedColdPlate(Story):
    """The channels of one cold plate silt up: its GPU heats, its neighbours get a little more.

    The film's resistance goes with flow to the power -0.8.  One GPU on one node
    stands out from its peers, as with a bad interface; here the node's flow
    sinks a little as well, since eight plates are fed side by side.
    """

    kind = "blocked-cold-plate"
    summary = "One GPU's cold plate silts up: it alone grows hot, the node's flow sinks a little."
    cause = Cause.THERMAL
    reach = Reach.GPU
    duration_seconds = (4 * HOUR, 96 * HOUR)

    CLOSED_AT_WORST = 0.96
    SHARE_OF_NODE = 0.125

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Close the plate along the curve; at the end the board is lost."""
        silted = damage(scenario, stress.times) ** 0.6
        open_ratio = 1.0 - self.CLOSED_AT_WORST * np.minimum(1.0, silted)
        stress.plate_flow_ratio[:, lane, scenario.gpu] *= open_ratio
        stress.flow_ratio[:, lane] *= 1.0 - 0.7 * self.SHARE_OF_NODE * (1.0 - open_ratio)
        lose_gpu(scenario, stress, lane)


class FanWear(Story):
    """A fan's bearing wears: it slows and stops, the others hurry, then more fail.

    Fans carry what the coolant does not: the boards' regulators and the host.
    Power of the others grows with the cube of their speed.  The node shuts
    down when its boards pass their limit.
    """

    kind = "fan-wear"
    summary = "A node's fans wear out: one slows, the others hurry, boards overheat, shutdown."
    cause = Cause.THERMAL
    reach = Reach.NODE
    duration_seconds = (6 * HOUR, 96 * HOUR)

    STOPS_AT = 0.75
    FANS = 6.0
    MORE_FANS = 2.6

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Slow the worst fan to a stop, then lose air faster than the others can make up."""
        progress = scenario.progress(stress.times)
        worn = np.minimum(1.0, progress / self.STOPS_AT) ** scenario.shape
        left = 1.0 - worn * (0.55 + 0.45 * scenario.severity)
        spread = self.MORE_FANS * after(progress, self.STOPS_AT)
        spread = spread * (0.4 + 0.6 * scenario.severity)
        stress.slowest_fan_ratio[:, lane] *= np.maximum(0.0, left)
        stress.airflow_ratio[:, lane] *= 1.0 - (1.0 - left + spread) / self.FANS
        slow = left * cooling.FAN_IDLE_RPM < cooling.FAN_CRITICAL_RPM
        stress.fans_failed[:, lane] += np.where(slow, 1.0 + np.floor(spread), 0.0)
        power_off(scenario, stress, lane)
