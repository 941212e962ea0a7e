"""The thermal interface of one GPU degrades until the board is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.schema import Cause
from simulator.faults.story import HOUR, Reach, Story

if TYPE_CHECKING:
    from simulator.physics.stress import Stress
    from simulator.scenario import Scenario

OFF_THE_BUS = 79
RATIO_AT_WORST = 2.6
"""Added share of the solid path's resistance at severity 1: a paste pumped out or a plate loose."""


class ThermalInterface(Story):
    """Core and memory of one GPU run ever hotter for the same power, then it is slowed, then lost.

    Its neighbours, the coolant and the inlet stay as they were: that is the signature.
    """

    kind = "thermal-interface"
    summary = "One GPU's thermal paste fails: hotter for the same power, slowed, then off the bus."
    cause = Cause.THERMAL
    reach = Reach.GPU
    duration_seconds = (2 * HOUR, 72 * HOUR)

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Raise the resistance along the curve; at the end the board is lost."""
        gpu = scenario.gpu
        worse = scenario.progress(stress.times) ** scenario.shape
        stress.interface_ratio[:, lane, gpu] += RATIO_AT_WORST * scenario.severity * worse
        failed = stress.times >= scenario.end_seconds
        stress.dead[failed, lane, gpu] = True
        stress.halted[failed, lane] = True
        stress.xid[stress.at(scenario.end_seconds), lane, gpu] = OFF_THE_BUS
