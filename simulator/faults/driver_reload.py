"""Look-alike: the node's driver is reloaded for an upgrade."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.faults.story import Reach, Story

if TYPE_CHECKING:
    from simulator.physics.stress import Stress
    from simulator.scenario import Scenario


class DriverReload(Story):
    """Work leaves, the page is empty for a moment, and every counter since driver load restarts.

    Lifetime counters (remapped rows) stay.  The page is down in the middle
    third of the story; the driver is new when it returns.
    """

    kind = "driver-reload"
    summary = (
        "The driver is reloaded: a short gap, then counters restart at zero; nothing is wrong."
    )
    reach = Reach.NODE
    duration_seconds = (600.0, 1_800.0)

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Halt the node during the story and cut the page in its middle third."""
        third = scenario.duration_seconds / 3.0
        gone, back = scenario.onset_seconds + third, scenario.onset_seconds + 2.0 * third
        stress.halted[stress.between(scenario.onset_seconds, scenario.end_seconds), lane] = True
        stress.page_down[stress.between(gone, back), lane] = True
        stress.reload[stress.at(back), lane] = True
