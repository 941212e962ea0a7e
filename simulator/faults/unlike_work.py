"""Look-alikes in the work: load that no one has seen here, waiting for storage, crashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulator.faults.story import HOUR, Reach, Story

if TYPE_CHECKING:
    from simulator.physics.stress import Stress
    from simulator.scenario import Scenario

MINUTE = 60.0
APPLICATION_CODES = (13, 31, 43, 45)
"""NVIDIA's catalogue asks to restart the application for these, and nothing else."""


class NewWorkload(Story):
    """Work of another kind arrives: uneven over the GPUs, bound by memory, cooler than training.

    Halves of the GPUs take turns at full memory traffic, as serving a mixture
    of experts does.
    """

    kind = "new-workload"
    summary = "Work of an unknown kind: GPUs take turns, memory at full rate; nothing is wrong."
    reach = Reach.NODE
    duration_seconds = (4 * HOUR, 72 * HOUR)

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Run the other work between onset and end."""
        during = stress.between(scenario.onset_seconds, scenario.end_seconds)
        stress.unfamiliar[during, lane] = True


class CheckpointStall(Story):
    """Storage is slow: all GPUs hold their memory and wait, far longer than for a checkpoint."""

    kind = "checkpoint-stall"
    summary = "Storage is slow: all GPUs wait for it with their memory held; nothing is wrong."
    reach = Reach.NODE
    duration_seconds = (5 * MINUTE, 3 * HOUR)

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Let the work wait between onset and end."""
        during = stress.between(scenario.onset_seconds, scenario.end_seconds)
        stress.waiting[during, lane] = True


class ApplicationXids(Story):
    """A program crashes again and again, on any GPU: codes of the application, jobs restarted."""

    kind = "application-xids"
    summary = "A program crashes again and again (XIDs 13, 31, 43, 45); the hardware is well."
    reach = Reach.NODE
    duration_seconds = (1 * HOUR, 24 * HOUR)

    MOST = 16
    RESTART_SECONDS = 4 * MINUTE

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Crash at drawn moments, on drawn GPUs, and start again."""
        count = 2 + round((self.MOST - 2) * scenario.severity)
        codes = scenario.dice("codes", count) * len(APPLICATION_CODES)
        gpus = scenario.dice("gpus", count) * stress.xid.shape[2]
        moments = np.sort(scenario.dice("moments", count)) * scenario.duration_seconds
        for moment, gpu, code in zip(moments, gpus, codes, strict=True):
            crash = scenario.onset_seconds + float(moment)
            stress.xid[stress.at(crash), lane, int(gpu)] = APPLICATION_CODES[int(code)]
            stress.halted[stress.between(crash, crash + self.RESTART_SECONDS), lane] = True
