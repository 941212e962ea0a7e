"""When the tree is walked, and what the last walks made of it: the plan in force."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from exporter.readings import Reason, SourceFailed
from exporter.redfish.plan import Plan, Rung, build
from exporter.redfish.walk import Survey, Walk

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping
    from random import Random

    from exporter.redfish.samples import Limits, Sample
    from exporter.redfish.session import BmcSession
    from exporter.redfish.settings import BmcSettings
    from exporter.redfish.transport import ResourceFailed

STRIKES = 2
"""After so many failures another way to a resource's channels is looked for."""
JITTER_RATIO = 0.1
LASTING = frozenset({Reason.NOT_FOUND, Reason.FORBIDDEN})
"""What a walk meets and the next one will meet again; anything else may have been a moment."""
SOON_CYCLES = 2


class Discovery:
    """Walks at the start, once per interval, and when a resource of the plan keeps failing.

    A first walk that met trouble is repeated after two cycles, four, eight: what it
    could not read would else be missing for as long as an interval.

    A walk goes on over several cycles if need be; until it is over the plan
    before it stays in force.
    """

    def __init__(
        self,
        settings: BmcSettings,
        session: BmcSession,
        *,
        monotonic: Callable[[], float],
        random: Random,
    ) -> None:
        self.plan: Plan | None = None
        self.limits: dict[str, Limits] = {}
        self.began_at = 0.0
        """When the latest walk began, in monotonic seconds."""
        self.found: Mapping[tuple[Rung, str], Sample] = {}
        """What the last walk read; taken by the reader, so that nothing is asked twice."""
        self._settings = settings
        self._session = session
        self._monotonic = monotonic
        self._random = random
        self._walk: Walk | None = None
        self._steps: Generator[None, None, Survey] | None = None
        self._due_at = 0.0
        self._chassis: tuple[str, ...] = ()
        self._avoid: frozenset[str] = frozenset()
        self._strikes: Counter[str] = Counter()
        self._facility: SourceFailed | None = None
        self._survived: Counter[Reason] = Counter()
        self._whole = False
        self._soon_seconds = SOON_CYCLES * settings.interval_seconds

    def refuse(self, now: float) -> None:
        """Raise again what the last walk found, if that was facility equipment."""
        if self._facility is not None and now < self._due_at:
            raise self._facility

    def due(self, now: float) -> bool:
        """Tell whether there is something to walk at `now` (monotonic seconds)."""
        return self._steps is not None or now >= self._due_at

    def go_on(self, now: float, deadline: float) -> Counter[Reason]:
        """Walk until the walk is over or the time is up; return what was survived.

        Raises `SourceFailed` when the walk cannot go on and there is no plan yet.
        """
        if self._steps is None:
            self._avoid = frozenset()
            self._strikes.clear()
            self._begin()
        assert self._walk is not None  # noqa: S101 - begun with the steps
        assert self._steps is not None  # noqa: S101
        try:
            while self._monotonic() < deadline:
                next(self._steps)
        except StopIteration as end:
            self._finish(end.value, now)
        except SourceFailed as failure:
            self._abandon(failure, now)
        errors = Counter(self._walk.errors)
        self._survived += errors
        self._walk.errors.clear()
        return errors

    def strike(self, uri: str, failure: ResourceFailed) -> None:
        """Count a failure of a resource of the plan; after the second, walk around it."""
        if not failure.asked or uri in self._avoid:
            return
        self._strikes[uri] += 1
        if self._strikes[uri] >= STRIKES:
            self._avoid |= {uri}
            self._begin()

    def _begin(self) -> None:
        self.began_at = self._monotonic()
        self._survived.clear()
        self._walk = Walk(
            self._session.get,
            chassis=self._settings.chassis,
            known=self._chassis,
            avoid=self._avoid,
        )
        self._steps = self._walk.run()

    def _finish(self, survey: Survey, now: float) -> None:
        self.plan = build(
            survey.findings,
            system=survey.system,
            several_nodes=survey.several_nodes,
            before=self.plan or Plan(),
        )
        self._chassis = survey.chassis
        self.found = survey.samples
        if self._walk is not None:
            self.limits |= self._walk.limits
            survived = self._survived + self._walk.errors
            self._whole = self._whole or survived.keys() <= LASTING
        self._facility = None
        self._schedule(now, soon=not self._whole)

    def _abandon(self, failure: SourceFailed, now: float) -> None:
        """Drop the walk; with a plan in force its readings are worth more than the news."""
        self._steps = None
        if failure.reason is Reason.FACILITY_TREE and self.plan is None:
            self._facility = failure
            self._schedule(now, soon=False)
        if self.plan is None:
            raise failure
        self._schedule(now, soon=not self._whole)

    def _schedule(self, now: float, *, soon: bool) -> None:
        """Plan the next walk: after an interval, or soon, and each time twice as late."""
        self._steps = None
        spread = 1 + JITTER_RATIO * (2 * self._random.random() - 1)
        wait = self._settings.discovery_interval_seconds
        if soon:
            wait = min(wait, self._soon_seconds)
            self._soon_seconds *= 2
        self._due_at = now + spread * wait
