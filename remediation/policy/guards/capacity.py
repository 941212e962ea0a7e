"""Room: does every pod that is to leave fit somewhere else, with all its demands?

An approximation of the scheduler that errs towards no: the largest pods are
placed first, each on the node where it leaves least behind.  Nodes at risk are
no place to go, and those who already wait for a node go before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from remediation.policy.facts.jobs import Bond, job_of
from remediation.policy.facts.refusal import Reason, Refusal
from remediation.policy.guards.eligibility import HOSTNAME
from remediation.policy.guards.floor import largest_first

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remediation.policy.facts.jobs import Job
    from remediation.policy.facts.pod import Pod
    from remediation.policy.facts.snapshot import Snapshot
    from remediation.policy.guards.floor import Domain, Floor

# What a pod says of the domain that all pods of its job must share: ours, and Kueue's.
TOPOLOGY_ANNOTATIONS = ("forewarn.dev/topology", "kueue.x-k8s.io/podset-required-topology")
# An elastic job that would rather run with fewer pods than fail with all of them.
SHRINK_ANNOTATION = "forewarn.dev/shrink"


def room(moves: Mapping[Job, tuple[Pod, ...]], snapshot: Snapshot, floor: Floor) -> Refusal | None:
    """Return why the pods of `moves` have nowhere to go together, or None when all fit.

    `floor` is that of the tick, and is left as it was.
    """
    pods = [pod for found in moves.values() for pod in found]
    unread = next((one for pod in pods for one in _unread(pod, snapshot)), None)
    if unread is not None:
        return Refusal(Reason.VOLUMES_UNREADABLE, f"where volume {unread} can be is not known")
    if floor.is_queued_for:
        return Refusal(Reason.NO_CAPACITY, "a long queue of pods waits for nodes already")
    before = floor.placed
    moving = _moving(moves, snapshot)
    floor.without(frozenset(pod.uid for pod in (*pods, *moving)))
    try:
        return _room(moves, moving, snapshot, floor)
    finally:
        floor.take_back(before)
        floor.without(frozenset())


def _room(
    moves: Mapping[Job, tuple[Pod, ...]],
    moving: tuple[Pod, ...],
    snapshot: Snapshot,
    floor: Floor,
) -> Refusal | None:
    for pod in moving:
        floor.place(pod, avoid=snapshot.ledger.grants)
    for job in sorted(moves):
        pods = moves[job]
        placed, shrinks = _place(job, pods, floor, snapshot), _may_shrink(pods)
        if shrinks:
            no = None if placed else _at_others_cost(job, pods, floor, snapshot)
        else:
            no = _contested(job, pods, floor) if placed else _no_room(job, pods, floor, snapshot)
        if no is not None:
            return no
    return None


def _contested(job: Job, pods: tuple[Pod, ...], floor: Floor) -> Refusal | None:
    """Return who would soon take by its priority the room that is there now, or None."""
    last = min(pods, key=lambda pod: pod.demand.priority)
    rival = floor.rival_of(last)
    if rival is None:
        return None
    words = f"{rival} waits for room with a higher priority, and could take that of {job}"
    return Refusal(Reason.NO_CAPACITY, words)


def _may_shrink(pods: tuple[Pod, ...]) -> bool:
    """Return whether the job goes on without these pods when nothing has room for them."""
    return all(pod.notes.get(SHRINK_ANNOTATION) == "true" for pod in pods)


def claims_of(
    pods_on: Mapping[str, tuple[Pod, ...]], names: Iterable[str]
) -> frozenset[tuple[str, str]]:
    """Return the claims (namespace, name) of the pods on GPUs of the nodes `names`."""
    return frozenset(
        (pod.namespace, claim)
        for name in names
        for pod in pods_on.get(name, ())
        if pod.gpus and not pod.finished
        for claim in pod.claims
    )


def _place(job: Job, pods: tuple[Pod, ...], floor: Floor, snapshot: Snapshot) -> bool:
    before, taken = floor.placed, snapshot.ledger.grants
    for domain in _domains(job, pods, snapshot):
        untied = [_untied(pod, job) for pod in largest_first(pods)]
        if all(floor.place(pod, avoid=taken, domain=domain) for pod in untied):
            return True
        floor.take_back(before)
    return False


def _untied(pod: Pod, job: Job) -> Pod:
    """Return the pod as it will be made anew: what tied one of a gang is its scheduler."""
    if job.bond is not Bond.GANG or HOSTNAME not in pod.node_selector:
        return pod
    rest = {key: value for key, value in pod.node_selector.items() if key != HOSTNAME}
    return replace(pod, node_selector=rest)


def _no_room(job: Job, pods: tuple[Pod, ...], floor: Floor, snapshot: Snapshot) -> Refusal:
    before, taken = floor.placed, snapshot.ledger.grants
    for pod in pods:
        untied = _untied(pod, job)
        fits = floor.place(untied, avoid=taken)
        floor.take_back(before)
        if not fits:
            return _nowhere(pod, job, floor.victim_of(untied, avoid=taken))
    words = f"healthy nodes have no room for {len(pods)} pods of {job} at once"
    return Refusal(Reason.NO_CAPACITY, words)


def _at_others_cost(
    job: Job, pods: tuple[Pod, ...], floor: Floor, snapshot: Snapshot
) -> Refusal | None:
    """Return who would be preempted for those of an elastic job that find no room, or None."""
    before, taken = floor.placed, snapshot.ledger.grants
    try:
        for pod in largest_first(pods):
            untied = _untied(pod, job)
            if floor.place(untied, avoid=taken):
                continue
            victim = floor.victim_of(untied, avoid=taken)
            if victim is not None:
                return _nowhere(pod, job, victim)
        return None
    finally:
        floor.take_back(before)


def _nowhere(pod: Pod, job: Job, victim: Pod | None) -> Refusal:
    unless = f" unless it preempts {victim}" if victim is not None else ""
    return Refusal(Reason.NO_CAPACITY, f"no healthy node can take {pod} of {job}{unless}")


def _unread(pod: Pod, snapshot: Snapshot) -> list[str]:
    return [
        f"{pod.namespace}/{claim}"
        for claim in pod.claims
        if (pod.namespace, claim) not in snapshot.volumes
    ]


def _moving(moves: Mapping[Job, tuple[Pod, ...]], snapshot: Snapshot) -> tuple[Pod, ...]:
    """Return the pods of other waves under way: they will need room too."""
    keys = {job.key for job in moves}
    moving = {
        uid
        for key, wave in snapshot.ledger.waves.items()
        if wave.ended_at is None and key not in keys
        for uid in wave.pods
    }
    if not moving:
        return ()
    return largest_first(p for pods in snapshot.pods.values() for p in pods if p.uid in moving)


def _domains(job: Job, pods: tuple[Pod, ...], snapshot: Snapshot) -> tuple[Domain, ...]:
    """Return the domains in which the pods may go.

    Where a gang must share a domain, that is the one of its pods that stay; one
    that leaves as a whole may share any.
    """
    label = next((pod.notes[a] for pod in pods for a in TOPOLOGY_ANNOTATIONS if a in pod.notes), "")
    if not label or job.bond is not Bond.GANG:
        return (None,)
    leaving = {pod.uid for pod in pods}
    labels = snapshot.policy.migrate.job_labels
    stay = {
        snapshot.nodes[name].labels.get(label, "")
        for name, found in snapshot.pods.items()
        if name in snapshot.nodes
        for pod in found
        if pod.uid not in leaving and not pod.finished and job_of(pod, labels).key == job.key
    }
    every = {node.labels[label] for node in snapshot.nodes.values() if label in node.labels}
    return tuple((label, value) for value in sorted((stay & every) if stay else every))
