"""The loop: observe, plan, record, act, say one sentence.

Each tick derives everything from the cluster again.  The ledger is written
before the first step; a replica that does not lead plans and shows, but writes
nothing.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from remediation.policy.evidence import Evidence
from remediation.policy.plan import plan, pods_wanted, summary
from remediation.policy.refusal import Reason, Refusal
from remediation.policy.snapshot import Snapshot
from remediation.policy.steps import EpisodeState, EvictWave
from remediation.ports import CallFailed, Conflict, EvictionOutcome, FailureReason, Pods

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from daemon.clocks import Clock
    from remediation.policy.ledger import Ledger
    from remediation.policy.limits import Policy
    from remediation.policy.snapshot import Node
    from remediation.policy.steps import Finding, NodeWrite, Plan, Step
    from remediation.ports import Cluster, EvidenceSource, Leadership, LedgerStore
    from remediation.report import Report

_RECORD_ATTEMPTS = 5
# Progress is followed at once, but not for ever: something that undoes our steps must not spin us.
_STREAK = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often to look when nothing happens, and how often to ask Alertmanager unprompted.

    `lanes` steps are taken side by side: a burst waits for the server as a
    whole, not for one answer after the other.
    """

    tick_seconds: float
    poll_seconds: float
    lanes: int = 8


@dataclass(frozen=True, slots=True)
class _Done:
    """What became of one step, and whether looking again at once is worth it."""

    finding: Finding
    progressed: bool


class Loop:
    """One replica's loop; `policy` is asked anew at each tick, so a reload needs no restart."""

    def __init__(
        self,
        *,
        cluster: Cluster,
        ledger: LedgerStore,
        evidence: EvidenceSource,
        leadership: Leadership,
        policy: Callable[[], Policy],
        pace: Pace,
        clock: Clock,
        report: Report,
    ) -> None:
        self._cluster = cluster
        self._ledger = ledger
        self._evidence = evidence
        self._leadership = leadership
        self._policy = policy
        self._pace = pace
        self._clock = clock
        self._report = report
        self._lanes = ThreadPoolExecutor(pace.lanes, thread_name_prefix="lane")
        self._wake = threading.Event()
        self._polled_monotonic: float | None = None

    def wake(self, *, poll: bool = False) -> None:
        """Tick as soon as possible; `poll` asks Alertmanager even if nothing seems wrong."""
        if poll:
            self._polled_monotonic = None
        self._wake.set()

    def run(self, stop: threading.Event) -> None:
        """Tick until `stop`; a step done is followed at once, otherwise wait to be woken."""
        streak = 0
        while not stop.is_set():
            self._wake.clear()
            progressed = self.tick()
            streak = streak + 1 if progressed else 0
            if not progressed or streak >= _STREAK:
                self._wake.wait(self._pace.tick_seconds)
                streak = 0

    def tick(self) -> bool:
        """Do one tick; return whether something was done, so that looking again is worth it."""
        started = self._clock.monotonic()
        try:
            return self._tick()
        except CallFailed as failure:
            self._report.tick_held(failure, self._policy().mode, self._leadership.holder)
            return False
        except Exception as error:  # noqa: BLE001 - the frame: one bad tick must not end the loop
            self._report.tick_failed(error)
            return False
        finally:
            self._report.tick_took(self._clock.monotonic() - started)

    def _tick(self) -> bool:
        epoch = self._leadership.epoch()
        policy = self._policy()
        stored = self._ledger.last() or self._ledger.read()
        nodes = self._cluster.nodes()
        evidence = self._read_evidence(nodes, stored.ledger)
        pods = self._cluster.pods() if pods_wanted(nodes, stored.ledger) else Pods({})
        snapshot = Snapshot(
            now=self._clock.wall(),
            epoch=epoch,
            nodes=nodes,
            pods=pods.on,
            pending=pods.pending,
            ledger=stored.ledger,
            evidence=evidence,
            policy=policy,
        )
        if not epoch:
            decided = plan(snapshot)
            self._finish(snapshot, decided, decided.findings)
            return False
        decided = self._record(snapshot, stored.version)
        progressed, findings = self._act(decided, epoch)
        self._finish(snapshot, decided, findings)
        return progressed

    def _finish(self, snapshot: Snapshot, decided: Plan, findings: tuple[Finding, ...]) -> None:
        holder = self._leadership.holder
        standby = f"standing by: {holder or 'nobody yet'} leads"
        self._report.tick_done(
            snapshot,
            decided.ledger,
            findings,
            sentence=summary(findings) if snapshot.epoch else standby,
            holder=holder,
        )

    def _read_evidence(self, nodes: Mapping[str, Node], ledger: Ledger) -> Evidence:
        concerned = {name for name, node in nodes.items() if node.mark is not None}
        concerned |= {s.node for s in ledger.suspects.values() if s.node in nodes}
        if not concerned and not self._poll_is_due():
            return Evidence()
        self._polled_monotonic = self._clock.monotonic()
        reading = self._evidence.read(frozenset(concerned))
        self._report.evidence_took(self._clock.monotonic() - self._polled_monotonic)
        self._report.evidence_failed(reading.failures)
        return reading.evidence

    def _poll_is_due(self) -> bool:
        last = self._polled_monotonic
        return last is None or self._clock.monotonic() - last >= self._pace.poll_seconds

    def _record(self, snapshot: Snapshot, version: str) -> Plan:
        """Plan and write the ledger; whoever was faster makes us plan again on what they wrote.

        Steps that need nothing written wait for a fresh look: a pause must not be overlooked.
        """
        fresh = False
        for _ in range(_RECORD_ATTEMPTS):
            if snapshot.ledger.epoch > snapshot.epoch:
                raise Conflict("a later leader wrote the ledger")
            decided = plan(snapshot)
            unchanged = decided.ledger == snapshot.ledger and bool(version)
            if unchanged and (fresh or not decided.steps):
                return decided
            if not unchanged and self._write(decided.ledger, version, snapshot.epoch):
                return decided
            stored = self._ledger.read()
            fresh = True
            if unchanged and stored.version == version:
                return decided
            snapshot, version = replace(snapshot, ledger=stored.ledger), stored.version
        raise Conflict("the ledger kept changing")

    def _write(self, ledger: Ledger, version: str, epoch: int) -> bool:
        """Swap the ledger; return whether that is known to have happened."""
        try:
            with self._leadership.acting():
                self._must_lead(epoch)
                self._ledger.write(ledger, version)
        except CallFailed as failure:
            if not isinstance(failure, Conflict) and not failure.may_have_happened:
                raise
            return False
        return True

    def _must_lead(self, epoch: int) -> None:
        if self._leadership.epoch() != epoch:
            raise CallFailed("the lease is no longer ours", FailureReason.CONFLICT)

    def _act(self, decided: Plan, epoch: int) -> tuple[bool, tuple[Finding, ...]]:
        findings = {finding.node: finding for finding in decided.findings}
        halted = threading.Event()

        def attempt(step: Step) -> _Done:
            return self._attempt(step, findings[step.node.name], epoch, halted)

        # Every grant is recorded: the order of the steps means nothing any more.
        lone = len(decided.steps) <= 1
        done = list(
            map(attempt, decided.steps) if lone else self._lanes.map(attempt, decided.steps)
        )
        findings.update({one.finding.node: one.finding for one in done})
        return any(one.progressed for one in done), tuple(findings.values())

    def _attempt(self, step: Step, finding: Finding, epoch: int, halted: threading.Event) -> _Done:
        if halted.is_set():
            return _Done(finding, progressed=False)
        try:
            with self._leadership.acting():
                self._must_lead(epoch)
                return self._take(step, finding, epoch)
        except Conflict:
            # Somebody wrote the node in between: look again at once, decide again.
            return _Done(finding, progressed=True)
        except CallFailed as failure:
            self._report.call_failed(failure)
            if failure.may_have_happened:
                halted.set()
            return _Done(finding, progressed=False)

    def _take(self, step: Step, finding: Finding, epoch: int) -> _Done:
        if isinstance(step, EvictWave):
            return self._evict(step, finding, epoch)
        self._cluster.write_node(step)
        self._done(step)
        return _Done(finding, progressed=True)

    def _evict(self, wave: EvictWave, finding: Finding, epoch: int) -> _Done:
        outcomes = self._cluster.evict(wave, may_go_on=lambda: self._leadership.epoch() == epoch)
        self._report.evicted(outcomes.values())
        refusal = _refusal(wave, outcomes)
        if refusal is not None:
            sentence = f"{wave.node.name} waits: {refusal.words}"
            blocked = replace(
                finding, state=EpisodeState.BLOCKED, refusal=refusal, sentence=sentence
            )
            return _Done(blocked, progressed=False)
        self._done(wave)
        return _Done(finding, progressed=True)

    def _done(self, step: NodeWrite | EvictWave) -> None:
        self._report.step_done(step)
        try:
            self._cluster.tell(step)
        except CallFailed as failure:
            # The Event is for people; the mark on the node already says it.
            self._report.call_failed(failure)


def _refusal(wave: EvictWave, outcomes: Mapping[str, EvictionOutcome]) -> Refusal | None:
    names = {pod.uid: str(pod) for pod in wave.pods}
    harmless = {EvictionOutcome.ACCEPTED, EvictionOutcome.GONE, EvictionOutcome.REPLACED}
    refused = [(uid, o) for uid, o in outcomes.items() if o not in harmless]
    worst = sorted(refused, key=lambda one: one[1] is EvictionOutcome.DEFERRED)
    if not worst:
        return None
    uid, outcome = worst[0]
    if outcome is EvictionOutcome.BUDGET:
        words = f"a disruption budget protects {names[uid]}"
        return Refusal(Reason.DISRUPTION_BUDGET, words)
    return Refusal(Reason.EVICTION_REFUSED, f"the eviction of {names[uid]} was {outcome}")
