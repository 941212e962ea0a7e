"""Power faults: supplies that age, feeds of a node or of a rack that go, regulators that sag.

Levels follow recorded nodes and vendors' alarm lists: six supplies of 3.3 kW
for 7 kW at full load, 54.3 V on the bus (52.75 V is a caution), hot spots 25 K
above the intake at light load, shutdown of a supply at about 100 °C.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.schema import Cause
from simulator.faults.curves import bursts, damage
from simulator.faults.endings import lose_gpu, power_off
from simulator.faults.story import HOUR, Failure, Pace, Reach, Story
from simulator.physics import board

if TYPE_CHECKING:
    from simulator.physics.stress import Stress
    from simulator.scenario import Scenario

ONE_FEED = board.POWER_SUPPLIES // 2
"""Supplies of a node that hang on one of its two feeds."""


class SupplyAgeing(Story):
    """The node's supplies are of one batch and age together.

    Capacitors dry out: the worst supply turns more of its input into heat, the
    bus ripples under load, one supply fails, then another, and the last short
    circuit takes the bus with it.
    """

    kind = "psu-ageing"
    summary = "Power supplies age: efficiency falls, they heat, fail in turn and drop the node."
    cause = Cause.POWER
    reach = Reach.NODE
    duration_seconds = (12 * HOUR, 96 * HOUR)

    LOST_AT_WORST = 0.16
    DROOP_VOLTS = 1.6
    FAILS_AT = (0.72, 0.92)

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Lower the efficiency along the curve and let supplies fail late on the way."""
        progress, worn = scenario.progress(stress.times), damage(scenario, stress.times)
        stress.supply_loss_ratio[:, lane] += self.LOST_AT_WORST * worn
        stress.bus_droop_volts[:, lane] += self.DROOP_VOLTS * worn
        for moment in self.FAILS_AT:
            stress.supplies_failed[progress >= moment, lane] += 1.0
        power_off(scenario, stress, lane, with_bmc=True)


class LostFeed(Story):
    """One of two feeds goes: half of the supplies stand without input, the others carry all.

    The node runs on, without redundancy.  The survivors run at twice their
    load and heat up; in the end their breaker trips.
    """

    kind = "lost-feed"
    summary = "A power feed is lost: half of the supplies carry all, heat up, and trip."
    cause = Cause.POWER
    reach = Reach.NODE
    pace = Pace.SUDDEN
    duration_seconds = (0.3 * HOUR, 8 * HOUR)

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Take half of the inputs at the onset, and strain the rest until they trip."""
        struck = stress.times >= scenario.onset_seconds
        stress.supplies_unfed[struck, lane] += ONE_FEED
        strained = damage(scenario, stress.times)
        stress.supply_loss_ratio[:, lane] += 0.05 * strained
        stress.bus_droop_volts[:, lane] += 1.1 * strained
        power_off(scenario, stress, lane, with_bmc=True)


class LostPduFeed(Story):
    """One of a rack's two PDUs goes: each of its nodes loses the same half of its supplies.

    The other PDU carries the whole rack.  The nodes run on, on warmer supplies
    and without redundancy, until the feed returns at the end of the story.
    `severity` is what the second PDU's breaker then carries, over its rating:
    above the continuous load that it is made for it trips at the end, and the
    rack is dark at once.  No node shows that coming: its own sensors see half
    of the inputs gone and nothing after.
    """

    kind = "lost-pdu-feed"
    summary = "A rack's PDU fails: its nodes run on half of their supplies, on one loaded feed."
    cause = Cause.FACILITY
    reach = Reach.RACK
    pace = Pace.SUDDEN
    duration_seconds = (0.3 * HOUR, 8 * HOUR)

    CONTINUOUS_LOAD_RATIO = 0.8
    """What a breaker may carry for three hours and more, over its rating (NFPA 70, 215.3)."""

    def trips(self, scenario: Scenario) -> bool:
        """Tell whether the second feed is lost as well."""
        return scenario.severity > self.CONTINUOUS_LOAD_RATIO

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Take half of the inputs from onset to end; then all of the power, or nothing."""
        unfed = stress.between(scenario.onset_seconds, scenario.end_seconds)
        stress.supplies_unfed[unfed, lane] += ONE_FEED
        if self.trips(scenario):
            power_off(scenario, stress, lane, with_bmc=True)

    def failure(self, scenario: Scenario) -> Failure | None:
        """Return the failure of the second feed, or None where the rack survives."""
        return super().failure(scenario) if self.trips(scenario) else None


class RegulatorSag(Story):
    """A GPU's regulator loses phases: it cannot deliver what a heavy step asks for.

    The board protects itself by braking: clocks fall at full utilisation while
    temperature falls with power, so heat is not the reason.  Between bursts it
    looks well.  Regulators that are left carry more and warm their board.
    """

    kind = "vrm-sag"
    summary = "One GPU's voltage regulator sags: braked under load without heat, then off the bus."
    cause = Cause.POWER
    reach = Reach.GPU
    duration_seconds = (2 * HOUR, 72 * HOUR)

    LOST_AT_WORST = 0.62
    BOARD_KELVIN = 14.0

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Lower what can be delivered along the curve, unsteadily."""
        worn = damage(scenario, stress.times)
        unsteady = 0.75 + 0.25 * bursts(scenario, stress.times, 2_400.0)
        deliverable = board.POWER_LIMIT_WATTS * (1.0 - self.LOST_AT_WORST * worn * unsteady)
        struck = worn > 0.0
        stress.supplied_watts[struck, lane, scenario.gpu] = deliverable[struck]
        stress.board_kelvin[:, lane] += self.BOARD_KELVIN * worn
        lose_gpu(scenario, stress, lane)
