"""What the parts of one piece of equipment say, before it becomes one value per channel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from exporter.readings import SourceReadings
from model.sources.facility import Coolant, Equipment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exporter.readings import Missing, Reason


class Item(NamedTuple):
    """One property of one part: a value in the channel's unit, or why there is none."""

    channel: str
    part: str
    value: float | None
    missing: Missing | None = None
    ailing: bool = False
    trouble: Reason | None = None


class Loop(NamedTuple):
    """One coolant connector: what it measures, and what it says of that itself.

    `items` are named by the loop's own names, without `coolant_` or `water_`;
    `rise` (K), `drop` (Pa) and `heat` (W) are as reported, None where they are not.
    """

    part: str
    primary: bool
    items: tuple[Item, ...]
    rise: float | None = None
    drop: float | None = None
    heat: float | None = None
    coolant: Coolant | None = None


@dataclass(frozen=True, slots=True)
class Unit:
    """One piece of equipment behind an address; `suffix` tells it from others there."""

    kind: Equipment
    suffix: str = ""
    coolant: Coolant | None = None


@dataclass(frozen=True, slots=True)
class UnitReadings:
    """Channels of one piece, without `facility_`: values, and kinds of missing of the others."""

    unit: Unit
    values: Mapping[str, float]
    missing: Mapping[str, Missing]


@dataclass(frozen=True, slots=True)
class EquipmentReadings(SourceReadings):
    """One successful read of a target; `oldest_seconds` is the age of what waits for its turn."""

    units: tuple[UnitReadings, ...] = field(default=())
    oldest_seconds: float = 0.0
