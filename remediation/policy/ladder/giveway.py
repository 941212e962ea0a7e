"""Giving way: work that its scheduler ties to a node dies there for as long as we keep it out.

A scheduler of gangs may make a pod anew for the very node that we excluded; the
pod never starts, is deleted and made again, until its job has no tries left.
Once the job was moved as a whole, or where moving is not ours, the taint goes
back to a soft one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from remediation.policy.bounds.limits import Rung
from remediation.policy.facts.jobs import Bond, job_of
from remediation.policy.facts.mark import MarkState
from remediation.policy.facts.taint import Effect
from remediation.policy.guards import rests
from remediation.policy.guards.eligibility import movable, pinned
from remediation.policy.moving import waves
from remediation.policy.steps import Decision, EpisodeState, NodeWrite
from remediation.policy.turn import act

if TYPE_CHECKING:
    from remediation.policy.episodes.episode import Episode
    from remediation.policy.facts.ledger import Ledger
    from remediation.policy.facts.mark import Mark
    from remediation.policy.facts.node import Node
    from remediation.policy.facts.pod import Pod
    from remediation.policy.facts.snapshot import Snapshot
    from remediation.policy.turn import Turn


def hosts_tied_work(node: Node, snapshot: Snapshot) -> bool:
    """Return whether pods on the GPUs of `node` may run on no other node."""
    here = movable(snapshot.pods.get(node.name, ()), snapshot.policy.migrate)
    return any(pinned(pod, node) for pod in here)


def kept_out(node: Node, mark: Mark, snapshot: Snapshot) -> Pod | None:
    """Return a pod that suffers from the exclusion of `node` for no use any more, or None."""
    for pod in snapshot.pending:
        if pod.gated or pod.ends_at is not None or not pinned(pod, node):
            continue
        if mark.rung is not Rung.MIGRATE or not _may_still_move(pod, node, snapshot):
            return pod
    return _came_back(node, snapshot) if mark.rung is Rung.MIGRATE else None


def give_way(episode: Episode, node: Node, mark: Mark, pod: Pod, snapshot: Snapshot) -> Turn:
    """Turn the exclusion into a soft taint and let the node rest from us."""
    softer = replace(
        mark,
        state=MarkState.ELEVATED,
        rung=Rung.SOFTEN,
        cordoned=False,
        since=snapshot.now,
        epoch=snapshot.epoch,
    )
    step = NodeWrite(
        decision=Decision.GIVE_WAY,
        node=node,
        mark=softer,
        effect=Effect.PREFER,
        unschedulable=False if node.cordon_is_ours else None,
        sentence=f"{node.name} gives way: {pod} is tied to it and cannot run while it is excluded",
    )

    def change(ledger: Ledger) -> Ledger:
        grant = ledger.grants.get(node.name)
        if grant is not None:
            soft = replace(grant, rung=Rung.SOFTEN)
            ledger = replace(ledger, grants={**ledger.grants, node.name: soft})
        return rests.over(ledger, node.name, mark.episode, snapshot.now)

    return act(episode, EpisodeState.ELEVATED, step, change)


def _may_still_move(pod: Pod, node: Node, snapshot: Snapshot) -> bool:
    """Return whether the rest of the pod's job is on `node` and waits for its one wave."""
    labels = snapshot.policy.migrate.job_labels
    job = job_of(pod, labels)
    if waves.under_way(snapshot.ledger, job) is not None:
        return True
    here = movable(snapshot.pods.get(node.name, ()), snapshot.policy.migrate)
    rest = any(job_of(one, labels).key == job.key for one in here)
    return rest and not _moved_from(node, job.key, snapshot)


def _came_back(node: Node, snapshot: Snapshot) -> Pod | None:
    """Return a pod of a gang that was moved from `node` and is there again."""
    bar = snapshot.policy.migrate
    for pod in movable(snapshot.pods.get(node.name, ()), bar):
        job = job_of(pod, bar.job_labels)
        back = pod.ends_at is None and job.bond is Bond.GANG and pinned(pod, node)
        if back and _moved_from(node, job.key, snapshot):
            return pod
    return None


def _moved_from(node: Node, key: str, snapshot: Snapshot) -> bool:
    wave = snapshot.ledger.waves.get(key)
    return wave is not None and wave.ended_at is not None and node.name in wave.nodes
