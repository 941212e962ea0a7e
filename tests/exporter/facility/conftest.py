"""A fake piece of equipment, a reader of it, and a clock that only moves when told to."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from daemon.clocks import Clock
from exporter.facility.equipment import EquipmentSource
from exporter.facility.items import EquipmentReadings, UnitReadings
from exporter.facility.settings import Target
from tests.exporter.redfish.conftest import Hands
from tests.exporter.redfish.fake_bmc import FakeBmc


class Plant:
    """One address of the facility, one reader, one clock."""

    def __init__(self, documents: dict[str, Any], hands: Hands, settings: dict[str, Any]) -> None:
        self.bmc = FakeBmc(copy.deepcopy(documents), auth="username_file" in settings)
        self.hands = hands
        self.target = Target(equipment="cdu-1", url=self.bmc.url, **settings)
        clock = Clock(wall=hands, monotonic=hands)
        self.source = EquipmentSource(self.target, clock=clock, random=Random(1))

    def read(self) -> EquipmentReadings:
        self.hands.advance(60)
        return self.source.read(self.hands.now)

    def unit(self) -> UnitReadings:
        (unit,) = self.read().units
        return unit


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def plant(hands: Hands) -> Iterator[Callable[..., Plant]]:
    made: list[Plant] = []

    def build(documents: dict[str, Any], **settings: Any) -> Plant:
        made.append(Plant(documents, hands, settings))
        return made[-1]

    yield build
    for one in made:
        one.source.close()
        one.bmc.close()
