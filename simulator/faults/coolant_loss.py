"""A rack loses its coolant flow until its nodes shut down hot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.schema import Cause
from simulator.faults.story import HOUR, Reach, Story

if TYPE_CHECKING:
    from simulator.scenario import Scenario
    from simulator.stress import Stress

OFF_THE_BUS = 79
LOST_AT_WORST = 0.86
"""Share of the flow that is gone at the end, at severity 1."""


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
        """Take the flow away along the curve; at the end the node's GPUs trip."""
        worse = scenario.progress(stress.times) ** scenario.shape
        stress.flow_ratio[:, lane] *= 1.0 - LOST_AT_WORST * scenario.severity * worse
        failed = stress.times >= scenario.end_seconds
        stress.dead[failed, lane, :] = True
        stress.halted[failed, lane] = True
        stress.xid[stress.at(scenario.end_seconds), lane, :] = OFF_THE_BUS
