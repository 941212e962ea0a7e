"""Faults of the device itself: firmware that hangs, boards that leave the bus, lemons.

Field studies find little or no numeric precursor of a board that falls off the
bus: what there is, is structural, 70 minutes ahead in the mean (scrapes that
take longer, samples that miss, blank fields).  Of firmware (GSP) errors 99 %
end with the GPU lost.  A few per cent of the nodes hold most of the failures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from model.schema import Cause
from simulator.faults.curves import bursts, damage
from simulator.faults.endings import lose_gpu, stop_job
from simulator.faults.story import HOUR, Pace, Reach, Story
from simulator.noise import Noise, key

if TYPE_CHECKING:
    from simulator.arrays import Flags, Floats
    from simulator.physics.stress import Stress
    from simulator.scenario import Scenario

GSP_TIMEOUT = 119
CONTAINED_ERROR, REMAP_EVENT = 94, 63
REBOOT_NODE = 2.0
MINUTE = 60.0


class FirmwareHang(Story):
    """The GSP firmware answers ever later, then not at all.

    Every query waits for its time-out, so pages take long; now and then the
    board's row is blank.  At the end the GPU claims full utilisation at idle
    power, and the driver asks for a reboot (XID 119).
    """

    kind = "gsp-hang"
    summary = "A GPU's firmware hangs: pages take seconds, rows go blank, then XID 119."
    cause = Cause.DEVICE
    reach = Reach.GPU
    pace = Pace.SUDDEN
    duration_seconds = (0.3 * HOUR, 6 * HOUR)

    HANGS_FROM = 0.93

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Delay pages and blank rows on the way; hang shortly before the end."""
        _answer_late(scenario, stress, lane, seconds=7.0, blank_ratio=0.15)
        hangs = scenario.progress(stress.times) >= self.HANGS_FROM
        stress.hung[hangs, lane, scenario.gpu] = True
        stop_job(scenario, stress, lane, GSP_TIMEOUT, REBOOT_NODE)


class OffTheBusWarned(Story):
    """A board is about to fall off the bus, and only the way it reports tells so."""

    kind = "off-bus-warned"
    summary = "A GPU falls off the bus after late pages, blank rows and some link replays."
    cause = Cause.DEVICE
    reach = Reach.GPU
    pace = Pace.SUDDEN
    duration_seconds = (0.5 * HOUR, 12 * HOUR)

    REPLAYS_PER_SECOND = 4e-3

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Delay pages, blank rows, err a little on the link."""
        _answer_late(scenario, stress, lane, seconds=4.0, blank_ratio=0.35)
        hurt = damage(scenario, stress.times)
        stress.pcie_replays_per_second[:, lane, scenario.gpu] += self.REPLAYS_PER_SECOND * hurt
        lose_gpu(scenario, stress, lane)


class OffTheBus(Story):
    """A board falls off the bus, and nothing tells before."""

    kind = "off-bus"
    summary = "A GPU falls off the bus without any warning."
    cause = Cause.DEVICE
    reach = Reach.GPU
    pace = Pace.SUDDEN
    duration_seconds = (600.0, 3_600.0)

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Lose the board at the end."""
        lose_gpu(scenario, stress, lane)


class Lemon(Story):
    """A node that breaks, is rebooted, works, and breaks again, ever sooner, until it is lost.

    Each repeat is an error that is contained (XID 63 or 94, no hardware verdict),
    kills the job and costs a reboot.  Nothing is wrong with any level between
    them: the history of the node is the sign.
    """

    kind = "lemon"
    summary = "A node fails in small ways again and again, ever sooner, until a GPU is lost."
    cause = Cause.DEVICE
    reach = Reach.GPU
    duration_seconds = (12 * HOUR, 120 * HOUR)

    MOST_REPEATS = 9
    HALTED_SECONDS = 15.0 * MINUTE
    DOWN_SECONDS = 6.0 * MINUTE

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Repeat the small failure at shrinking intervals, with a reboot after each."""
        for moment, dice in zip(*self._repeats(scenario), strict=True):
            code = CONTAINED_ERROR if dice < 0.6 else REMAP_EVENT
            stress.xid[stress.at(moment), lane, scenario.gpu] = code
            stress.halted[stress.between(moment, moment + self.HALTED_SECONDS), lane] = True
            gone = moment + 2.0 * MINUTE
            back = gone + self.DOWN_SECONDS
            stress.page_down[stress.between(gone, back), lane] = True
            stress.reload[stress.at(back), lane] = True
        lose_gpu(scenario, stress, lane)

    def _repeats(self, scenario: Scenario) -> tuple[Floats, Floats]:
        """Return the moments in seconds and a number in [0, 1) for each; the last way is free."""
        count = 2 + round((self.MOST_REPEATS - 2) * scenario.severity)
        gaps = 0.72 ** np.arange(count + 1) * (0.6 + 0.8 * scenario.dice("gaps", count + 1))
        shares = np.cumsum(gaps)[:-1] / gaps.sum()
        moments = scenario.onset_seconds + scenario.duration_seconds * shares
        free = scenario.end_seconds - moments > 2.0 * self.HALTED_SECONDS
        apart = np.diff(moments, prepend=-np.inf) > 2.0 * self.HALTED_SECONDS
        kept = free & apart
        return moments[kept], scenario.dice("codes", count)[kept]


def _answer_late(
    scenario: Scenario, stress: Stress, lane: int, *, seconds: float, blank_ratio: float
) -> None:
    """Delay the page, in bursts, up to `seconds`; blank the GPU's row at a share of the steps."""
    hurt = damage(scenario, stress.times)
    strength = 0.15 + 0.85 * bursts(scenario, stress.times, 1_800.0)
    stress.scrape_seconds[:, lane] += seconds * hurt * strength
    stress.unread[:, lane, scenario.gpu] |= _now_and_then(scenario, stress, blank_ratio * hurt)


def _now_and_then(scenario: Scenario, stress: Stress, ratio: Floats) -> Flags:
    """Return [step]: set at about `ratio` [step] of the steps, the same whenever it is asked."""
    seed = int(scenario.dice("blank rows", 1)[0] * 2**53)
    chance = Noise([key(seed, "blank rows")]).uniform(
        "blank rows", np.floor(stress.times / MINUTE).astype(np.int64), 1
    )
    return np.asarray(chance[:, 0, 0] < ratio)
