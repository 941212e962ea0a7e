"""The stories that can happen, by name.

A new one is one file here with a `Story` subclass, and one entry in `STORIES`.
Every story is a function of simulated time alone, so that live serving and
recording agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.faults.coolant_loss import CoolantLoss
from simulator.faults.driver_reload import DriverReload
from simulator.faults.exporter_restart import ExporterRestart
from simulator.faults.healthy import Healthy
from simulator.faults.memory_storm import MemoryStorm
from simulator.faults.power_capping import PowerCapping
from simulator.faults.thermal_interface import ThermalInterface

if TYPE_CHECKING:
    from simulator.faults.story import Story

STORIES: dict[str, Story] = {
    story.kind: story
    for story in (
        Healthy(),
        ThermalInterface(),
        MemoryStorm(),
        CoolantLoss(),
        PowerCapping(),
        DriverReload(),
        ExporterRestart(),
    )
}


def story(kind: str) -> Story:
    """Return the story called `kind`; raises `ValueError` naming those that exist."""
    if kind not in STORIES:
        raise ValueError(f"scenario {kind!r}: expected one of {', '.join(STORIES)}")
    return STORIES[kind]
