"""Nothing happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.faults.story import Reach, Story
from simulator.scenario import HEALTHY

if TYPE_CHECKING:
    from simulator.physics.stress import Stress
    from simulator.scenario import Scenario


class Healthy(Story):
    """A machine that ages no further."""

    kind = HEALTHY
    summary = "Nothing happens: work, noise, and the odd gap."
    reach = Reach.NODE
    duration_seconds = (1.0, 1.0)

    @property
    def lookalike(self) -> bool:
        """Healthy operation resembles no fault."""
        return False

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Leave everything as it is."""
