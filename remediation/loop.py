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

from remediation.lookout import Lookout
from remediation.moves import Moves, refused
from remediation.policy.facts.snapshot import Snapshot
from remediation.policy.plan import plan, summary
from remediation.policy.steps import EvictWave, HandOver, LiftGpu, NodeWrite, TaintGpu, TakeBack
from remediation.ports import CallFailed, Conflict, FailureReason

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from daemon.clocks import Clock
    from remediation.inbox import Ticket
    from remediation.policy.bounds.limits import Policy
    from remediation.policy.facts.ledger import Ledger
    from remediation.policy.facts.refusal import Refusal
    from remediation.policy.steps import Finding, Plan, Step
    from remediation.ports import (
        CheckpointHook,
        Cluster,
        EvidenceSource,
        Leadership,
        LedgerStore,
        StoredLedger,
    )
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

    progressed: bool
    refusal: Refusal | None = None


class Loop:
    """One replica's loop; `policy` is asked anew at each tick, so a reload needs no restart.

    `waiting` returns the posts that are to be recorded with whatever follows from them.
    """

    def __init__(
        self,
        *,
        cluster: Cluster,
        hook: CheckpointHook,
        ledger: LedgerStore,
        evidence: EvidenceSource,
        leadership: Leadership,
        policy: Callable[[], Policy],
        pace: Pace,
        clock: Clock,
        report: Report,
        waiting: Callable[[], tuple[Ticket, ...]] = tuple,
    ) -> None:
        self._cluster = cluster
        self._ledger = ledger
        self._lookout = Lookout(cluster, evidence, report, clock, poll_seconds=pace.poll_seconds)
        self._leadership = leadership
        self._policy = policy
        self._pace = pace
        self._clock = clock
        self._report = report
        self._waiting = waiting
        self._moves = Moves(cluster, hook, report, clock)
        self._lanes = ThreadPoolExecutor(pace.lanes, thread_name_prefix="lane")
        self._wake = threading.Event()

    def wake(self, *, poll: bool = False) -> None:
        """Tick as soon as possible; `poll` asks Alertmanager even if nothing seems wrong."""
        if poll:
            self._lookout.poll_now()
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
        self._lanes.shutdown()

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
        tickets = self._waiting() if epoch else ()
        heard = _with_heard(stored.ledger, tickets, policy)
        snapshot = replace(
            self._lookout.look(nodes, heard, policy, epoch=epoch),
            trials=self._moves.trials,
            answers=self._moves.answers,
        )
        if not epoch:
            decided = plan(snapshot)
            self._finish(snapshot, decided, decided.findings)
            return False
        decided = self._record(snapshot, stored, tickets)
        for ticket in tickets:
            ticket.recorded()
        self._moves.forget_others(decided.ledger)
        progressed, findings = self._act(decided, snapshot)
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

    def _record(
        self, snapshot: Snapshot, stored: StoredLedger, tickets: tuple[Ticket, ...]
    ) -> Plan:
        """Plan and write the ledger; whoever was faster makes us plan again on what they wrote.

        What needs nothing written waits for a fresh look: a pause must not be
        overlooked, and nothing is known already because we remember it.
        """
        fresh = False
        for _ in range(_RECORD_ATTEMPTS):
            if snapshot.ledger.epoch > snapshot.epoch:
                raise Conflict("a later leader wrote the ledger")
            decided = plan(snapshot)
            unchanged = decided.ledger == stored.ledger and bool(stored.version)
            if unchanged and (fresh or not (decided.steps or tickets)):
                return decided
            if not unchanged and self._write(
                decided.ledger, stored.version, snapshot.epoch, tickets
            ):
                return decided
            before, stored = stored, self._ledger.read()
            fresh = True
            if unchanged and stored.version == before.version:
                return decided
            heard = _with_heard(stored.ledger, tickets, snapshot.policy)
            snapshot = replace(snapshot, ledger=heard)
        raise Conflict("the ledger kept changing")

    def _write(self, ledger: Ledger, version: str, epoch: int, tickets: tuple[Ticket, ...]) -> bool:
        """Swap the ledger; return whether that is known to have happened."""
        try:
            with self._leadership.acting():
                self._must_lead(epoch)
                self._ledger.write(ledger, version)
        except CallFailed as failure:
            if not isinstance(failure, Conflict) and not failure.may_have_happened:
                raise
            for ticket in tickets if failure.may_have_happened else ():
                ticket.answer_lost()
            return False
        return True

    def _must_lead(self, epoch: int) -> None:
        if self._leadership.epoch() != epoch:
            raise CallFailed("the lease is no longer ours", FailureReason.CONFLICT)

    def _act(self, decided: Plan, snapshot: Snapshot) -> tuple[bool, tuple[Finding, ...]]:
        findings = {finding.node: finding for finding in decided.findings}
        halted = threading.Event()
        waves = [step for step in decided.steps if isinstance(step, EvictWave)]
        others = [step for step in decided.steps if not isinstance(step, EvictWave)]
        progressed = False
        # Every grant is recorded: among themselves the order of writes means nothing any more.
        # Work leaves after them, so that none of it lands on a node that is about to be excluded.
        for steps in (others, waves):
            for step, done in zip(steps, self._attempt_all(steps, snapshot, halted), strict=True):
                progressed = progressed or done.progressed
                if done.refusal is not None and isinstance(step, EvictWave):
                    names = [node.name for node in step.nodes if node.name in findings]
                    new = {name: refused(findings[name], step, done.refusal) for name in names}
                    findings.update(new)
        return progressed, tuple(findings.values())

    def _attempt_all(
        self, steps: Sequence[Step], snapshot: Snapshot, halted: threading.Event
    ) -> Sequence[_Done]:
        def attempt(step: Step) -> _Done:
            return self._attempt(step, snapshot, halted)

        lone = len(steps) <= 1
        return list(map(attempt, steps) if lone else self._lanes.map(attempt, steps))

    def _attempt(self, step: Step, snapshot: Snapshot, halted: threading.Event) -> _Done:
        if halted.is_set():
            return _Done(progressed=False)
        try:
            with self._leadership.acting():
                self._must_lead(snapshot.epoch)
                return self._take(step, snapshot)
        except Conflict:
            # Somebody wrote the node in between: look again at once, decide again.
            return _Done(progressed=True)
        except CallFailed as failure:
            self._report.call_failed(failure)
            if failure.may_have_happened:
                halted.set()
            return _Done(progressed=False)

    def _take(self, step: Step, snapshot: Snapshot) -> _Done:
        def may_go_on() -> bool:
            return self._leadership.epoch() == snapshot.epoch

        if isinstance(step, NodeWrite):
            self._cluster.write_node(step)
        elif isinstance(step, TaintGpu):
            self._cluster.taint_gpu(step)
        elif isinstance(step, LiftGpu):
            self._cluster.lift_gpu(step)
        elif isinstance(step, HandOver):
            self._cluster.hand_over(step)
        elif isinstance(step, TakeBack):
            self._cluster.take_back(step)
        elif isinstance(step, EvictWave):
            refusal = self._moves.evict(step, snapshot.policy.migrate, may_go_on=may_go_on)
            if refusal is not None:
                return _Done(progressed=False, refusal=refusal)
        else:
            further = self._moves.prepare(step, may_go_on=may_go_on)
            if not step.first:
                # Asked again only to hear how it stands: that is no step, and no Event.
                return _Done(progressed=further)
        self._done(step)
        return _Done(progressed=True)

    def _done(self, step: Step) -> None:
        self._report.step_done(step)
        try:
            self._cluster.tell(step)
        except CallFailed as failure:
            # The Event is for people; the mark on the node already says it.
            self._report.call_failed(failure)


def _with_heard(ledger: Ledger, tickets: tuple[Ticket, ...], policy: Policy) -> Ledger:
    for ticket in tickets:
        ledger = ticket.onto(ledger, policy.limits)
    return ledger
