"""A rack loses its coolant flow until its nodes shut down hot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from model.schema import Cause
from simulator.faults.story import HOUR, Reach, Story

if TYPE_CHECKING:
    from simulator.physics.stress import Stress
    from simulator.scenario import Scenario

OFF_THE_BUS = 79
LOST_AT_WORST = 0.86
"""Share of the flow that is gone when the pump stops, at severity 1."""
STOPS_FROM = 0.96
"""Share of the way at which the pump stops: what is left runs out until the end."""
STOPPED_RATIO = 0.03


class CoolantLoss(Story):
    """Flow falls, the return temperature climbs as one over flow, and all GPUs follow together."""

    kind = "coolant-loss"
    summary = (
        "A rack's coolant flow fades: return temperature and all GPUs climb, then all shut down."
    )
    cause = Cause.FACILITY
    reach = Reach.RACK
    duration_seconds = (2 * HOUR, 48 * HOUR)

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Take the flow away along the curve; at the end the flow interlock trips the node."""
        progress = scenario.progress(stress.times)
        left = 1.0 - LOST_AT_WORST * scenario.severity * progress**scenario.shape
        stopping = np.maximum(0.0, progress - STOPS_FROM) / (1.0 - STOPS_FROM)
        stress.flow_ratio[:, lane] *= left * (1.0 - (1.0 - STOPPED_RATIO) * stopping)
        failed = stress.times >= scenario.end_seconds
        stress.dead[failed, lane, :] = True
        stress.halted[failed, lane] = True
        stress.xid[stress.at(scenario.end_seconds), lane, :] = OFF_THE_BUS
