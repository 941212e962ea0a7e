"""Items of one piece of equipment become its channels: a value, or one named kind of missing."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from exporter.facility import loops
from exporter.facility.items import Item, Loop, Unit, UnitReadings
from exporter.readings import Missing, Reason
from exporter.redfish.interpret import COUNTED, combine
from model import schema
from model.sources import facility as spell
from model.sources.facility import Coolant
from model.sources.redfish import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PREFIX = "facility_"
LOADED_WATTS = 100.0
"""Below this a supply's efficiency says more of its meter than of its age."""


class Judge:
    """Keeps between cycles which sensors ever read something, and what was said of them."""

    def __init__(self) -> None:
        self._alive: set[tuple[str, str, str]] = set()
        self._said: set[tuple[str, str, Reason]] = set()
        self._errors: Counter[Reason] = Counter()

    def take_errors(self) -> Counter[Reason]:
        """Return what was survived since the last call."""
        errors, self._errors = +self._errors, Counter()
        return errors

    def unit(self, unit: Unit, found: Iterable[Item | Loop]) -> UnitReadings:
        """Return the channels of one piece of equipment."""
        found = list(found)
        items = [item for item in found if isinstance(item, Item)]
        connectors = [loop for loop in found if isinstance(loop, Loop)]
        names = loops.names(connectors, unit.kind, self._dead(unit, connectors))
        residuals = []
        for loop in connectors:
            more, residual = self._loop(unit, loop, names[loop.part])
            items += more
            residuals.append(residual)
        known = self._combined(unit, items)
        known |= {name: _plausible(name, v) for name, v in loops.worst(residuals).items()}
        self._efficiency(items, known)
        _dew_margin(known)
        values = {c: v for c, v in known.items() if not isinstance(v, Missing)}
        missing = {c: v for c, v in known.items() if isinstance(v, Missing)}
        return UnitReadings(unit, values, missing)

    def _dead(self, unit: Unit, connectors: Sequence[Loop]) -> list[str]:
        """Return the loops of which nothing was ever read; an unread one that lived is not dead."""
        return [
            loop.part
            for loop in connectors
            if not any(
                item.value or _key(unit, item.channel, item) in self._alive for item in loop.items
            )
        ]

    def _loop(self, unit: Unit, loop: Loop, name: str) -> tuple[list[Item], dict[str, float]]:
        """Name a loop's items, and compute what follows from them."""
        named = [item._replace(channel=name + item.channel) for item in loop.items]
        known: dict[str, float] = {}
        for plain, item in zip(loop.items, named, strict=True):
            value = self._one(unit, item.channel, item)
            if isinstance(value, float):
                known[plain.channel] = value
        physics = loops.compute(known, loop.coolant or unit.coolant or Coolant())
        if physics.drop is not None and name == spell.COOLANT:
            named.append(Item(name + spell.DROP, loop.part, physics.drop))
        if physics.heat is not None:
            named.append(Item(name + spell.HEAT, loop.part, physics.heat))
        return named, loops.residuals(loop, physics)

    def _combined(self, unit: Unit, items: Iterable[Item]) -> dict[str, float | Missing]:
        by_channel: dict[str, list[Item]] = defaultdict(list)
        for item in items:
            if PREFIX + item.channel in schema.BY_NAME:
                by_channel[item.channel].append(item)
        return {channel: self._channel(unit, channel, of) for channel, of in by_channel.items()}

    def _channel(self, unit: Unit, channel: str, items: Iterable[Item]) -> float | Missing:
        known: list[float] = []
        kinds: list[Missing] = []
        for item in items:
            if item.trouble is not None:
                said = unit.suffix, item.part, item.trouble
                self._errors[item.trouble] += said not in self._said
                self._said.add(said)
            result = self._one(unit, channel, item)
            if isinstance(result, Missing):
                kinds.append(result)
                if result in COUNTED:
                    self._errors[COUNTED[result]] += 1
            else:
                known.append(result)
        rule = spell.RULES.get(channel, Rule.HIGHEST)
        return _plausible(channel, combine(rule, known, _without_unfitted(known, kinds)))

    def _one(self, unit: Unit, channel: str, item: Item) -> float | Missing:
        if item.value is None:
            return item.missing or Missing.UNREADABLE
        if channel in spell.ZERO_NEEDS_HISTORY:
            key = (
                unit.suffix,
                channel.removeprefix(spell.WATER).removeprefix(spell.COOLANT),
                item.part,
            )
            if item.value or item.ailing:
                self._alive.add(key)
            if key not in self._alive:
                return Missing.ZERO_MEANS_NONE
        return _plausible(channel, item.value)

    def _efficiency(self, items: Iterable[Item], known: dict[str, float | Missing]) -> None:
        """Add the efficiency of the worst supply that is under load."""
        into: dict[str, float] = {}
        out: dict[str, float] = {}
        for item in items:
            owner = item.part.partition("|")[0]
            if item.value is not None and item.channel == spell.IN_WATTS:
                into[owner] = item.value
            if item.value is not None and item.channel == spell.OUT_WATTS:
                out[owner] = item.value
        ratios = [out[o] / watts for o, watts in into.items() if o in out and watts >= LOADED_WATTS]
        if ratios:
            known[spell.EFFICIENCY] = _plausible(spell.EFFICIENCY, min(ratios))


def _key(unit: Unit, channel: str, item: Item) -> tuple[str, str, str]:
    """Return what a sensor is remembered by, whichever loop its connector is taken for."""
    plain = channel.removeprefix(spell.WATER).removeprefix(spell.COOLANT)
    return unit.suffix, plain, item.part


def _without_unfitted(known: Sequence[float], kinds: Sequence[Missing]) -> list[Missing]:
    """Leave out what is not fitted, as long as something else speaks for the channel."""
    if not known:
        return list(kinds)
    return [kind for kind in kinds if kind is not Missing.ZERO_MEANS_NONE]


def _plausible(channel: str, value: float | Missing) -> float | Missing:
    row = schema.BY_NAME.get(PREFIX + channel)
    if row is None or isinstance(value, Missing) or row.plausible(value):
        return value
    return Missing.OUT_OF_RANGE


def _dew_margin(known: dict[str, float | Missing]) -> None:
    """Compute the distance to the dew point where the equipment does not say it."""
    supply = known.get(spell.COOLANT + spell.SUPPLY)
    point = known.get("dew_point_celsius")
    if spell.DEW_MARGIN in known:
        return
    if isinstance(supply, float) and isinstance(point, float):
        known[spell.DEW_MARGIN] = supply - point
