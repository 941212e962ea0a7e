"""The walk: what equipment an address has and which resources speak for it, found rarely.

Written as a generator that pauses before each request, so that a large PDU is
walked over several cycles and never holds one up.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from exporter.facility.decode import Kind, coolant_of
from exporter.facility.items import Unit
from exporter.readings import Reason, SourceFailed
from exporter.redfish import tree
from exporter.redfish.samples import leaf, link, obj, objects, text
from exporter.redfish.transport import ResourceFailed
from model.sources import facility as spell
from model.sources.redfish import words

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

ROOT = "/redfish/v1"
EXPAND = "?$expand=.($levels=1)"
ATTEMPTS = 3
PARTS_LIMIT = 256
PROMPT = frozenset({Kind.PRIMARY, Kind.SECONDARY, Kind.DETECTOR, Kind.ENVIRONMENT, Kind.SENSOR})
"""What is read each cycle; parts take turns."""
ESSENTIAL: dict[Kind, frozenset[str]] = {
    Kind.SENSOR: frozenset({"Reading"}),
    Kind.DETECTOR: frozenset({"DetectorState"}),
}
"""What an expanded member must have to be whole; others must have a `Name` or `Id`."""
LOOPS = (
    ("PrimaryCoolantConnectors", Kind.PRIMARY),
    ("SecondaryCoolantConnectors", Kind.SECONDARY),
    ("Pumps", Kind.PUMP),
    ("Reservoirs", Kind.RESERVOIR),
    ("Filters", Kind.FILTER),
    ("Mains", Kind.MAINS),
    ("Branches", Kind.BRANCH),
)


class Asset(NamedTuple):
    """Something to GET; `members` means a collection whose members come in place."""

    unit: Unit
    kind: Kind
    uri: str
    members: bool = False


@dataclass(slots=True)
class FacilityWalk:
    """One walk over the tree behind `get`; `errors` are what was survived."""

    get: Callable[[str], dict[str, Any]]
    errors: Counter[Reason] = field(default_factory=Counter)
    _assets: dict[Asset, None] = field(default_factory=dict)
    _expand: bool = False

    def run(self) -> Generator[None, None, tuple[Asset, ...]]:
        """Pause before each request; return the assets.  Raises `SourceFailed`."""
        yield
        try:
            root = self.get(ROOT)
        except ResourceFailed as error:
            raise SourceFailed(error.reason, error.detail) from error
        self._expand = tree.advertises_expand(root)
        listed = yield from self._units(root)
        if not listed:
            listed = yield from self._bare_chassis(root)
        if not listed:
            raise SourceFailed(
                Reason.NO_RESOURCE,
                f"{ROOT}: neither cooling nor power equipment; a node's BMC belongs to "
                "the exporter of its node",
            )
        return tuple(self._assets)

    def _units(self, root: dict[str, Any]) -> Generator[None, None, list[str]]:
        """Find the equipment that the service lists as such."""
        found: list[tuple[str, spell.Equipment]] = []
        for name, collections in spell.COLLECTIONS.items():
            uri = link(root, name) or link(root, spell.OLD_ROOTS.get(name, name))
            equipment = yield from self._fetch(uri)
            for collection, kind in collections.items():
                members = yield from self._list(link(equipment, collection))
                found += [(member, kind) for member in members]
        chassis: set[str] = set()
        for uri, kind in found:
            suffix = f"{kind}-{leaf(uri)}" if len(found) > 1 else ""
            yield from self._unit(uri, Unit(kind, suffix), chassis)
        return [uri for uri, _ in found]

    def _unit(self, uri: str, unit: Unit, chassis: set[str]) -> Generator[None, None, None]:
        document = yield from self._fetch(uri)
        unit = replace(unit, coolant=coolant_of(document))
        for name, kind in LOOPS:
            yield from self._collection(link(document, name), kind, unit)
        yield from self._leaks(link(document, "LeakDetection"), unit)
        own = link(document, "EnvironmentMetrics") or link(document, "Metrics")
        yield from self._single(own, Kind.ENVIRONMENT, unit)
        for _, member in objects(obj(document, "Links"), "Chassis"):
            address = text(member, "@odata.id")
            if address and address not in chassis:
                # Two pieces may share one chassis; its parts are counted once.
                chassis.add(address)
                yield from self._chassis(address, unit, environment=not own)

    def _bare_chassis(self, root: dict[str, Any]) -> Generator[None, None, list[str]]:
        """Take equipment that shows itself as chassis alone: shelves, and trays of switches."""
        listed = yield from self._list(link(root, "Chassis") or f"{ROOT}/Chassis")
        kinds = {
            kind: [uri for uri in listed if pattern.search(words(leaf(uri)))]
            for kind, pattern in spell.CHASSIS.items()
        }
        for uri in kinds[spell.Equipment.POWER_SHELF]:
            suffix = leaf(uri) if len(kinds[spell.Equipment.POWER_SHELF]) > 1 else ""
            yield from self._chassis(uri, Unit(spell.Equipment.POWER_SHELF, suffix))
        if kinds[spell.Equipment.SWITCH_TRAY]:
            for uri in listed:
                yield from self._chassis(uri, Unit(spell.Equipment.SWITCH_TRAY))
        return [uri for found in kinds.values() for uri in found]

    def _chassis(
        self, uri: str, unit: Unit, *, environment: bool = False
    ) -> Generator[None, None, None]:
        document = yield from self._fetch(uri)
        cooling = yield from self._fetch(link(document, "ThermalSubsystem"))
        yield from self._single(link(cooling, "ThermalMetrics"), Kind.THERMAL_METRICS, unit)
        yield from self._collection(link(cooling, "Fans"), Kind.FAN, unit)
        yield from self._leaks(link(cooling, "LeakDetection"), unit)
        if environment:
            yield from self._single(link(document, "EnvironmentMetrics"), Kind.ENVIRONMENT, unit)
        feeding = yield from self._fetch(link(document, "PowerSubsystem"))
        yield from self._supplies(link(feeding, "PowerSupplies"), unit)
        yield from self._sensors(link(document, "Sensors"), unit)

    def _supplies(self, uri: str, unit: Unit) -> Generator[None, None, None]:
        yield from self._collection(uri, Kind.SUPPLY, unit)
        for member in (yield from self._list(uri)):
            document = yield from self._fetch(member)
            yield from self._single(link(document, "Metrics"), Kind.SUPPLY_METRICS, unit)

    def _sensors(self, uri: str, unit: Unit) -> Generator[None, None, None]:
        """Take sensors by their ids, all at once where the collection brings them along."""
        members = yield from self._list(uri)
        wanted = [m for m in members if any(spell.sensor_channel(q, leaf(m)) for q in QUANTITIES)]
        if wanted and not (yield from self._in_place(uri, Kind.SENSOR, unit, members)):
            for member in wanted:
                self._assets[Asset(unit, Kind.SENSOR, member)] = None

    def _leaks(self, uri: str, unit: Unit) -> Generator[None, None, None]:
        detection = yield from self._fetch(uri)
        yield from self._collection(link(detection, "LeakDetectors"), Kind.DETECTOR, unit)

    def _collection(self, uri: str, kind: Kind, unit: Unit) -> Generator[None, None, None]:
        members = yield from self._list(uri)
        if not members or (yield from self._in_place(uri, kind, unit, members)):
            return
        for member in members[:PARTS_LIMIT]:
            self._assets[Asset(unit, kind, member)] = None

    def _in_place(
        self, uri: str, kind: Kind, unit: Unit, members: list[str]
    ) -> Generator[None, None, bool]:
        """Try the collection as it is, then expanded; believe it when all members are whole."""
        for query in ("", EXPAND) if self._expand and len(members) > 1 else ("",):
            documents = yield from self._ask(partial(tree.members_in_place, self.get, uri + query))
            if all(_whole(kind, documents.get(member, {})) for member in members):
                self._assets[Asset(unit, kind, uri + query, members=True)] = None
                return True
        return False

    def _single(self, uri: str, kind: Kind, unit: Unit) -> Generator[None, None, None]:
        """Take a resource that is there: a link may lead nowhere."""
        if (yield from self._fetch(uri)):
            self._assets[Asset(unit, kind, uri)] = None

    def _fetch(self, uri: str) -> Generator[None, None, dict[str, Any]]:
        if not uri:
            return {}
        return (yield from self._ask(partial(self.get, uri)))

    def _ask(self, question: Callable[[], dict[str, Any]]) -> Generator[None, None, dict[str, Any]]:
        reason = Reason.TIMEOUT
        for _ in range(ATTEMPTS):
            yield
            try:
                return question()
            except ResourceFailed as error:
                reason = error.reason
                if error.asked:
                    break
        self.errors[reason] += 1
        return {}

    def _list(self, uri: str) -> Generator[None, None, list[str]]:
        """Return the addresses of a collection's members over all of its pages."""
        if not uri:
            return []
        return list((yield from self._ask(partial(tree.members_in_place, self.get, uri))))


QUANTITIES = tuple(dict.fromkeys(term.quantity for term in spell.SENSORS))


def _whole(kind: Kind, document: dict[str, Any]) -> bool:
    needed = ESSENTIAL.get(kind)
    if needed is not None:
        return needed <= document.keys()
    return not document.keys().isdisjoint({"Name", "Id"})
