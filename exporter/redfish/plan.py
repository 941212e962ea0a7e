"""Which few resources are read each cycle, and which of their sensors speak for which channel."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from exporter.readings import Missing
from model import schema
from model.sources import redfish as spell

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from exporter.redfish.resources import Kind
    from exporter.redfish.samples import Sample


class Rung(IntEnum):
    """The ladder of strategies, cheapest first."""

    METRIC_REPORTS = 1
    THERMAL_POWER = 2
    SUBSYSTEMS = 3
    SENSORS_EXPANDED = 4
    SENSORS_SINGLE = 5


class Resource(NamedTuple):
    """Something to GET; `expand` asks for a collection with its members in place."""

    uri: str
    kind: Kind
    rung: Rung
    expand: bool = False


class Finding(NamedTuple):
    """A sensor that was seen on the walk and could speak for a channel."""

    resource: Resource
    sample: Sample
    channel: str
    rank: int
    rule: spell.Rule

    @property
    def standing(self) -> tuple[int, Rung]:
        """What distinguishes a choice: how well the sensor fits, and how dear it is."""
        return self.rank, self.resource.rung

    @property
    def delivers(self) -> bool:
        """Whether it read something that the channel can be, when it was found."""
        value = self.sample.value
        return value is not None and schema.BY_NAME[self.channel].plausible(value)

    @property
    def chassis(self) -> str:
        """The id of the chassis that it belongs to, or an empty string."""
        _, _, rest = self.sample.key.partition("/Chassis/")
        return rest.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Pick:
    """The sensors that speak for one channel, and how they become one value."""

    rule: spell.Rule
    keys: tuple[str, ...]
    resources: tuple[Resource, ...]
    standing: tuple[int, Rung]


@dataclass(frozen=True, slots=True)
class Plan:
    """One cycle: the picks by channel, and the channels for which there can be none.

    `system` is the address whose `PowerState` says whether the host is on.
    """

    picks: Mapping[str, Pick] = field(default_factory=dict)
    absent: Mapping[str, Missing] = field(default_factory=dict)
    system: str = ""

    @property
    def prompt(self) -> tuple[Resource, ...]:
        """What to GET each cycle, cheapest rung first."""
        every = {r for c in spell.PROMPT if c in self.picks for r in self.picks[c].resources}
        return tuple(sorted(every, key=lambda r: (r.rung, r.uri)))

    @property
    def slow(self) -> tuple[Resource, ...]:
        """What to GET in turn."""
        every = {r for pick in self.picks.values() for r in pick.resources} - {*self.prompt}
        return tuple(sorted(every, key=lambda r: (r.rung, r.uri)))

    @property
    def strategy(self) -> str:
        """The rungs in use, joined by plus signs."""
        rungs = sorted({r.rung for pick in self.picks.values() for r in pick.resources})
        return "+".join(rung.name.lower() for rung in rungs) or "none"


def settled(findings: Iterable[Finding], channel: str) -> bool:
    """Tell whether a sensor that fits well and delivers was already found for `channel`."""
    return any(f.channel == channel and f.rank <= spell.GOOD_RANK and f.delivers for f in findings)


def build(findings: list[Finding], *, system: str, several_nodes: bool, before: Plan) -> Plan:
    """Choose for each channel the best-fitting sensors that deliver, at the least cost.

    A choice once made stays while its sensors are there, so that a moment of
    silence does not hand the channel to a sensor that measures something else;
    and it stays when a part of the tree is left out of the listing for a while.
    `several_nodes` means that one BMC serves nodes that cannot be told apart.
    """
    options: dict[str, list[Pick]] = {}
    absent: dict[str, Missing] = {}
    for channel in spell.READ:
        mine = [f for f in findings if f.channel == channel]
        if several_nodes and len({f.chassis for f in mine}) > 1:
            absent[channel] = Missing.AMBIGUOUS
        elif mine:
            options[channel] = _options(mine, before.picks.get(channel))
        elif channel in before.picks:
            options[channel] = [before.picks[channel]]
        else:
            absent[channel] = Missing.ABSENT_FAMILY
    return Plan(_cheapest(options), absent, system)


def _options(findings: list[Finding], before: Pick | None) -> list[Pick]:
    """Return the ways to read a channel, cheapest rung first, all of the best-fitting sensors."""
    if before is not None and before.standing in {f.standing for f in findings}:
        return [_pick([f for f in findings if f.standing == before.standing])]
    delivering = [f for f in findings if f.delivers] or findings
    rank = min(f.rank for f in delivering)
    rungs = sorted({f.resource.rung for f in delivering if f.rank == rank})
    return [_pick([f for f in findings if f.standing == (rank, rung)]) for rung in rungs]


def _pick(chosen: list[Finding]) -> Pick:
    rule = chosen[0].rule
    if rule in {spell.Rule.ONLY, spell.Rule.SUM}:
        chosen = _of_one_chassis(chosen, only=rule is spell.Rule.ONLY)
    if rule is spell.Rule.FITTED_SUM:
        chosen = [f for f in chosen if f.delivers] or chosen
    return Pick(
        rule,
        tuple(dict.fromkeys(f.sample.key for f in chosen)),
        tuple(dict.fromkeys(f.resource for f in chosen)),
        chosen[0].standing,
    )


def _cheapest(options: dict[str, list[Pick]]) -> dict[str, Pick]:
    """Choose per channel: what must be read anyway costs nothing, else the cheapest rung."""
    picks: dict[str, Pick] = {}
    needed: set[Resource] = set()
    for channel in sorted(options, key=lambda c: len(options[c])):
        ways = options[channel]
        free = [pick for pick in ways if needed.issuperset(pick.resources)]
        picks[channel] = (free or ways)[0]
        needed.update(picks[channel].resources)
    return picks


def _of_one_chassis(findings: list[Finding], *, only: bool) -> list[Finding]:
    """Keep one chassis: mirrored sensors would count twice, and a GPU board is only a part."""
    delivering = [f for f in findings if f.delivers] or findings
    best = min(delivering, key=lambda f: f.chassis.startswith("HGX"))
    if only:
        return [best]
    return [f for f in findings if f.chassis == best.chassis]
