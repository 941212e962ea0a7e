"""The BMC as a source: each cycle asks for what the plan needs and no more."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

from exporter.readings import Missing, Reason, SourceFailed, SourceName, SourceReadings
from exporter.redfish import tree
from exporter.redfish.discovery import Discovery
from exporter.redfish.interpret import Interpreter
from exporter.redfish.plan import Plan, Resource, Rung
from exporter.redfish.resources import decode
from exporter.redfish.samples import Sample, text
from exporter.redfish.session import BmcSession
from exporter.redfish.transport import ResourceFailed
from exporter.redfish.walk import EXPAND
from model.sources import redfish as spell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from daemon.clocks import Clock
    from exporter.readings import Place
    from exporter.redfish.settings import BmcSettings

DISCOVERING = "discovering"
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
        self._held: dict[str, tuple[Sample, float]] = {}
        self._turn = 0

    def read(self, now: float) -> SourceReadings:
        """Read once; `now` is monotonic seconds.  Raises only `SourceFailed`."""
        discovery = self._discovery
        discovery.refuse(now)
        deadline = now + OWN_SHARE * self._settings.deadline_seconds
        self._session.begin(deadline)
        before = self._session.sent
        errors: Counter[Reason] = Counter()
        if discovery.plan is None:
            errors += discovery.go_on(now, deadline)
            spent = self._monotonic() - now
            if discovery.plan is None or spent > self._settings.deadline_seconds / 2:
                return self._outcome(before, errors, DISCOVERING, {}, {})
        strategy = discovery.plan.strategy
        values, missing = self._cycle(discovery.plan, now, errors)
        if discovery.due(now):
            errors += discovery.go_on(now, deadline)
        return self._outcome(before, errors, strategy, values, missing)

    def close(self) -> None:
        """Delete the session at the BMC; never raises."""
        self._session.close()

    def _outcome(
        self,
        before: int,
        errors: Counter[Reason],
        strategy: str,
        values: Mapping[Place, float],
        missing: Mapping[Place, Missing],
    ) -> SourceReadings:
        return SourceReadings(
            self.name,
            values,
            missing,
            errors=dict(errors),
            strategy=strategy,
            requests=self._session.sent - before,
        )

    def _cycle(
        self, plan: Plan, now: float, errors: Counter[Reason]
    ) -> tuple[dict[Place, float], dict[Place, Missing]]:
        if not plan.picks:
            raise SourceFailed(Reason.NO_RESOURCE, "the tree has no sensor that speaks for a node")
        host_on = self._host_is_on(plan, errors)
        failed: dict[Resource, ResourceFailed] = {}
        due = self._due(plan)
        for resource in due:
            try:
                self._take(resource, now)
            except ResourceFailed as failure:
                failed[resource] = failure
                self._discovery.strike(resource.uri, failure)
        if len(failed) == len(due):
            first = failed[due[0]]
            raise SourceFailed(first.reason, first.detail)
        errors.update(failure.reason for failure in failed.values())
        samples = self._samples(plan, now, frozenset(failed))
        result = self._interpreter.channels(plan, samples, host_on=host_on)
        errors += self._interpreter.take_errors()
        return result

    def _host_is_on(self, plan: Plan, errors: Counter[Reason]) -> bool:
        """Ask for the host's power state; unknown counts as on, and the sensors are believed."""
        if not plan.system:
            return True
        try:
            system = self._session.get(plan.system)
        except ResourceFailed as failure:
            errors[failure.reason] += 1
            return True
        return text(system, "PowerState") not in spell.HOST_NOT_ON

    def _due(self, plan: Plan) -> list[Resource]:
        """Return what this cycle reads: all but single sensors, and of those a few in turn."""
        cheap = [r for r in plan.resources if r.rung is not Rung.SENSORS_SINGLE]
        singles = [r for r in plan.resources if r.rung is Rung.SENSORS_SINGLE]
        count = self._settings.sensors_per_cycle
        if len(singles) > count:
            start = self._turn % len(singles)
            self._turn = start + count
            singles = (singles + singles)[start : start + count]
        return cheap + singles

    def _take(self, resource: Resource, now: float) -> None:
        """Read one resource and hold its samples."""
        stale_after = self._settings.stale_after_seconds
        if resource.expand:
            documents = tree.members_in_place(self._session.get, resource.uri + EXPAND)
        else:
            documents = {resource.uri: self._session.get(resource.uri)}
        for uri, document in documents.items():
            for sample in decode(resource.kind, uri, document, stale_after=stale_after):
                self._held[sample.key] = sample, now

    def _samples(
        self, plan: Plan, now: float, failed: frozenset[Resource]
    ) -> dict[str, Sample | Missing]:
        """Return this cycle's samples; one of a sensor that waits for its turn counts a while."""
        samples: dict[str, Sample | Missing] = {}
        for pick in plan.picks.values():
            silent = not failed.isdisjoint(pick.resources)
            in_turn = pick.standing[1] is Rung.SENSORS_SINGLE
            for key in pick.keys:
                sample, read_at = self._held.get(key, (None, now))
                if sample is not None and read_at == now:
                    samples[key] = sample
                elif sample is not None and in_turn:
                    samples[key] = (
                        sample if now - read_at <= self._patience(plan) else Missing.STALE
                    )
                elif silent:
                    samples[key] = Missing.UNREADABLE
        return samples

    def _patience(self, plan: Plan) -> float:
        """Return for how long (seconds) a sensor's value counts while others have their turn."""
        singles = sum(r.rung is Rung.SENSORS_SINGLE for r in plan.resources)
        cycles = singles // self._settings.sensors_per_cycle + 2
        return max(self._settings.stale_after_seconds, cycles * self._settings.interval_seconds)
