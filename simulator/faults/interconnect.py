"""Link faults: an NVLink that decays, a PCIe link that trains down.

Rates: DCGM fails its NVLink watch at 100 CRC errors a second and at the first
replay or recovery, and warns of PCIe replays above 2 to 4 a minute per lane
generation; a link trains down in powers of two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from model.schema import Cause
from simulator.faults.curves import bursts
from simulator.faults.endings import lose_gpu, stop_job
from simulator.faults.story import HOUR, Reach, Story
from simulator.physics import board

if TYPE_CHECKING:
    from simulator.physics.stress import Stress
    from simulator.scenario import Scenario

NVLINK_ERROR = 74
RESET_GPU = 1.0


class CableDecay(Story):
    """A cable or connector of one GPU's NVLinks decays: CRC errors by decades, in bursts.

    First errors alone, then replays, then links that train anew; at the end a
    link stays down and the job with it (XID 74).
    """

    kind = "nvlink-decay"
    summary = "One GPU's NVLink decays: CRC errors by decades, replays, recoveries, link down."
    cause = Cause.INTERCONNECT
    reach = Reach.GPU
    duration_seconds = (2 * HOUR, 96 * HOUR)

    FIRST_PER_SECOND = 2e-4
    DECADES_AT_WORST = 6.0

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Raise the rate along the curve, with the traffic and in bursts."""
        progress, struck = scenario.progress(stress.times), stress.times >= scenario.onset_seconds
        decades = self.DECADES_AT_WORST * scenario.severity * progress ** (scenario.shape / 2.0)
        rate = self.FIRST_PER_SECOND * 10.0**decades
        rate = rate * (0.1 + 0.9 * bursts(scenario, stress.times, 5_400.0))
        stress.nvlink_errors_per_second[:, lane, scenario.gpu] += np.where(struck, rate, 0.0)
        stop_job(scenario, stress, lane, NVLINK_ERROR, RESET_GPU)


class LinkRetrain(Story):
    """A GPU's PCIe link errs, trains down to fewer lanes or a lower rate, and is lost.

    Replays grow with traffic and fall for a while after each training down,
    since a slower link has more margin.
    """

    kind = "pcie-retrain"
    summary = "One GPU's PCIe link errs and trains down in steps, then the GPU is off the bus."
    cause = Cause.INTERCONNECT
    reach = Reach.GPU
    duration_seconds = (1 * HOUR, 48 * HOUR)

    FIRST_PER_SECOND = 1e-4
    DECADES_AT_WORST = 6.0
    DECADES_BACK = 0.6

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Raise replays along the curve and step the link down at drawn moments."""
        gpu, progress = scenario.gpu, scenario.progress(stress.times)
        moments = np.sort(0.35 + 0.6 * scenario.dice("retrains", 3))
        falls = np.searchsorted(moments, progress, side="right")
        lanes_first = scenario.dice("lanes", 3) < 0.5
        for count, lanes in enumerate(lanes_first, start=1):
            fallen = falls >= count
            level = stress.pcie_lanes if lanes else stress.pcie_generation
            step = 0.5 if lanes else (board.LINK_GENERATION - 1.0) / board.LINK_GENERATION
            level[fallen, lane, gpu] = np.floor(level[fallen, lane, gpu] * step)
        decades = self.DECADES_AT_WORST * scenario.severity * progress ** (scenario.shape / 2.0)
        rate = self.FIRST_PER_SECOND * 10.0 ** (decades - self.DECADES_BACK * falls)
        struck = stress.times >= scenario.onset_seconds
        stress.pcie_replays_per_second[:, lane, gpu] += np.where(struck, rate, 0.0)
        lose_gpu(scenario, stress, lane)
