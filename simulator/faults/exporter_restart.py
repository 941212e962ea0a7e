"""Look-alike: dcgm-exporter restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.faults.story import Reach, Story

if TYPE_CHECKING:
    from simulator.physics.stress import Stress
    from simulator.scenario import Scenario

APPLICATION_FAULT = 31


class ExporterRestart(Story):
    """A short gap while work goes on; the latched XID is forgotten, counters go on.

    An application fault shortly before leaves something to forget.
    """

    kind = "exporter-restart"
    summary = "dcgm-exporter restarts: a short gap, the latched XID is forgotten; nothing is wrong."
    reach = Reach.NODE
    duration_seconds = (60.0, 240.0)

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Cut the page between onset and end."""
        before = scenario.onset_seconds - 10.0 * stress.step_seconds
        stress.xid[stress.at(before), lane, scenario.gpu] = APPLICATION_FAULT
        down = stress.between(scenario.onset_seconds, scenario.end_seconds)
        stress.page_down[down, lane] = True
        stress.restart[stress.at(scenario.end_seconds), lane] = True
