"""What scenarios do to machines: the hands with which a fault reaches into the physics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulator import board

if TYPE_CHECKING:
    from simulator.arrays import Flags, Floats


@dataclass(frozen=True, slots=True)
class Stress:
    """Conditions that differ from a healthy machine's, per step.

    [step, node, gpu]: `interface_ratio` multiplies the thermal resistance of
    the solid path; `correctable_per_second` and `remaps_per_second` are added
    rates under load; `uncorrectable` errors and `xid` codes (0 = none) happen
    at a step; `power_limit_watts`, `remap_failed`, `recovery_action` are levels;
    `dead` GPUs draw nothing and have left the bus; [step, node]: `flow_ratio`
    multiplies the coolant flow, `halted` nodes run no work, `page_down` is an
    exporter that does not answer, `reload` a step at which the driver starts
    anew, `restart` one at which only the exporter does.
    """

    times: Floats
    step_seconds: float
    interface_ratio: Floats
    correctable_per_second: Floats
    remaps_per_second: Floats
    uncorrectable: Floats
    xid: Floats
    power_limit_watts: Floats
    remap_failed: Flags
    recovery_action: Floats
    dead: Flags
    flow_ratio: Floats
    halted: Flags
    page_down: Flags
    reload: Flags
    restart: Flags

    def at(self, seconds: float) -> Flags:
        """Return [step]: the one step, if any, by which `seconds` has just come."""
        return (self.times >= seconds) & (self.times - self.step_seconds < seconds)

    def between(self, start_seconds: float, end_seconds: float) -> Flags:
        """Return [step]: whether each step lies in [start, end)."""
        return (self.times >= start_seconds) & (self.times < end_seconds)


def calm(times: Floats, step_seconds: float, nodes: int, gpus: int) -> Stress:
    """Return the conditions of healthy machines."""
    wide, narrow = (times.size, nodes, gpus), (times.size, nodes)
    return Stress(
        times=times,
        step_seconds=step_seconds,
        interface_ratio=np.ones(wide),
        correctable_per_second=np.zeros(wide),
        remaps_per_second=np.zeros(wide),
        uncorrectable=np.zeros(wide),
        xid=np.zeros(wide),
        power_limit_watts=np.full(wide, board.POWER_LIMIT_WATTS),
        remap_failed=np.zeros(wide, dtype=bool),
        recovery_action=np.zeros(wide),
        dead=np.zeros(wide, dtype=bool),
        flow_ratio=np.ones(narrow),
        halted=np.zeros(narrow, dtype=bool),
        page_down=np.zeros(narrow, dtype=bool),
        reload=np.zeros(narrow, dtype=bool),
        restart=np.zeros(narrow, dtype=bool),
    )
