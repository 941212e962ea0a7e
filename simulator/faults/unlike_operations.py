"""Look-alikes that people and seasons make: heat of a day, reboots, repairs, boards given away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulator.faults.story import HOUR, Reach, Story

if TYPE_CHECKING:
    from simulator.physics.stress import Stress
    from simulator.scenario import Scenario

MINUTE = 60.0


class SeasonalInlet(Story):
    """A hot spell: air and coolant of a whole rack come in warmer for days, and cool again."""

    kind = "seasonal-inlet"
    summary = "A hot spell: air and coolant come in some kelvin warmer for days; nothing is wrong."
    reach = Reach.RACK
    duration_seconds = (24 * HOUR, 120 * HOUR)

    INLET_KELVIN = 7.0
    SUPPLY_KELVIN = 3.0

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Warm both along half a sine, within what a site is built for."""
        spell = scenario.severity * np.sin(np.pi * scenario.progress(stress.times))
        stress.inlet_kelvin[:, lane] += self.INLET_KELVIN * spell
        stress.supply_kelvin[:, lane] += self.SUPPLY_KELVIN * spell


class MigReconfiguration(Story):
    """The node's GPUs are cut into instances, and later made whole again.

    Work leaves, GPUs are reset, the page is empty for a moment; while they are
    cut, utilisation and row remaps cannot be read.
    """

    kind = "mig-reconfiguration"
    summary = "GPUs are cut into instances and made whole again: resets, families that vanish."
    reach = Reach.NODE
    duration_seconds = (1 * HOUR, 24 * HOUR)

    RESET_SECONDS = 2 * MINUTE
    EMPTY_SECONDS = 8 * MINUTE

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Reset at onset and end, and hide between what instances do not show."""
        for moment in (scenario.onset_seconds, scenario.end_seconds):
            emptied = stress.between(moment - self.EMPTY_SECONDS, moment + self.EMPTY_SECONDS)
            stress.halted[emptied, lane] = True
            down = stress.between(moment, moment + self.RESET_SECONDS)
            stress.page_down[down, lane] = True
            stress.reload[stress.at(moment + self.RESET_SECONDS), lane] = True
        during = stress.between(scenario.onset_seconds, scenario.end_seconds)
        stress.partitioned[during, lane, :] = True


class NodeReboot(Story):
    """Someone reboots the node: GPUs are gone for minutes, fans race, counters start anew."""

    kind = "node-reboot"
    summary = "The node is rebooted on purpose: minutes without GPUs, then fresh counters."
    reach = Reach.NODE
    duration_seconds = (4 * MINUTE, 15 * MINUTE)

    IDLE_SECONDS = 10 * MINUTE

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Take work and page away between onset and end; work returns a little later."""
        start, end = scenario.onset_seconds, scenario.end_seconds
        gone = stress.between(start, end)
        stress.page_down[gone, lane] = True
        stress.fans_at_full[gone, lane] = True
        stress.halted[stress.between(start - MINUTE, end + self.IDLE_SECONDS), lane] = True
        stress.reload[stress.at(end), lane] = True


class Maintenance(Story):
    """The node is drained, switched off, worked on and given back."""

    kind = "maintenance"
    summary = "The node is drained, off for hours, and back; its BMC talks on meanwhile."
    reach = Reach.NODE
    duration_seconds = (1 * HOUR, 24 * HOUR)

    OFF_SHARE = (0.1, 0.9)

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Keep work away all the time, and power during most of it."""
        start, length = scenario.onset_seconds, scenario.duration_seconds
        stress.halted[stress.between(start, scenario.end_seconds), lane] = True
        off, on = (start + share * length for share in self.OFF_SHARE)
        stress.off[stress.between(off, on), lane] = True
        stress.reload[stress.at(on), lane] = True


class GivenAway(Story):
    """An idle GPU is bound to a virtual machine: it leaves the page on purpose, and comes back.

    Reported from the field: the list of devices is read anew, the page is empty
    for a few seconds, seven GPUs remain; the BMC goes on seeing eight.
    """

    kind = "gpu-given-away"
    summary = "A GPU is given to a virtual machine: it leaves the page, the BMC still sees it."
    reach = Reach.GPU
    duration_seconds = (1 * HOUR, 48 * HOUR)

    LISTING_SECONDS = 3.0

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Hide the GPU between onset and end."""
        during = stress.between(scenario.onset_seconds, scenario.end_seconds)
        stress.unbound[during, lane, scenario.gpu] = True
        for moment in (scenario.onset_seconds, scenario.end_seconds):
            listing = stress.between(moment, moment + self.LISTING_SECONDS)
            stress.page_down[listing, lane] = True
