"""What a tick leaves behind: metrics, one audit line per changed decision, a status for people."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remediation.policy.facts.refusal import Reason
from remediation.policy.guards.use import uses
from remediation.policy.steps import EpisodeState
from remediation.ports import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from structlog.typing import FilteringBoundLogger

    from daemon.clocks import Clock
    from remediation.catalog import Catalog
    from remediation.policy.bounds.limits import Mode
    from remediation.policy.facts.ledger import Ledger
    from remediation.policy.facts.node import Node
    from remediation.policy.facts.snapshot import Snapshot
    from remediation.policy.guards.use import Use
    from remediation.policy.steps import Finding, Step
    from remediation.ports import CallFailed, EvictionOutcome


# Enough to see what the last hours brought; the log holds them all.
_DECISIONS = 50


@dataclass(frozen=True, slots=True)
class Told:
    """A decision and when it was first told (Unix seconds)."""

    at: float
    finding: Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The state after one tick; `failure` says why the tick could not see or record, if so.

    `ended_at` is Unix seconds, `ended_monotonic` seconds on the own clock.
    `decisions` are the latest of this replica while it led, the latest first.
    """

    sentence: str
    leads: bool
    holder: str
    mode: Mode
    ended_at: float
    ended_monotonic: float
    failure: str = ""
    findings: tuple[Finding, ...] = ()
    ledger: Ledger | None = None
    uses: Mapping[str, Use] = field(default_factory=dict)
    nodes: Mapping[str, Node] = field(default_factory=dict)
    decisions: tuple[Told, ...] = ()


class Report:
    """The loop's only way to tell anybody anything."""

    def __init__(self, catalog: Catalog, log: FilteringBoundLogger, clock: Clock) -> None:
        self._catalog = catalog
        self._log = log
        self._clock = clock
        self._told: dict[str, Finding] = {}
        self._failing: dict[Source, str] = {}
        self._latest: deque[Told] = deque(maxlen=_DECISIONS)
        self.status: Status | None = None

    def tick_done(
        self,
        snapshot: Snapshot,
        ledger: Ledger,
        findings: tuple[Finding, ...],
        *,
        sentence: str,
        holder: str,
    ) -> None:
        """Publish a whole tick; a replica that does not lead shows it, but decided nothing."""
        budget = uses(snapshot.nodes, ledger, snapshot.policy.limits, now=snapshot.now)
        if snapshot.epoch:
            self._audit(findings, snapshot.epoch)
        self.status = Status(
            sentence=sentence,
            leads=snapshot.epoch > 0,
            holder=holder,
            mode=snapshot.policy.mode,
            ended_at=self._clock.wall(),
            ended_monotonic=self._clock.monotonic(),
            findings=findings,
            ledger=ledger,
            uses=budget,
            nodes=snapshot.nodes,
            decisions=tuple(self._latest),
        )
        self._failing.pop(Source.KUBERNETES, None)
        self._show(ledger, findings)
        self._catalog.show_budget(budget)
        self._catalog.leader.set(snapshot.epoch > 0)
        self._catalog.last_tick.set(self._clock.wall())

    def tick_held(self, failure: CallFailed, mode: Mode, holder: str) -> None:
        """Publish a tick that could not see or record, and therefore did nothing."""
        self.call_failed(failure)
        self._catalog.leader.set(0)
        self.status = Status(
            sentence=f"holding still: {failure}",
            leads=False,
            holder=holder,
            mode=mode,
            ended_at=self._clock.wall(),
            ended_monotonic=self._clock.monotonic(),
            failure=str(failure),
            decisions=tuple(self._latest),
        )

    def tick_failed(self, error: Exception) -> None:
        """Count and log what nobody expected."""
        self._catalog.errors.labels("loop", "unexpected").inc()
        self._log.error("tick failed", exc_info=error)

    def tick_took(self, seconds: float) -> None:
        """Observe how long one tick took."""
        self._catalog.tick_duration.observe(seconds)

    def evidence_took(self, seconds: float) -> None:
        """Observe how long asking for evidence took: the part of a tick that is not ours."""
        self._catalog.evidence_duration.observe(seconds)

    def step_done(self, step: Step) -> None:
        """Count a step and how long after the alert it came."""
        self._catalog.steps.labels(step.decision).inc()
        if step.heard_at is not None:
            waited = max(0.0, self._clock.wall() - step.heard_at)
            self._catalog.alert_to_step.labels(step.decision).observe(waited)

    def evicted(self, outcomes: Iterable[EvictionOutcome]) -> None:
        """Count evictions by outcome."""
        for outcome in outcomes:
            self._catalog.evictions.labels(outcome).inc()

    def call_failed(self, failure: CallFailed) -> None:
        """Count a failed call to Kubernetes; repeats of the same kind are not logged again."""
        self._failed(Source.KUBERNETES, failure)

    def evidence_failed(self, failures: Mapping[Source, CallFailed]) -> None:
        """Count unreadable evidence; a source that answers again may be logged again."""
        for source in (Source.ALERTMANAGER, Source.PROMETHEUS):
            failure = failures.get(source)
            if failure is None:
                self._failing.pop(source, None)
            else:
                self._failed(source, failure)

    def _failed(self, source: Source, failure: CallFailed) -> None:
        self._catalog.errors.labels(source, failure.reason).inc()
        if self._failing.get(source) != failure.reason:
            self._log.warning("call failed", source=source.value, error=str(failure))
        self._failing[source] = failure.reason

    def _show(self, ledger: Ledger, findings: tuple[Finding, ...]) -> None:
        catalog = self._catalog
        for state in EpisodeState:
            catalog.episodes.labels(state).set(sum(f.state is state for f in findings))
        reasons = [f.refusal.reason for f in findings if f.refusal is not None]
        for reason in Reason:
            catalog.refused.labels(reason).set(reasons.count(reason))
        catalog.facility_events.set(len(ledger.facilities))
        catalog.breaker_open.set(ledger.breaker.tripped_at is not None)
        catalog.paused.set(ledger.pause is not None)
        catalog.suspects.set(len(ledger.suspects))

    def _audit(self, findings: tuple[Finding, ...], epoch: int) -> None:
        """Write one line for every decision that differs from the last one about its node."""
        told, self._told = self._told, {finding.node: finding for finding in findings}
        for finding in findings:
            before = told.get(finding.node)
            if before is None or _essence(before) != _essence(finding):
                self._tell(finding, epoch)

    def _tell(self, finding: Finding, epoch: int) -> None:
        self._latest.appendleft(Told(self._clock.wall(), finding))
        acted = str(not finding.only_observed).lower()
        self._catalog.decisions.labels(finding.decision, acted).inc()
        if finding.refusal is not None:
            self._catalog.refusals.labels(finding.refusal.reason).inc()
        self._log.info(
            "decision",
            node=finding.node,
            episode=finding.episode,
            state=finding.state.value,
            decision=finding.decision.value,
            reason=finding.refusal.reason.value if finding.refusal else "",
            sentence=finding.sentence,
            epoch=epoch,
        )


def _essence(finding: Finding) -> tuple[object, ...]:
    reason = finding.refusal.reason if finding.refusal else None
    return finding.state, finding.decision, reason, finding.episode, finding.only_observed
