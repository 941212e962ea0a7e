"""One address of the facility as a source: each cycle asks for what moves, and some of the rest."""

from __future__ import annotations

from collections import Counter, defaultdict
from random import Random
from typing import TYPE_CHECKING

from exporter.facility.decode import decode
from exporter.facility.items import EquipmentReadings, Item, Loop, Unit
from exporter.facility.judge import Judge
from exporter.facility.walk import PROMPT, Asset, FacilityWalk
from exporter.readings import Missing, Reason, SourceFailed, SourceName
from exporter.redfish import tree
from exporter.redfish.discovery import LASTING
from exporter.redfish.rota import Rota
from exporter.redfish.samples import leaf
from exporter.redfish.session import BmcSession
from exporter.redfish.transport import ResourceFailed
from model.sources import facility as spell

if TYPE_CHECKING:
    from collections.abc import Generator

    from daemon.clocks import Clock
    from exporter.facility.items import UnitReadings
    from exporter.facility.settings import Target

OWN_SHARE = 0.9
"""Part of the deadline that is used, so that a read is back before the frame calls it a hang."""
JITTER_RATIO = 0.1
SOON_CYCLES = 2
"""After a first walk that met trouble, the next one comes so soon, and then later and later."""
FRESH_CYCLES = 3
DISCOVERING = "discovering"


class EquipmentSource:
    """The equipment of one target.

    Until the first walk is over a read delivers nothing and says `discovering`.
    A read of which every resource failed is a failure; one that lost some
    delivers the rest.
    """

    name = SourceName.FACILITY

    def __init__(self, target: Target, *, clock: Clock, random: Random | None = None) -> None:
        self._target = target
        self._monotonic = clock.monotonic
        self._session = BmcSession(target, clock.monotonic)
        self._random = random or Random()  # noqa: S311 - spreads load, guards nothing
        self._judge = Judge()
        self._assets: tuple[Asset, ...] = ()
        self._walk: FacilityWalk | None = None
        self._steps: Generator[None, None, tuple[Asset, ...]] | None = None
        self._due_at = 0.0
        self._survived: Counter[Reason] = Counter()
        self._whole = False
        self._soon_seconds = SOON_CYCLES * target.interval_seconds
        self._rota = Rota[Asset](target.requests_per_cycle, target.slow_cycles)
        self._held: dict[Asset, tuple[tuple[Item | Loop, ...], float]] = {}

    def read(self, now: float) -> EquipmentReadings:
        """Read once; `now` is monotonic seconds.  Raises only `SourceFailed`."""
        deadline = now + OWN_SHARE * self._target.deadline_seconds
        self._session.begin(deadline)
        before = self._session.sent
        errors: Counter[Reason] = Counter()
        if not self._assets:
            self._walk_on(now, deadline, errors)
            if not self._assets or self._monotonic() - now > self._target.deadline_seconds / 2:
                return self._outcome(before, errors, DISCOVERING)
        units = self._cycle(now, errors)
        if self._steps is not None or now >= self._due_at:
            self._walk_on(now, deadline, errors)
        return self._outcome(before, errors, "walked", units, self._oldest(now))

    def close(self) -> None:
        """Delete the session at the equipment; never raises."""
        self._session.close()

    def _outcome(
        self,
        before: int,
        errors: Counter[Reason],
        strategy: str,
        units: tuple[UnitReadings, ...] = (),
        oldest: float = 0.0,
    ) -> EquipmentReadings:
        return EquipmentReadings(
            self.name,
            errors=dict(errors),
            strategy=strategy,
            requests=self._session.sent - before,
            units=units,
            oldest_seconds=oldest,
        )

    def _walk_on(self, now: float, deadline: float, errors: Counter[Reason]) -> None:
        """Walk until the walk is over or the time is up; what was found before stays meanwhile."""
        if self._walk is None or self._steps is None:
            self._walk = FacilityWalk(self._session.get)
            self._survived.clear()
            self._steps = self._walk.run()
        try:
            while self._monotonic() < deadline:
                next(self._steps)
        except StopIteration as end:
            self._assets = _joined(self._assets, end.value)
            self._held = {a: known for a, known in self._held.items() if a in self._assets}
            survived = self._survived + self._walk.errors
            self._whole = self._whole or survived.keys() <= LASTING
            self._schedule(now)
        except SourceFailed:
            self._steps = None
            if not self._assets:
                raise
            self._schedule(now)
        errors += self._walk.errors
        self._survived += self._walk.errors
        self._walk.errors.clear()

    def _schedule(self, now: float) -> None:
        self._steps = None
        spread = 1 + JITTER_RATIO * (2 * self._random.random() - 1)
        wait = self._target.discovery_interval_seconds
        if not self._whole:
            wait = min(wait, self._soon_seconds)
            self._soon_seconds *= 2
        self._due_at = now + spread * wait

    def _cycle(self, now: float, errors: Counter[Reason]) -> tuple[UnitReadings, ...]:
        prompt, slow = self._paces()
        turns = self._rota.turns(len(prompt), slow, host=False)
        due = [*prompt, *(asset for asset in turns if asset is not None)]
        if not self._held:
            due = [*prompt, *slow]
        failures = [failure for asset in due if (failure := self._take(asset, now)) is not None]
        if due and len(failures) == len(due):
            raise SourceFailed(failures[0].reason, failures[0].detail)
        errors.update(failure.reason for failure in failures)
        units = self._judged(now)
        errors += self._judge.take_errors()
        return units

    def _paces(self) -> tuple[list[Asset], list[Asset]]:
        prompt = [asset for asset in self._assets if asset.kind in PROMPT]
        return prompt, [asset for asset in self._assets if asset.kind not in PROMPT]

    def _take(self, asset: Asset, now: float) -> ResourceFailed | None:
        try:
            if asset.members:
                documents = tree.members_in_place(self._session.get, asset.uri)
            else:
                documents = {asset.uri: self._session.get(asset.uri)}
        except ResourceFailed as failure:
            return failure
        found = (
            item
            for uri, document in documents.items()
            for item in decode(asset.kind, leaf(uri), document)
        )
        self._held[asset] = tuple(found), now
        return None

    def _judged(self, now: float) -> tuple[UnitReadings, ...]:
        """Judge what counts now: what was read in this cycle, or waits for its turn."""
        by_unit: dict[Unit, list[Item | Loop]] = defaultdict(list)
        for asset in self._assets:
            found, read_at = self._held.get(asset, ((), now))
            counts = now - read_at <= self._patience(asset)
            by_unit[asset.unit] += found if counts else map(_unread, found)
        return tuple(self._judge.unit(unit, found) for unit, found in by_unit.items())

    def _patience(self, asset: Asset) -> float:
        """Return for how long (seconds) a reading counts: three cycles, or rounds of its turn."""
        if asset.kind in PROMPT:
            return 0.0
        prompt, slow = self._paces()
        cycles = self._rota.cycles(len(prompt), slow, host=False)
        return max(FRESH_CYCLES, cycles + 2) * self._target.interval_seconds

    def _oldest(self, now: float) -> float:
        ages = [now - at for asset, (_, at) in self._held.items() if asset in self._assets]
        counting = [
            age for age in ages if age <= self._target.slow_cycles * self._target.interval_seconds
        ]
        return max(counting, default=0.0)


def _unread(found: Item | Loop) -> Item | Loop:
    """Say of what was known before that it is unknown now; an unread detector is not dry."""
    if isinstance(found, Loop):
        items = tuple(_silent(item) for item in found.items)
        return Loop(found.part, found.primary, items, coolant=found.coolant)
    if found.channel == spell.LEAK_FAULTS and found.missing is None:
        return found._replace(value=1.0)
    return _silent(found)


def _silent(item: Item) -> Item:
    missing = item.missing or Missing.UNREADABLE
    return item._replace(value=None, missing=missing, trouble=None)


def _joined(before: tuple[Asset, ...], found: tuple[Asset, ...]) -> tuple[Asset, ...]:
    """Return what a walk found, and what it did not find again.

    A part that a listing leaves out for a while keeps its place, and is missing;
    an address is of one piece only, and a piece is named once: where one more
    appears, all that was known before of unnamed ones is left behind.
    """
    units = {asset.unit.suffix: asset.unit for asset in found}
    again = {asset.uri for asset in found}
    kept = [
        asset._replace(unit=units[asset.unit.suffix])
        for asset in before
        if asset.uri not in again and asset.unit.suffix in units
    ]
    return (*found, *kept)
