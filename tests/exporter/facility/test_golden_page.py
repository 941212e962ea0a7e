"""The whole page of a facility: loop, door, PDU, shelves, switch tray, and one that is dead."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from prometheus_client import CollectorRegistry

from daemon.clocks import Clock
from daemon.logs import logger
from exporter.collectors import Collector, Pace
from exporter.facility.equipment import EquipmentSource
from exporter.facility.publish import FacilityPage, FacilityView, Standing
from exporter.facility.settings import Target
from exporter.page import exposition
from tests.exporter.redfish.fake_bmc import FakeBmc, recorded
from tests.factories.sources import Ticks

RACKS = {
    "ocp-cdu": ("r1", "r2"),
    "ocp-rack-pdu": ("r1",),
    "ocp-rear-door-heat-exchanger": ("r2",),
    "ocp-power-shelf": ("r1",),
    "powershelf-delta": ("r2",),
    "nvidia-gb200-nvswitch-tray": ("r1",),
}
CYCLES = 24


class Facility:
    """Recorded equipment on loopback, one address that nobody answers, time in the test's hand."""

    def __init__(self, trees: Path) -> None:
        self.ticks = Ticks()
        self.bmcs = {name: FakeBmc(recorded(trees / name)) for name in RACKS}
        urls = {name: bmc.url for name, bmc in self.bmcs.items()} | {"dead": "http://127.0.0.1:9"}
        self.targets = tuple(
            Target(equipment=name, url=url, racks=RACKS.get(name, ("r2",)))
            for name, url in urls.items()
        )
        clock = Clock(self.ticks.wall, self.ticks.monotonic)
        self.collectors = [
            Collector(
                EquipmentSource(target, clock=clock, random=Random(1)),
                Pace(60.0, 60.0, 5, 300.0),
                clock=clock,
                log=logger("test", stream=io.StringIO()),
            )
            for target in self.targets
        ]

    def live(self, cycles: int) -> None:
        for _ in range(cycles):
            self.ticks.advance(60.0)
            for collector in self.collectors:
                collector.collect()

    def view(self) -> FacilityView:
        statuses = (collector.status() for collector in self.collectors)
        standings = tuple(map(Standing, self.targets, statuses))
        racks = {"n1": "r1", "n2": "r2"}
        return FacilityView(self.ticks.monotonic(), standings, racks, True, "1.2.3")

    def close(self) -> None:
        for collector in self.collectors:
            collector.close(1.0)
        for bmc in self.bmcs.values():
            bmc.close()


@pytest.fixture
def facility(shared_data: Path) -> Iterator[Facility]:
    one = Facility(shared_data / "redfish")
    yield one
    one.close()


def test_golden_page_of_a_facility(facility: Facility, golden: Callable[[str, str], None]) -> None:
    facility.live(CYCLES)
    registry = CollectorRegistry()
    registry.register(FacilityPage(facility.view))
    golden("facility.prom", exposition.text(registry.collect()).decode())
