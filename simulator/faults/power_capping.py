"""Look-alike: the site lowers the power limit for some hours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.faults.story import HOUR, Reach, Story
from simulator.physics import board

if TYPE_CHECKING:
    from simulator.physics.stress import Stress
    from simulator.scenario import Scenario

LOWERED_AT_WORST = 0.45


class PowerCapping(Story):
    """Clocks fall and power-violation time grows on every GPU, and nothing is wrong."""

    kind = "power-capping"
    summary = (
        "The site lowers the power limit: clocks fall, violation time grows, nothing is wrong."
    )
    reach = Reach.NODE
    duration_seconds = (1 * HOUR, 24 * HOUR)

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Lower the limit between onset and end."""
        during = stress.between(scenario.onset_seconds, scenario.end_seconds)
        limit = board.POWER_LIMIT_WATTS * (1.0 - LOWERED_AT_WORST * scenario.severity)
        stress.power_limit_watts[during, lane, :] = round(limit)
