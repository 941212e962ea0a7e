"""The BMC as a source: each cycle asks for what the plan needs and no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from exporter.readings import Missing, Place, Reason, SourceFailed, SourceName, SourceReadings
from exporter.redfish import tree
from exporter.redfish.discovery import Discovery
from exporter.redfish.interpret import Interpreter
from exporter.redfish.plan import Plan, Resource, Rung
from exporter.redfish.resources import decode
from exporter.redfish.rota import Rota
from exporter.redfish.samples import Sample, text
from exporter.redfish.session import BmcSession
from exporter.redfish.stillness import Stillness
from exporter.redfish.transport import ResourceFailed
from exporter.redfish.walk import EXPAND
from model.sources import redfish as spell

if TYPE_CHECKING:
    from collections.abc import Iterable

    from daemon.clocks import Clock
    from exporter.redfish.settings import BmcSettings

DISCOVERING = "discovering"
NOTHING: Mapping[Place, Any] = MappingProxyType({})
OWN_SHARE = 0.9
"""Part of the deadline that is used, so that a read is back before the frame calls it a hang."""


class RedfishSource:
    """The node's own BMC.

    Until the first walk is over, which may take several cycles on a slow BMC,
    a read delivers nothing and says `discovering`.  `random` spreads the walks
    of many nodes over time.
    """

    name = SourceName.REDFISH

    def __init__(
        self, settings: BmcSettings, *, clock: Clock, random: Random | None = None
    ) -> None:
        self._settings = settings
        self._monotonic = clock.monotonic
        self._session = BmcSession(settings, clock.monotonic)
        self._discovery = Discovery(
            settings,
            self._session,
            monotonic=clock.monotonic,
            random=random or Random(),  # noqa: S311 - spreads load, guards nothing
        )
        self._interpreter = Interpreter()
        self._held: dict[tuple[Rung, str], tuple[Sample, float]] = {}
        self._keys: dict[Resource, tuple[str, ...]] = {}
        self._rota = Rota[Resource](settings.requests_per_cycle, settings.slow_cycles)
        self._stillness = Stillness()
        self._host_on = True

    def read(self, now: float) -> SourceReadings:
        """Read once; `now` is monotonic seconds.  Raises only `SourceFailed`."""
        discovery = self._discovery
        discovery.refuse(now)
        deadline = now + OWN_SHARE * self._settings.deadline_seconds
        self._session.begin(deadline)
        before = self._session.sent
        errors: Counter[Reason] = Counter()
        walked = False
        if discovery.plan is None:
            errors += discovery.go_on(now, deadline)
            walked = self._hold_found(now)
            spent = self._monotonic() - now
            in_time = walked or spent <= self._settings.deadline_seconds / 2
            if discovery.plan is None or not in_time:
                return self._outcome(before, errors, DISCOVERING)
        plan = discovery.plan
        values, missing = self._cycle(plan, now, errors, walked=walked)
        ages = {place: age for place, age in self._ages(plan, now).items() if place in values}
        if discovery.due(now):
            errors += discovery.go_on(now, deadline)
            self._hold_found(now)
        return self._outcome(before, errors, plan.strategy, values, missing, ages)

    def close(self) -> None:
        """Delete the session at the BMC; never raises."""
        self._session.close()

    def _hold_found(self, now: float) -> bool:
        """Hold what a walk that ended has read; return whether it all is of this cycle."""
        found, self._discovery.found = self._discovery.found, {}
        within = self._discovery.began_at >= now
        for (rung, _), sample in found.items():
            self._hold(rung, sample, now if within else self._discovery.began_at)
        return bool(found) and within

    def _outcome(
        self,
        before: int,
        errors: Counter[Reason],
        strategy: str,
        values: Mapping[Place, float] = NOTHING,
        missing: Mapping[Place, Missing] = NOTHING,
        ages: Mapping[Place, float] = NOTHING,
    ) -> SourceReadings:
        return SourceReadings(
            self.name,
            values,
            missing,
            errors=dict(errors),
            strategy=strategy,
            requests=self._session.sent - before,
            ages=ages,
        )

    def _cycle(
        self, plan: Plan, now: float, errors: Counter[Reason], *, walked: bool
    ) -> tuple[dict[Place, float], dict[Place, Missing]]:
        """Read and judge; what was `walked` just now is not read twice."""
        if not plan.picks:
            raise SourceFailed(Reason.NO_RESOURCE, "the tree has no sensor that speaks for a node")
        due, hosts_turn = ([], True) if walked else self._due(plan)
        failed: dict[Resource, ResourceFailed] = {}
        for resource in due:
            try:
                self._take(resource, now)
            except ResourceFailed as failure:
                failed[resource] = failure
                self._discovery.strike(resource.uri, failure)
        if due and len(failed) == len(due):
            first = failed[due[0]]
            raise SourceFailed(first.reason, first.detail)
        if plan.system and (hosts_turn or not self._host_on):
            self._ask_host(plan, errors)
        errors.update(failure.reason for failure in failed.values())
        samples = self._samples(plan, now, frozenset(failed))
        result = self._interpreter.channels(
            plan,
            samples,
            silence=self._silence([r for r in plan.prompt if r not in failed]),
            beside=self._fresh(now, self._patience(plan)),
        )
        errors += self._interpreter.take_errors()
        return result

    def _due(self, plan: Plan) -> tuple[list[Resource], bool]:
        """Return what this cycle reads, and whether it is the turn of the host's power state."""
        prompt = plan.prompt
        turns = self._rota.turns(len(prompt), plan.slow, host=bool(plan.system))
        return [*prompt, *(resource for resource in turns if resource is not None)], None in turns

    def _ask_host(self, plan: Plan, errors: Counter[Reason]) -> None:
        """Ask for the host's power state; unknown counts as on, and the sensors are believed."""
        try:
            system = self._session.get(plan.system)
        except ResourceFailed as failure:
            errors[failure.reason] += 1
            self._host_on = self._host_on or failure.asked
            return
        self._host_on = text(system, "PowerState") not in spell.HOST_NOT_ON

    def _silence(self, read: Iterable[Resource]) -> Missing | None:
        """Say why nothing of the host's side counts now, if that is so."""
        keys = {(r.rung, key) for r in read for key in self._keys.get(r, ())}
        moving = tuple((key, self._held[key][0].value) for key in sorted(keys))
        frozen = self._stillness.frozen(moving)
        if not self._host_on:
            return Missing.HOST_OFF
        return Missing.FROZEN if frozen else None

    def _take(self, resource: Resource, now: float) -> None:
        """Read one resource and hold its samples."""
        stale_after = self._settings.stale_after_seconds
        if resource.expand:
            documents = tree.members_in_place(self._session.get, resource.uri + EXPAND)
        else:
            documents = {resource.uri: self._session.get(resource.uri)}
        samples = [
            sample
            for uri, document in documents.items()
            for sample in decode(resource.kind, uri, document, stale_after=stale_after)
        ]
        self._keys[resource] = tuple(sample.key for sample in samples)
        for sample in samples:
            self._hold(resource.rung, sample, now)

    def _hold(self, rung: Rung, sample: Sample, read_at: float) -> None:
        limits = self._discovery.limits.get(sample.key)
        whole = sample if limits is None else replace(sample, limits=limits)
        self._held[rung, sample.key] = whole, read_at

    def _samples(
        self, plan: Plan, now: float, failed: frozenset[Resource]
    ) -> dict[str, Sample | Missing]:
        """Return this cycle's samples; one that waits for its turn counts a while."""
        samples: dict[str, Sample | Missing] = {}
        patience = self._patience(plan)
        prompt = frozenset(plan.prompt)
        for pick in plan.picks.values():
            silent = not failed.isdisjoint(pick.resources)
            in_turn = not prompt.issuperset(pick.resources)
            for key in pick.keys:
                sample, read_at = self._held.get((pick.standing[1], key), (None, now))
                if sample is not None and read_at == now:
                    samples[key] = sample
                elif sample is not None and in_turn:
                    samples[key] = sample if now - read_at <= patience else Missing.STALE
                elif silent:
                    samples[key] = Missing.UNREADABLE
        return samples

    def _fresh(self, now: float, patience: float) -> list[Sample]:
        return [sample for sample, read_at in self._held.values() if now - read_at <= patience]

    def _ages(self, plan: Plan, now: float) -> dict[Place, float]:
        """Return the age of what was not read in this cycle, by channel, where it counts."""
        ages: dict[Place, float] = {}
        for channel, pick in plan.picks.items():
            held = (self._held.get((pick.standing[1], key)) for key in pick.keys)
            read = [known[1] for known in held if known is not None]
            age = now - min(read, default=now)
            if age > 0:
                ages[Place(channel)] = age
        return ages

    def _patience(self, plan: Plan) -> float:
        """Return for how long (seconds) a value counts while others have their turn."""
        cycles = self._rota.cycles(len(plan.prompt), plan.slow, host=bool(plan.system)) + 2
        return max(self._settings.stale_after_seconds, cycles * self._settings.interval_seconds)
