"""The walk: which sensors this BMC has, found rarely, slowly and from every chassis.

Written as generators that pause before each request, so that a tree of fifty
chassis is walked over several cycles and never holds one up.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from exporter.readings import Reason, SourceFailed
from exporter.redfish import tree
from exporter.redfish.plan import Finding, Resource, Rung, settled
from exporter.redfish.resources import Kind, decode
from exporter.redfish.samples import leaf, link, objects, text
from exporter.redfish.transport import ResourceFailed
from model.sources import redfish as spell
from model.sources import redfish_names as sensor_names

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping

    from exporter.redfish.samples import Limits, Sample

ROOT = "/redfish/v1"
EXPAND = "?$expand=.($levels=1)"
ATTEMPTS = 3
CHASSIS_LIMIT = 256
"""A DGX H100 lists 47; a listing that never ends must not keep the BMC busy for ever."""
SINGLES_LIMIT = 48
"""Sensors of one chassis that are read one by one at most, where nothing cheaper works."""
CORE = (spell.INLET, spell.POWER, spell.FAN)
FEEDS = (spell.IN_WATTS, spell.OUT_WATTS, spell.IN_VOLTS)
LIMITED = frozenset({spell.INLET, spell.CPU})
DOUBTS = 2
"""After so many collections that did not arrive whole, $expand is not tried again."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What a walk found."""

    findings: list[Finding]
    chassis: tuple[str, ...]
    system: str
    several_nodes: bool
    samples: Mapping[tuple[Rung, str], Sample]
    """All that was read on the way, by rung and key: one sensor may differ between two."""


@dataclass(slots=True)
class Walk:
    """One walk over the tree behind `get`.

    `chassis` limits it to one node's chassis.  `known` are chassis of earlier
    walks, asked for even where the listing leaves them out: a satellite that
    hangs takes its members silently away.  `avoid` are resources that failed
    often and are treated as not there.
    """

    get: Callable[[str], dict[str, Any]]
    chassis: str = ""
    known: tuple[str, ...] = ()
    avoid: frozenset[str] = frozenset()
    errors: Counter[Reason] = field(default_factory=Counter)
    limits: dict[str, Limits] = field(default_factory=dict)
    """Limits of sensors that are read through a report, which carries none."""
    _findings: list[Finding] = field(default_factory=list)
    _samples: dict[tuple[Rung, str], Sample] = field(default_factory=dict)
    _expand: bool = False
    _doubts: int = 0
    _several: bool = False

    def run(self) -> Generator[None, None, Survey]:
        """Pause before each request; return the survey.  Raises `SourceFailed`."""
        yield
        root = self._root()
        self._expand = tree.advertises_expand(root)
        listed = yield from self._list(link(root, "Chassis") or f"{ROOT}/Chassis")
        listed = listed[:CHASSIS_LIMIT]
        tree.refuse_facility(root, [leaf(uri) for uri in listed])
        systems = yield from self._list(link(root, "Systems"))
        hosts = tree.hosts(systems)
        self._several = tree.several(hosts, self.chassis)
        every = tuple(dict.fromkeys((*listed, *self.known)))
        wanted = tree.chassis_of_node(every, self.chassis, hosts)
        yield from self._reports(link(root, "TelemetryService"))
        documents: dict[str, dict[str, Any]] = {}
        for uri in wanted:
            documents[uri] = yield from self._fetch(uri)
        yield from self._search(documents.values())
        yield from self._processors(systems)
        yield from self._limits()
        if not self._findings and self.errors and not any(documents.values()):
            reason = self.errors.most_common(1)[0][0]
            raise SourceFailed(reason, f"{ROOT}/Chassis: none of {len(wanted)} chassis can be read")
        system = tree.own_system(hosts, self.chassis)
        return Survey(self._findings, wanted, system, self._several, self._samples)

    def _root(self) -> dict[str, Any]:
        try:
            return self.get(ROOT)
        except ResourceFailed as error:
            raise SourceFailed(error.reason, error.detail) from error

    def _search(self, chassis: Iterable[dict[str, Any]]) -> Generator[None, None, None]:
        """Go down the ladder, chassis by chassis; stop where a channel is settled."""
        chassis = [document for document in chassis if document]
        for document in chassis:
            yield from self._read(link(document, "Thermal"), Kind.THERMAL, Rung.THERMAL_POWER)
            yield from self._read(link(document, "Power"), Kind.POWER, Rung.THERMAL_POWER)
        # What is lacking is asked for everywhere: the hottest adapter may be the next one.
        lacking = self._lacking()
        for document in chassis:
            yield from self._subsystems(document, lacking)
        lacking = self._lacking()
        for document in chassis:
            yield from self._sensors(link(document, "Sensors"), lacking)

    def _reports(self, service: str) -> Generator[None, None, None]:
        telemetry = yield from self._fetch(service)
        reports = yield from self._list(link(telemetry, "MetricReports"))
        for uri in reports:
            if spell.PLATFORM_REPORT.search(leaf(uri)):
                yield from self._read(uri, Kind.REPORT, Rung.METRIC_REPORTS)

    def _subsystems(
        self, chassis: dict[str, Any], lacking: frozenset[str]
    ) -> Generator[None, None, None]:
        cooling = yield from self._fetch(link(chassis, "ThermalSubsystem"))
        if spell.INLET in lacking:
            metrics = link(cooling, "ThermalMetrics")
            yield from self._read(metrics, Kind.THERMAL_METRICS, Rung.SUBSYSTEMS)
        if {spell.FAN, spell.FAN_RATIO} <= lacking:
            yield from self._collection(link(cooling, "Fans"), Kind.FAN)
        yield from self._collection(link(cooling, "Pumps"), Kind.PUMP)
        yield from self._collection(link(cooling, "CoolantConnectors"), Kind.CONNECTOR)
        yield from self._leaks(chassis, cooling)
        if spell.POWER in lacking and not tree.is_baseboard(chassis):
            metrics = link(chassis, "EnvironmentMetrics")
            yield from self._read(metrics, Kind.ENVIRONMENT, Rung.SUBSYSTEMS)
        yield from self._feeds(chassis, lacking)

    def _feeds(
        self, chassis: dict[str, Any], lacking: frozenset[str]
    ) -> Generator[None, None, None]:
        """Look at the power supplies, and at their metrics where nothing told what they draw."""
        if lacking.isdisjoint({spell.SUPPLIES_FAILED, spell.WITHOUT_INPUT, *FEEDS}):
            return
        feeding = yield from self._fetch(link(chassis, "PowerSubsystem"))
        supplies = link(feeding, "PowerSupplies")
        if not lacking.isdisjoint({spell.SUPPLIES_FAILED, spell.WITHOUT_INPUT}):
            yield from self._collection(supplies, Kind.SUPPLY)
        if not lacking.isdisjoint(FEEDS):
            for member in (yield from self._list(supplies)):
                document = yield from self._fetch(member)
                metrics = link(document, "Metrics")
                yield from self._read(metrics, Kind.SUPPLY_METRICS, Rung.SUBSYSTEMS)

    def _processors(self, systems: list[str]) -> Generator[None, None, None]:
        """Look at the processors of the node; those of a neighbour are not its own."""
        own = tree.own_system(tree.hosts(systems), self.chassis)
        for uri in systems:
            if uri == own or tree.is_baseboard({"Id": leaf(uri)}):
                system = yield from self._fetch(uri)
                yield from self._collection(link(system, "Processors"), Kind.PROCESSOR)

    def _limits(self) -> Generator[None, None, None]:
        """Ask the sensors behind a report for what it leaves out: where they become critical."""
        for finding in self._findings:
            if finding.resource.kind is Kind.REPORT and finding.channel in LIMITED:
                key = finding.sample.key
                document = yield from self._fetch(key)
                for sample in decode(Kind.SENSOR, key, document, stale_after=float("inf")):
                    self.limits[key] = sample.limits

    def _leaks(
        self, chassis: dict[str, Any], cooling: dict[str, Any]
    ) -> Generator[None, None, None]:
        """Follow the older and the newer place of the detectors, each detector once."""
        detection = yield from self._fetch(link(cooling, "LeakDetection"))
        places = {link(detection, "LeakDetectors"), link(chassis, "LeakDetectors")}
        for uri in sorted(places - {""}):
            yield from self._collection(uri, Kind.LEAK)

    def _collection(self, uri: str, kind: Kind) -> Generator[None, None, None]:
        """Take a small collection whole: expanded where that works, else member by member."""
        members = yield from self._list(uri)
        if not members:
            return
        if len(members) > 1 and (yield from self._expanded(uri, kind, Rung.SUBSYSTEMS, members)):
            return
        for member in members[:SINGLES_LIMIT]:
            yield from self._read(member, kind, Rung.SUBSYSTEMS)

    def _sensors(self, uri: str, lacking: frozenset[str]) -> Generator[None, None, None]:
        """Look for channels that nothing cheaper carries, judging sensors by their ids first."""
        members = yield from self._list(uri)
        hinted = [m for m in members if sensor_names.hinted(leaf(m)) & lacking]
        nameless = bool(members) and all(leaf(m).isdigit() for m in members)
        if not hinted and not (nameless and lacking.intersection(CORE)):
            return
        if (yield from self._expanded(uri, Kind.SENSOR, Rung.SENSORS_EXPANDED, members)):
            return
        core = [m for m in hinted if sensor_names.hinted(leaf(m)).intersection(CORE)]
        for member in dict.fromkeys((*core, *hinted[:SINGLES_LIMIT])):
            yield from self._read(member, Kind.SENSOR, Rung.SENSORS_SINGLE)

    def _expanded(
        self, uri: str, kind: Kind, rung: Rung, members: list[str]
    ) -> Generator[None, None, bool]:
        """Try $expand and believe it only when every member arrives whole."""
        if not self._expand or uri in self.avoid:
            return False
        documents = yield from self._ask(partial(tree.members_in_place, self.get, uri + EXPAND))
        if not tree.whole(kind, documents, members):
            self._doubts += 1
            self._expand = self._doubts < DOUBTS
            return False
        resource = Resource(uri, kind, rung, expand=True)
        for member, document in documents.items():
            self._note(resource, decode(kind, member, document, stale_after=float("inf")))
        return True

    def _lacking(self) -> frozenset[str]:
        """Return what to look further for; with several nodes a find may be a neighbour's."""
        return frozenset(c for c in spell.READ if self._several or not settled(self._findings, c))

    def _read(self, uri: str, kind: Kind, rung: Rung) -> Generator[None, None, None]:
        document = yield from self._fetch(uri)
        if document:
            samples = decode(kind, uri, document, stale_after=float("inf"))
            self._note(Resource(uri, kind, rung), samples)

    def _note(self, resource: Resource, samples: Iterable[Sample]) -> None:
        for sample in samples:
            self._samples[resource.rung, sample.key] = sample
            if sample.channel:
                rule = spell.RULES[sample.channel]
                if sample.channel == spell.POWER and sample.rank:
                    rule = spell.Rule.SUM
                found = sample.channel, sample.rank, rule
            else:
                named = sensor_names.spelling_of(sample.quantity, sample.context, *sample.names)
                if named is None:
                    continue
                found = named
            self._findings.append(Finding(resource, sample, *found))

    def _fetch(self, uri: str) -> Generator[None, None, dict[str, Any]]:
        """Return a resource, or an empty one where there is none or it cannot be read."""
        if not uri or uri in self.avoid:
            return {}
        return (yield from self._ask(partial(self.get, uri)))

    def _ask(self, question: Callable[[], dict[str, Any]]) -> Generator[None, None, dict[str, Any]]:
        """Ask, and again where only the end of a cycle cut the answer short."""
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
        found: dict[str, None] = {}
        pages: set[str] = set()
        while uri and uri not in pages and len(pages) < tree.PAGES_LIMIT:
            pages.add(uri)
            page = yield from self._fetch(uri)
            for _, member in objects(page, "Members"):
                if address := text(member, "@odata.id"):
                    found[address] = None
            uri = text(page, "Members@odata.nextLink") or text(page, "@odata.nextLink")
        return list(found)
