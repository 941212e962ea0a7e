"""Carrying out what moves work: checkpoints, snapshots, waves; and what was said to each.

The answers are remembered for pacing and for people; losing them costs one
more question.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from remediation.policy.facts.refusal import Reason, Refusal
from remediation.policy.facts.snapshot import Trial
from remediation.policy.moving.checkpoints import Way, way_of
from remediation.policy.moving.leaving import EVERY_JOB
from remediation.policy.moving.preparing import CLAIM, Kind, held_of
from remediation.policy.steps import AskCheckpoint, EpisodeState
from remediation.ports import EvictionOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from daemon.clocks import Clock
    from remediation.policy.bounds.migration import MigrationBar
    from remediation.policy.facts.ledger import Ledger
    from remediation.policy.facts.pod import Pod
    from remediation.policy.facts.snapshot import Part
    from remediation.policy.steps import EvictWave, Finding, TakeSnapshots
    from remediation.ports import CheckpointHook, Cluster, EvictionAnswer
    from remediation.report import Report

_HARMLESS = frozenset({EvictionOutcome.ACCEPTED, EvictionOutcome.GONE, EvictionOutcome.REPLACED})
# The first of these that is among the answers speaks for the wave.
_TELLING = (
    EvictionOutcome.NOT_ALLOWED,
    EvictionOutcome.MISCONFIGURED,
    EvictionOutcome.DENIED,
    EvictionOutcome.BUDGET,
    EvictionOutcome.OVERLOADED,
    EvictionOutcome.FAILED,
    EvictionOutcome.DEFERRED,
)
_SLOW = frozenset(
    {EvictionOutcome.NOT_ALLOWED, EvictionOutcome.MISCONFIGURED, EvictionOutcome.DENIED}
)


class Moves:
    """Carries out on `cluster` what moves work, and remembers what was answered."""

    def __init__(
        self, cluster: Cluster, hook: CheckpointHook, report: Report, clock: Clock
    ) -> None:
        self._cluster = cluster
        self._hook = hook
        self._report = report
        self._clock = clock
        self._trials: dict[str, Trial] = {}
        self._answers: dict[str, Part] = {}

    @property
    def trials(self) -> Mapping[str, Trial]:
        """What the server last said to each wave that it refused."""
        return dict(self._trials)

    @property
    def answers(self) -> Mapping[str, Part]:
        """What parts of preparations last answered, by preparation and part."""
        return dict(self._answers)

    def forget_others(self, ledger: Ledger) -> None:
        """Drop what was said to waves and preparations that are over."""
        jobs = {*ledger.waves, EVERY_JOB}
        self._trials = {job: trial for job, trial in self._trials.items() if job in jobs}
        prepared = {one.id for kind in Kind for one in held_of(kind, ledger).values()}
        self._answers = {
            key: answer
            for key, answer in self._answers.items()
            if key.partition("/")[0] in prepared
        }

    def prepare(
        self, step: AskCheckpoint | TakeSnapshots, *, may_go_on: Callable[[], bool]
    ) -> bool:
        """Ask pods to save, or take snapshots; return whether anything came further than before.

        Doing it twice is doing it once: whatever is there already is looked at.
        """
        answers = (
            self._ask(step, may_go_on)
            if isinstance(step, AskCheckpoint)
            else (self._take(step, may_go_on))
        )
        fresh = {f"{step.id}/{part}": answer for part, answer in answers.items()}
        further = any(self._answers.get(key) is not answer for key, answer in fresh.items())
        self._answers |= fresh
        return further

    def _ask(self, step: AskCheckpoint, may_go_on: Callable[[], bool]) -> Mapping[str, Part]:
        return {pod.uid: self._ask_pod(pod, step.id) for pod in step.pods if may_go_on()}

    def _take(self, step: TakeSnapshots, may_go_on: Callable[[], bool]) -> Mapping[str, Part]:
        return {
            f"{CLAIM}{claim}": self._cluster.take_snapshot(
                step.namespace, claim, name=step.id, snapshot_class=step.snapshot_class
            )
            for claim in step.claims
            if may_go_on()
        }

    def _ask_pod(self, pod: Pod, name: str) -> Part:
        if way_of(pod) is Way.HTTP:
            return self._hook.ask(pod, name)
        return self._cluster.note_checkpoint(pod, name)

    def evict(
        self, wave: EvictWave, bar: MigrationBar, *, may_go_on: Callable[[], bool]
    ) -> Refusal | None:
        """Evict one wave, or return why it stays; raises `CallFailed`."""
        answers = self._cluster.evict(wave, may_go_on=may_go_on)
        self._report.evicted(answer.outcome for answer in answers.values())
        telling = _telling(answers)
        self._trials.pop(wave.job, None)
        if telling is None:
            return None
        uid, answer = telling
        refusal = _refusal(next(str(pod) for pod in wave.pods if pod.uid == uid), answer)
        self._remember(wave, answer, refusal, bar)
        return refusal

    def _remember(
        self, wave: EvictWave, answer: EvictionAnswer, refusal: Refusal, bar: MigrationBar
    ) -> None:
        now = self._clock.wall()
        wait = answer.retry_seconds or 0.0
        if answer.outcome in _SLOW:
            wait = max(wait, bar.retry_seconds)
        # A right that is missing is missing for all: one question is enough.
        job = EVERY_JOB if answer.outcome is EvictionOutcome.NOT_ALLOWED else wave.job
        self._trials[job] = Trial(at=now, again_at=now + wait, refusal=refusal)


def refused(finding: Finding, wave: EvictWave, refusal: Refusal) -> Finding:
    """Return the finding of one node of a wave that was refused.

    An owner that moves the pod itself is waited for: it blocks only once patience is over.
    """
    waiting = refusal.reason is Reason.OWNER_MOVES and not wave.overdue
    return replace(
        finding,
        state=EpisodeState.MIGRATING if waiting else EpisodeState.BLOCKED,
        refusal=refusal,
        sentence=f"{finding.node} waits: {refusal.words}",
    )


def _telling(answers: Mapping[str, EvictionAnswer]) -> tuple[str, EvictionAnswer] | None:
    refusals = [(uid, one) for uid, one in answers.items() if one.outcome not in _HARMLESS]
    return min(refusals, key=lambda one: _TELLING.index(one[1].outcome), default=None)


def _refusal(pod: str, answer: EvictionAnswer) -> Refusal:
    if answer.outcome is EvictionOutcome.BUDGET:
        return Refusal(Reason.DISRUPTION_BUDGET, f"a disruption budget protects {pod}")
    if answer.outcome is EvictionOutcome.DENIED:
        return Refusal(Reason.OWNER_MOVES, f"{pod} is not to be evicted yet: {answer.words}")
    if answer.outcome is EvictionOutcome.NOT_ALLOWED:
        words = "this service may not evict pods: grant it create on pods/eviction"
        return Refusal(Reason.NOT_ALLOWED, words)
    if answer.outcome is EvictionOutcome.MISCONFIGURED:
        words = f"more than one disruption budget claims {pod}: the server evicts none such"
        return Refusal(Reason.EVICTION_REFUSED, words)
    return Refusal(Reason.EVICTION_REFUSED, f"the eviction of {pod} was {answer.outcome}")
