"""The stories that can happen, by name.

A new one is one `Story` here, and one entry in `STORIES`, from which training sets
are drawn, or in `ON_REQUEST`, which leaves them as they are.  Every story is a
function of simulated time alone, so that live serving and recording agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.faults.coolant_loss import CoolantLoss
from simulator.faults.device import FirmwareHang, Lemon, OffTheBus, OffTheBusWarned
from simulator.faults.driver_reload import DriverReload
from simulator.faults.electricity import LostFeed, LostPduFeed, RegulatorSag, SupplyAgeing
from simulator.faults.exporter_restart import ExporterRestart
from simulator.faults.healthy import Healthy
from simulator.faults.interconnect import CableDecay, LinkRetrain
from simulator.faults.loop import (
    HOT_WATER,
    STUCK_VALVE,
    AirIngress,
    FilterClogging,
    HoseBurst,
    PumpFailover,
    PumpWear,
    SlowLeak,
)
from simulator.faults.memory_storm import MemoryStorm
from simulator.faults.node_cooling import BlockedColdPlate, FanWear
from simulator.faults.power_capping import PowerCapping
from simulator.faults.thermal_interface import ThermalInterface
from simulator.faults.unlike_instruments import (
    BmcReboot,
    DriftingSensor,
    MonitorUpgrade,
    StuckSensor,
)
from simulator.faults.unlike_operations import (
    GivenAway,
    Maintenance,
    MigReconfiguration,
    NodeReboot,
    SeasonalInlet,
)
from simulator.faults.unlike_work import ApplicationXids, CheckpointStall, NewWorkload

if TYPE_CHECKING:
    from simulator.faults.story import Story
    from simulator.scenario import Scenario

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
        BlockedColdPlate(),
        FanWear(),
        PumpWear(),
        FilterClogging(),
        SlowLeak(),
        HoseBurst(),
        STUCK_VALVE,
        HOT_WATER,
        AirIngress(),
        SupplyAgeing(),
        LostFeed(),
        RegulatorSag(),
        CableDecay(),
        LinkRetrain(),
        FirmwareHang(),
        OffTheBusWarned(),
        OffTheBus(),
        Lemon(),
        PumpFailover(),
        NewWorkload(),
        CheckpointStall(),
        ApplicationXids(),
        BmcReboot(),
        StuckSensor(),
        DriftingSensor(),
        MonitorUpgrade(),
        SeasonalInlet(),
        MigReconfiguration(),
        NodeReboot(),
        Maintenance(),
        GivenAway(),
    )
}


ON_REQUEST: dict[str, Story] = {story.kind: story for story in (LostPduFeed(),)}
"""What is told only where it is named: no share of failures, no draw of a training set."""

EVERY: dict[str, Story] = STORIES | ON_REQUEST
"""What may be named."""


def story(kind: str) -> Story:
    """Return the story called `kind`; raises `ValueError` naming those that exist."""
    if kind not in EVERY:
        raise ValueError(f"scenario {kind!r}: expected one of {', '.join(EVERY)}")
    return EVERY[kind]


def told_by(scenario: Scenario) -> Story:
    """Return the story of `scenario`; raises `ValueError` for an unknown or an impossible one."""
    told = story(scenario.kind)
    if told.cause is None and scenario.mended_ratio is not None:
        raise ValueError(f"scenario {scenario.kind!r}: expected a fault where one is to be mended")
    return told
