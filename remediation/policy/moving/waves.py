"""Waves: the pods of one job that leave their nodes together, once per window.

A wave is recorded before its first pod is asked to go.  Progress is a pod gone
or there under another uid, never an answer.  A wave that cannot move gives its
place back after a while, and asks for one again before it goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from remediation.policy.facts.jobs import Bond
from remediation.policy.facts.ledger import Wave
from remediation.policy.facts.mark import MarkState
from remediation.policy.facts.refusal import Reason, Refusal
from remediation.policy.guards import budget
from remediation.policy.guards.use import holds_its_place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remediation.policy.bounds.limits import Limits
    from remediation.policy.facts.jobs import Job
    from remediation.policy.facts.ledger import Ledger
    from remediation.policy.facts.node import Node
    from remediation.policy.facts.pod import Pod
    from remediation.policy.facts.snapshot import Snapshot


def begin(ledger: Ledger, job: Job, pods: Mapping[str, tuple[Pod, ...]], now: float) -> Ledger:
    """Record that `pods` (by node) of `job` are asked to go."""
    wave = Wave(
        job=str(job),
        namespace=job.namespace,
        nodes=tuple(sorted(pods)),
        pods=tuple(pod.uid for node in sorted(pods) for pod in pods[node]),
        began_at=now,
        moved_at=now,
    )
    return _moved(replace(ledger, waves={**ledger.waves, job.key: wave}), wave.nodes, now)


def under_way(ledger: Ledger, job: Job) -> Wave | None:
    """Return the wave of `job` that has not ended, if any."""
    wave = ledger.waves.get(job.key)
    return wave if wave is not None and wave.ended_at is None else None


def too_soon(ledger: Ledger, job: Job, limits: Limits, now: float) -> Refusal | None:
    """Return why `job` must not be disturbed again yet, or None."""
    wave = ledger.waves.get(job.key)
    rest = limits.job_cooldown_seconds
    if job.bond is not Bond.GANG:
        # One replica that moves costs the others nothing: disruption budgets guard them.
        rest = limits.replica_cooldown_seconds
    if wave is None or wave.ended_at is None or now - wave.ended_at >= rest:
        return None
    return Refusal(Reason.JOB_COOLDOWN, f"{job} was moved less than {rest:g} s ago")


def no_place(snapshot: Snapshot, job: Job, names: frozenset[str], *, now: float) -> Refusal | None:
    """Return why no wave of `job` over the nodes `names` may move now, or None."""
    ledger, limits = snapshot.ledger, snapshot.policy.limits
    others = {
        key: wave
        for key, wave in ledger.waves.items()
        if key != job.key and holds_its_place(wave, limits, now)
    }
    near = sum(wave.namespace == job.namespace for wave in others.values())
    if near >= limits.namespace_waves:
        words = f"{near} waves move in namespace {job.namespace}, at most {limits.namespace_waves}"
        return Refusal(Reason.NAMESPACE_WAVES, words)
    if len(others) >= limits.waves:
        words = f"{len(others)} waves are under way, at most {limits.waves}"
        return Refusal(Reason.WAVES, words)
    return budget.places(ledger, snapshot.nodes, limits, names, now)


def overdue(wave: Wave | None, limits: Limits, now: float) -> bool:
    """Return whether a wave moved nothing for so long that it gave its place back."""
    return wave is not None and wave.ended_at is None and not holds_its_place(wave, limits, now)


def upkeep(ledger: Ledger, snapshot: Snapshot) -> Ledger:
    """Return the ledger with what moved and what ended; old waves are forgotten."""
    if not ledger.waves:
        return ledger
    limits, now = snapshot.policy.limits, snapshot.now
    kept = max(limits.job_cooldown_seconds, limits.replica_cooldown_seconds)
    alive = {pod.uid: pod for pods in snapshot.pods.values() for pod in pods}
    waves: dict[str, Wave] = {}
    touched: set[str] = set()
    for key, wave in ledger.waves.items():
        after = _followed(wave, snapshot, alive)
        if after is None:
            continue
        if after.moved_at != wave.moved_at:
            touched |= set(wave.nodes)
        if after.ended_at is None or now - after.ended_at < kept:
            waves[key] = after
    return _moved(replace(ledger, waves=waves), tuple(sorted(touched)), now)


def _followed(wave: Wave, snapshot: Snapshot, alive: Mapping[str, Pod]) -> Wave | None:
    """Return the wave as it stands; None when it was given up before it disturbed anything."""
    now = snapshot.now
    if wave.ended_at is not None:
        return replace(wave, ended_at=min(wave.ended_at, now))
    known = [name for name in wave.nodes if name in snapshot.nodes]
    if any(name not in snapshot.pods for name in known):
        return wave
    left = tuple(uid for uid in wave.pods if uid in alive)
    given_up = not any(_emptied(snapshot.nodes[name]) for name in known)
    stayed = left == wave.pods and all(alive[uid].ends_at is None for uid in left)
    if given_up and stayed and wave.moved_at == wave.began_at:
        return None
    if given_up or not left:
        return replace(wave, pods=(), moved_at=now, ended_at=now)
    moved_at = now if left != wave.pods else min(wave.moved_at, now)
    return replace(wave, pods=left, moved_at=moved_at)


def _emptied(node: Node) -> bool:
    mark = node.mark
    return node.mark_fault is not None or (mark is not None and mark.state is MarkState.EXCLUDED)


def _moved(ledger: Ledger, nodes: tuple[str, ...], now: float) -> Ledger:
    grants = {
        name: replace(grant, moved_at=now) if name in nodes else grant
        for name, grant in ledger.grants.items()
    }
    return ledger if grants == ledger.grants else replace(ledger, grants=grants)
