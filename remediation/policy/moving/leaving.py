"""Moving a job off the nodes that will fail: who goes next, whether it may, and in what order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from remediation.policy.bounds.limits import Rung
from remediation.policy.episodes import devices
from remediation.policy.episodes.justify import wanted
from remediation.policy.facts.jobs import Bond, job_of, rank
from remediation.policy.facts.mark import MarkState
from remediation.policy.facts.refusal import Reason, Refusal
from remediation.policy.guards import budget, capacity, eligibility
from remediation.policy.moving import checkpoints, restore_points, waves
from remediation.policy.steps import Decision, EpisodeState, EvictWave
from remediation.policy.turn import act, rewrite, unchanged, wait

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remediation.policy.episodes.episode import Episode
    from remediation.policy.episodes.outlook import Load, Outlook
    from remediation.policy.facts.jobs import Job
    from remediation.policy.facts.ledger import Ledger
    from remediation.policy.facts.mark import Mark
    from remediation.policy.facts.node import Node
    from remediation.policy.facts.pod import Pod
    from remediation.policy.facts.snapshot import Snapshot
    from remediation.policy.steps import AskCheckpoint, TakeSnapshots
    from remediation.policy.turn import Turn

# The key under which an answer stands that concerns the waves of every job.
EVERY_JOB = ""
# These say that no patience helps: somebody must change something.
_BLOCKING = frozenset(
    {
        Reason.POD_UNMANAGED,
        Reason.POD_HAS_LOCAL_DATA,
        Reason.POD_ASKS_TO_STAY,
        Reason.DISRUPTION_BUDGET,
        Reason.EVICTION_REFUSED,
        Reason.NOT_ALLOWED,
        Reason.CHECKPOINT_FAILED,
        Reason.SNAPSHOT_FAILED,
    }
)
_PREPARING = {
    Reason.CHECKPOINT_PENDING: EpisodeState.CHECKPOINTING,
    Reason.SNAPSHOT_PENDING: EpisodeState.SNAPSHOTTING,
}
_STATES = {
    Decision.CHECKPOINT: EpisodeState.CHECKPOINTING,
    Decision.SNAPSHOT: EpisodeState.SNAPSHOTTING,
    Decision.EVICT: EpisodeState.MIGRATING,
}


@dataclass(frozen=True, slots=True)
class _Going:
    """What may be done for one job now, and what is recorded before it."""

    step: EvictWave | AskCheckpoint | TakeSnapshots
    change: Callable[[Ledger], Ledger] = unchanged


def move(episode: Episode, node: Node, mark: Mark, snapshot: Snapshot, outlook: Outlook) -> Turn:
    """Decide a node that is being emptied: drained, the next wave, or why not."""
    pods = snapshot.pods.get(node.name)
    if pods is None:
        refusal = Refusal(Reason.PODS_UNREADABLE, "the node's pods could not be read")
        return wait(episode, EpisodeState.MIGRATING, refusal)
    pods = eligibility.movable(pods, snapshot.policy.migrate)
    busy = pods if mark.gpu is None else devices.busy(pods, mark.gpu, snapshot.devices)
    if isinstance(busy, Refusal):
        return wait(episode, EpisodeState.MIGRATING, busy)
    if not busy:
        return _drained(episode, node, mark, snapshot)
    refusal_to_move = _immovable(episode, node, mark, snapshot, outlook)
    if refusal_to_move is not None:
        return wait(episode, EpisodeState.MIGRATING, refusal_to_move)
    refusals: list[Refusal] = []
    for load in _in_turn(outlook.loads_on.get(node.name, ()), snapshot.ledger):
        going = _go(node, load, snapshot, outlook)
        if isinstance(going, _Going):
            return act(episode, _STATES[going.step.decision], going.step, going.change)
        refusals.append(going)
    first = next(iter(refusals), Refusal(Reason.NOT_GRANTED, "nothing asks for moving its work"))
    return wait(episode, _state(first, node, snapshot), first)


def _state(refusal: Refusal, node: Node, snapshot: Snapshot) -> EpisodeState:
    if refusal.reason in _PREPARING:
        return _PREPARING[refusal.reason]
    limits, now = snapshot.policy.limits, snapshot.now
    here = [wave for wave in snapshot.ledger.waves.values() if node.name in wave.nodes]
    overdue = any(waves.overdue(wave, limits, now) for wave in here)
    # An owner that moves the pod itself is waited for until patience is over.
    blocked = refusal.reason in _BLOCKING or (refusal.reason is Reason.OWNER_MOVES and overdue)
    return EpisodeState.BLOCKED if blocked else EpisodeState.MIGRATING


def _drained(episode: Episode, node: Node, mark: Mark, snapshot: Snapshot) -> Turn:
    drained = replace(mark, state=MarkState.DRAINED, since=snapshot.now, epoch=snapshot.epoch)
    what = "its GPUs" if mark.gpu is None else f"its {mark.gpu}"
    sentence = f"{node.name} is drained: no pod uses {what}"
    return act(episode, EpisodeState.DRAINED, rewrite(Decision.SETTLE, node, drained, sentence))


def _immovable(
    episode: Episode, node: Node, mark: Mark, snapshot: Snapshot, outlook: Outlook
) -> Refusal | None:
    """Return why no pod may be evicted now: each wave needs what a grant needs."""
    stopped = budget.stopped(snapshot.ledger) or eligibility.may_act_on(node, snapshot)
    if stopped is not None:
        return stopped
    grant = episode.grant
    if grant is None or grant.id != mark.grant or grant.rung is not Rung.MIGRATE:
        return Refusal(Reason.NOT_GRANTED, "no grant covers moving its work")
    if episode.name in outlook.evacuated:
        return outlook.trouble
    suspect, refusal = outlook.verdict(episode.name)
    if suspect is None:
        return refusal
    if wanted(suspect, snapshot) is not Rung.MIGRATE:
        return Refusal(Reason.PROBABILITY_LOW, "nothing that still holds asks for moving work")
    return outlook.trouble


def _in_turn(loads: tuple[Load, ...], ledger: Ledger) -> tuple[Load, ...]:
    """Order what runs on a node: what is on its way first, so that it ends."""
    return tuple(sorted(loads, key=lambda load: waves.under_way(ledger, load.job) is None))


def _go(node: Node, load: Load, snapshot: Snapshot, outlook: Outlook) -> _Going | Refusal:
    wave = waves.under_way(snapshot.ledger, load.job)
    here = {name: pods for name, pods in load.pods.items() if name in outlook.emptying}
    if wave is None:
        return _start(node, load, here, snapshot, outlook)
    lead = min((name for name in wave.nodes if name in here), default=node.name)
    if node.name != lead or wave.began_at == snapshot.now:
        # One node asks for all of the wave; in the tick that begins it, that is done already.
        other = next((name for name in wave.nodes if name != node.name), lead)
        return Refusal(Reason.WAVE_ELSEWHERE, f"{load.job} moves in one wave with {other}")
    asked = {n: tuple(pod for pod in pods if pod.uid in wave.pods) for n, pods in here.items()}
    left = {n: living for n, pods in asked.items() if (living := _living(pods))}
    if not left:
        ending = tuple(
            pod for pods in (asked if any(asked.values()) else here).values() for pod in pods
        )
        return _ending(ending, snapshot)
    no = _not_now(load.job, frozenset(left), snapshot)
    if no is None and wave.moved_at == wave.began_at:
        # Nothing of it has moved yet: what had room when it began may have none by now.
        pods = tuple(pod for found in left.values() for pod in found)
        no = capacity.room({load.job: pods}, snapshot, outlook.floor)
    return no or _Going(_step(load.job, left, snapshot, "asked again to move"))


def _start(
    node: Node,
    load: Load,
    here: Mapping[str, tuple[Pod, ...]],
    snapshot: Snapshot,
    outlook: Outlook,
) -> _Going | Refusal:
    job = load.job
    going = {name: living for name, pods in here.items() if (living := _living(pods))}
    if not going:
        return _ending(here[node.name], snapshot)
    elsewhere = sorted((set(load.pods) & outlook.leaving) - outlook.emptying)
    if job.bond is Bond.GANG and elsewhere:
        words = f"{job} also runs on {elsewhere[0]}, which is at risk and not excluded yet"
        return Refusal(Reason.WAVE_INCOMPLETE, words)
    if job.bond is Bond.ORDERED:
        last = _last(job, going, snapshot)
        if isinstance(last, Refusal):
            return last
        going = last
    obstacles = (
        eligibility.obstacle(pod, snapshot.policy.migrate)
        for pods in going.values()
        for pod in pods
    )
    no = next((obstacle for obstacle in obstacles if obstacle is not None), None)
    no = no or waves.too_soon(snapshot.ledger, job, snapshot.policy.limits, snapshot.now)
    no = no or _not_now(job, frozenset(going), snapshot)
    leaving = tuple(pod for pods in going.values() for pod in pods)
    no = no or capacity.room({job: leaving}, snapshot, outlook.floor)
    if no is not None:
        return no
    for prepare in (checkpoints.before, restore_points.before):
        found = prepare(job, going, snapshot)
        if isinstance(found, Refusal):
            return found
        if found is not None:
            return _Going(*found)
    step = _step(job, going, snapshot, "asked to move")
    return _Going(step, lambda ledger: waves.begin(ledger, job, going, snapshot.now))


def _not_now(job: Job, names: frozenset[str], snapshot: Snapshot) -> Refusal | None:
    """Return what the server last said, while it is too early to ask again, or who is before us."""
    for key in (EVERY_JOB, job.key):
        trial = snapshot.trials.get(key)
        if trial is not None and trial.holds(snapshot.now):
            return trial.refusal
    return waves.no_place(snapshot, job, names, now=snapshot.now)


def _last(
    job: Job, going: Mapping[str, tuple[Pod, ...]], snapshot: Snapshot
) -> dict[str, tuple[Pod, ...]] | Refusal:
    """Return the one pod with the highest rank, once all others of its job are ready."""
    labels = snapshot.policy.migrate.job_labels
    everywhere = (pod for pods in (*snapshot.pods.values(), snapshot.pending) for pod in pods)
    siblings = (pod for pod in everywhere if job_of(pod, labels).key == job.key)
    unready = [pod for pod in siblings if not pod.ready or pod.ends_at is not None]
    name, last = max(
        ((name, pod) for name, pods in going.items() for pod in pods),
        key=lambda found: rank(found[1]),
    )
    others = [pod for pod in unready if pod.uid != last.uid]
    if others:
        words = f"{job} is moved one pod at a time, and {others[0]} is not ready"
        return Refusal(Reason.ONE_AT_A_TIME, words)
    return {name: (last,)}


def _step(
    job: Job, going: Mapping[str, tuple[Pod, ...]], snapshot: Snapshot, deed: str
) -> EvictWave:
    names = sorted(going)
    pods = tuple(pod for name in names for pod in going[name])
    deed = (
        f"1 pod of {job} is {deed}" if len(pods) == 1 else f"{len(pods)} pods of {job} are {deed}"
    )
    heard = [s.heard_at for s in snapshot.ledger.suspects.values() if s.node in going]
    return EvictWave(
        job=job.key,
        nodes=tuple(snapshot.nodes[name] for name in names),
        pods=pods,
        sentence=f"{', '.join(names)}: {deed}",
        heard_at=min(heard, default=None),
        overdue=waves.overdue(
            snapshot.ledger.waves.get(job.key), snapshot.policy.limits, snapshot.now
        ),
    )


def _living(pods: tuple[Pod, ...]) -> tuple[Pod, ...]:
    return tuple(pod for pod in pods if pod.ends_at is None)


def _ending(pods: tuple[Pod, ...], snapshot: Snapshot) -> Refusal:
    late = [
        pod
        for pod in pods
        if pod.ends_at is not None
        and snapshot.now > pod.ends_at + snapshot.policy.migrate.stuck_seconds
    ]
    if late:
        return Refusal(Reason.POD_STUCK, f"{late[0]} should have ended: it is not moved yet")
    return Refusal(Reason.PODS_ENDING, "its pods are ending")
