"""Faults of the coolant loop that a rack shares with its CDU, or of one node's branch of it.

Every one is a set of curves over the same few quantities: flow, pressure, gas,
supply temperature, moisture.  The healthy values and the signs follow vendors'
alarm lists and manuals of CDUs (factory limits of a 200 kW sidecar unit, an
in-row unit's control guide, reference designs for liquid-cooled racks): flow
alarm at 90 % of set point, filter dirty at 60 kPa, supply above 45 °C critical,
return pressure 125 to 175 kPa, failover dips of 10 to 15 % for a minute.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from model.schema import Cause
from simulator.faults.curves import after, damage, hunting, run_dry
from simulator.faults.endings import lose_all_gpus, power_off
from simulator.faults.story import HOUR, Pace, Reach, Story

if TYPE_CHECKING:
    from simulator.physics.stress import Stress
    from simulator.scenario import Scenario

MINUTE = 60.0


class FilterClogging(Story):
    """A filter fills up: the pump makes up for it until it runs at full speed, then flow falls.

    The supply pressure at the node falls with the square of the flow, and the
    coolant's rise grows as one over flow.
    """

    kind = "filter-clogging"
    summary = "A CDU filter clogs: the pump hides it, then a rack's flow and pressure fall."
    cause = Cause.FACILITY
    reach = Reach.RACK
    duration_seconds = (12 * HOUR, 96 * HOUR)

    FULL_SPEED_FROM = 0.3
    LOST_AT_WORST = 0.88

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Lower the flow along the curve; what is left runs out at the end."""
        progress = scenario.progress(stress.times)
        late = after(progress, self.FULL_SPEED_FROM) ** scenario.shape
        left = 1.0 - 0.03 * progress - (self.LOST_AT_WORST - 0.03) * scenario.severity * late
        stress.flow_ratio[:, lane] *= left * run_dry(progress, 0.97)
        lose_all_gpus(scenario, stress, lane)


class PumpWear(Story):
    """A pump's bearing wears: flow hunts and sags, the spare takes over, then fails as well."""

    kind = "pump-wear"
    summary = "A CDU pump wears: a rack's flow hunts, the spare takes over and gives out as well."
    cause = Cause.FACILITY
    reach = Reach.RACK
    duration_seconds = (4 * HOUR, 72 * HOUR)

    HUNTING_SECONDS = 1_500.0
    HUNTING_AT_WORST = 0.10
    SAG_AT_WORST = 0.20
    FAILOVER_AT = 0.6
    DIP_RATIO, DIP_SECONDS = 0.13, 90.0

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Make the flow unsteady and less, once until the spare starts and again after that."""
        progress = scenario.progress(stress.times)
        moment = scenario.onset_seconds + self.FAILOVER_AT * scenario.duration_seconds
        first = stress.times < moment + self.DIP_SECONDS
        worn = np.where(
            first, after(progress, 0.0, self.FAILOVER_AT), after(progress, self.FAILOVER_AT)
        )
        worn = scenario.severity * worn**scenario.shape
        swing = hunting(scenario, stress.times, self.HUNTING_SECONDS)
        flow = 1.0 - self.SAG_AT_WORST * worn + self.HUNTING_AT_WORST * worn * swing
        # The second pump has nothing beside it: it goes further down before it stops.
        flow = flow - np.where(first, 0.0, 0.45 * worn)
        flow[stress.between(moment, moment + self.DIP_SECONDS)] -= self.DIP_RATIO
        stress.flow_ratio[:, lane] *= np.maximum(0.05, flow) * run_dry(progress, 0.96)
        lose_all_gpus(scenario, stress, lane)


class AirIngress(Story):
    """Air gets into the loop: flow and pressure become noisy, pumps cavitate, flow is lost."""

    kind = "air-ingress"
    summary = "Air in the coolant: flow and pressure grow noisy, pumps cavitate, flow is lost."
    cause = Cause.FACILITY
    reach = Reach.RACK
    duration_seconds = (3 * HOUR, 48 * HOUR)

    SPREAD_AT_WORST = 0.14
    LOST_AT_WORST = 0.55
    SUCTION_PASCALS = 45_000.0

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Raise the noise first and take flow later."""
        gas = damage(scenario, stress.times)
        progress = scenario.progress(stress.times)
        stress.bubble_ratio[:, lane] += self.SPREAD_AT_WORST * np.sqrt(gas * scenario.severity)
        stress.static_pascals[:, lane] -= self.SUCTION_PASCALS * gas
        stress.flow_ratio[:, lane] *= (1.0 - self.LOST_AT_WORST * gas) * run_dry(progress, 0.96)
        lose_all_gpus(scenario, stress, lane)


class SlowLeak(Story):
    """Coolant is lost drop by drop: pressure falls between refills, the air grows damp.

    Temperatures stay flat until late.  A detector wets when the puddle reaches
    it; the leak policy then cuts the node's power.
    """

    kind = "slow-leak"
    summary = (
        "A node's coolant seeps out: pressure falls between refills, air grows damp, power cut."
    )
    cause = Cause.FACILITY
    reach = Reach.NODE
    duration_seconds = (6 * HOUR, 72 * HOUR)

    LOST_PASCALS = 95_000.0
    REFILL_PASCALS = 14_000.0
    REFILLS = 30.0
    DAMP_RATIO = 0.3
    WETS_FROM = 0.7
    WET_VOLTS = 0.16

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Lower the pressure in a saw of refills that come ever faster."""
        progress, lost = scenario.progress(stress.times), damage(scenario, stress.times)
        count = self.REFILLS * scenario.severity * progress**2
        saw = (count - np.floor(count)) * (progress > 0.0)
        stress.static_pascals[:, lane] -= self.LOST_PASCALS * lost + self.REFILL_PASCALS * saw
        stress.humidity_ratio[:, lane] += self.DAMP_RATIO * lost
        stress.leak_volts[:, lane] += self.WET_VOLTS * after(progress, self.WETS_FROM) ** 2
        stress.flow_ratio[:, lane] *= 1.0 - 0.35 * scenario.severity * after(progress, 0.85)
        power_off(scenario, stress, lane)


class HoseBurst(Story):
    """A hose comes off: pressure collapses in minutes, flow first rises, then there is none."""

    kind = "hose-burst"
    summary = "A hose bursts: pressure collapses, flow surges and ends, the detector cuts power."
    cause = Cause.FACILITY
    reach = Reach.NODE
    pace = Pace.SUDDEN
    duration_seconds = (5 * MINUTE, 25 * MINUTE)

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Lose pressure along the whole way, flow in its second half."""
        progress = scenario.progress(stress.times)
        opened = scenario.severity * np.sqrt(progress)
        surge = 0.35 * scenario.severity * np.sin(np.pi * np.minimum(progress, 0.5) / 0.5)
        stress.static_pascals[:, lane] -= 120_000.0 * opened
        stress.flow_ratio[:, lane] *= (1.0 + surge) * (1.0 - 0.97 * after(progress, 0.5))
        stress.humidity_ratio[:, lane] += 0.35 * opened
        stress.leak_volts[:, lane] += 1.2 * after(progress, 0.3)
        power_off(scenario, stress, lane)


@dataclass(frozen=True)
class WarmSupply(Story):
    """The supply leaves its set point: GPUs follow it until they are slowed, then shut down.

    `kelvin` are added at the end: those of any, and those per unit of severity.
    `inlet_kelvin` is what the room's air gains with it; `swing_kelvin` is what a
    valve that does not obey lets the temperature wander.
    """

    kind: str
    summary: str
    duration_seconds: tuple[float, float]
    kelvin: tuple[float, float]
    inlet_kelvin: float = 0.0
    swing_kelvin: float = 0.0
    cause = Cause.FACILITY
    reach = Reach.RACK

    SWING_SECONDS = 5_400.0

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Warm the supply along the curve; at the end the CDU's and GPUs' limits trip."""
        way = scenario.progress(stress.times) ** scenario.shape
        least, more = self.kelvin
        swing = hunting(scenario, stress.times, self.SWING_SECONDS) * np.minimum(1.0, 4.0 * way)
        stress.supply_kelvin[:, lane] += (least + more * scenario.severity) * way
        stress.supply_kelvin[:, lane] += self.swing_kelvin * scenario.severity * swing
        stress.inlet_kelvin[:, lane] += self.inlet_kelvin * scenario.severity * way
        lose_all_gpus(scenario, stress, lane)


STUCK_VALVE = WarmSupply(
    kind="stuck-valve",
    summary="A CDU's water valve sticks: the supply leaves its set point and wanders upwards.",
    duration_seconds=(2 * HOUR, 36 * HOUR),
    kelvin=(12.0, 14.0),
    swing_kelvin=1.6,
)
HOT_WATER = WarmSupply(
    kind="hot-facility-water",
    summary="The building's water grows hot: coolant supply and room air rise over whole racks.",
    duration_seconds=(2 * HOUR, 48 * HOUR),
    kelvin=(11.0, 13.0),
    inlet_kelvin=5.0,
)


class PumpFailover(Story):
    """Look-alike: a pump is changed over; flow dips for a minute or two, and that is all."""

    kind = "pump-failover"
    summary = "A CDU changes its pump: flow dips by an eighth for a minute; nothing is wrong."
    reach = Reach.RACK
    duration_seconds = (60.0, 180.0)

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Take away up to a sixth of the flow between onset and end."""
        during = stress.between(scenario.onset_seconds, scenario.end_seconds)
        stress.flow_ratio[during, lane] *= 1.0 - 0.17 * scenario.severity
