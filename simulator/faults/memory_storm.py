"""A memory stack of one GPU decays: single-bit errors, remaps, no spare rows, the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from model.schema import Cause
from simulator.faults.story import HOUR, Reach, Story

if TYPE_CHECKING:
    from simulator.physics.stress import Stress
    from simulator.scenario import Scenario

HIGH_SINGLE_BIT_RATE = 92
DOUBLE_BIT = 48
REMAP_FAILURE = 64
FIRST_PER_SECOND = 1e-4
DECADES_AT_WORST = 7.0
REMAPS_AT_WORST = 18.0
REMAPS_FROM = 0.3
NOTICED_FROM = 0.75
RESET_GPU = 1.0


class MemoryStorm(Story):
    """The error rate climbs by decades under load while nothing fatal shows, then remaps follow."""

    kind = "memory-storm"
    summary = (
        "One GPU's memory decays: single-bit errors by decades, rows remapped, then a failed remap."
    )
    cause = Cause.MEMORY
    reach = Reach.GPU
    duration_seconds = (2 * HOUR, 72 * HOUR)

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Raise the rates along the curve; at the end an error is beyond repair."""
        gpu, times = scenario.gpu, stress.times
        struck = times >= scenario.onset_seconds
        progress = scenario.progress(times)
        decades = DECADES_AT_WORST * scenario.severity * progress ** (scenario.shape / 2.0)
        stress.correctable_per_second[struck, lane, gpu] += (FIRST_PER_SECOND * 10.0**decades)[
            struck
        ]
        late = np.maximum(0.0, progress - REMAPS_FROM) / (1.0 - REMAPS_FROM)
        mean_rate = REMAPS_AT_WORST * scenario.severity / scenario.duration_seconds
        stress.remaps_per_second[:, lane, gpu] += 2.0 * mean_rate * late
        noticed = scenario.onset_seconds + NOTICED_FROM * scenario.duration_seconds
        stress.xid[stress.at(noticed), lane, gpu] = HIGH_SINGLE_BIT_RATE
        self._fail(scenario, stress, lane)

    def _fail(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """A double-bit error ends the job; its row cannot be remapped any more."""
        gpu, end = scenario.gpu, scenario.end_seconds
        stress.uncorrectable[stress.at(end), lane, gpu] += 1.0
        stress.xid[stress.at(end), lane, gpu] = DOUBLE_BIT
        stress.xid[stress.at(end + stress.step_seconds), lane, gpu] = REMAP_FAILURE
        failed = stress.times >= end
        stress.remap_failed[failed, lane, gpu] = True
        stress.recovery_action[failed, lane, gpu] = RESET_GPU
        stress.halted[failed, lane] = True
