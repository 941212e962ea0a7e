"""The way in: from a suspect to a soft taint, an exclusion, a migration.

The rung taken is the lowest of what the alert asks, what the cause allows and
the site's mode.  A grant comes before every rung; a crash between grant and
action finds the grant again and asks for no second one.  Nodes that a gang ties
together are granted together or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace as copy
from typing import TYPE_CHECKING

from remediation.policy.bounds.limits import Rung
from remediation.policy.episodes.justify import wanted
from remediation.policy.facts.device import Device
from remediation.policy.facts.ledger import Grant
from remediation.policy.facts.mark import Mark, MarkState
from remediation.policy.facts.node import Node
from remediation.policy.facts.refusal import Reason, Refusal
from remediation.policy.facts.snapshot import Snapshot
from remediation.policy.facts.taint import Effect
from remediation.policy.guards import budget, capacity, eligibility
from remediation.policy.ladder.giveway import give_way, hosts_tied_work, kept_out
from remediation.policy.ladder.handover import hand_over, is_drained
from remediation.policy.ladder.narrowing import outgrown
from remediation.policy.ladder.recovery import relapse
from remediation.policy.moving.leaving import move
from remediation.policy.steps import Decision, EpisodeState, NodeWrite, TaintGpu
from remediation.policy.turn import Turn, act, only_observed, state_of, wait

if TYPE_CHECKING:
    from remediation.policy.episodes.episode import Episode
    from remediation.policy.episodes.outlook import Outlook
    from remediation.policy.facts.ledger import Ledger, Suspect

_NO_ROOM = frozenset({Reason.NO_CAPACITY, Reason.VOLUMES_UNREADABLE})


def begin(episode: Episode, node: Node, snapshot: Snapshot, outlook: Outlook) -> Turn:
    """Decide a node that carries no mark yet: find evidence, ask the guards, take the rung."""
    return _climb(episode, node, snapshot, outlook, EpisodeState.DEFERRED)


def advance(episode: Episode, node: Node, mark: Mark, snapshot: Snapshot, outlook: Outlook) -> Turn:
    """Decide a marked node that is still suspect: relapse, climb, move its work, or wait."""
    if mark.state in {MarkState.VERIFYING, MarkState.PROBATION}:
        return relapse(episode, node, mark, snapshot, "an alert fires again")
    pod = kept_out(node, mark, snapshot) if mark.cordoned else None
    if pod is not None:
        return give_way(episode, node, mark, pod, snapshot)
    ceiling = snapshot.policy.ceiling
    asked = max(wanted(suspect, snapshot) for _, suspect in episode.suspects)
    if min(asked, ceiling) > mark.rung or outgrown(episode, mark, snapshot, outlook):
        return _climb(episode, node, snapshot, outlook, state_of(mark))
    if min(mark.rung, ceiling) is Rung.MIGRATE and mark.state is MarkState.EXCLUDED:
        return move(episode, node, mark, snapshot, outlook)
    if is_drained(mark) and ceiling is Rung.MIGRATE:
        return hand_over(episode, node, mark, snapshot, outlook)
    return wait(episode, state_of(mark), _stays(mark, outlook.targets.get(node.name)))


def _stays(mark: Mark, target: Device | Refusal | None) -> Refusal:
    """Say why nothing more is done for now, and where that is so, why not for a GPU alone."""
    if mark.gpu is None and isinstance(target, Refusal):
        return target
    return Refusal(Reason.STILL_FIRING, "the alert still fires")


def _climb(
    episode: Episode, node: Node, snapshot: Snapshot, outlook: Outlook, state: EpisodeState
) -> Turn:
    suspect, refusal = outlook.verdict(episode.name)
    if suspect is None:
        return wait(episode, state, refusal)
    ineligible = eligibility.may_act_on(node, snapshot)
    if ineligible is not None:
        return wait(episode, state, ineligible)
    observing = snapshot.policy.ceiling is Rung.OBSERVE
    asked = wanted(suspect, snapshot)
    target = outlook.targets.get(node.name)
    if isinstance(target, Refusal) and target.reason is Reason.DEVICES_UNREADABLE:
        return wait(episode, state, target)
    allowed = asked if observing else min(asked, snapshot.policy.ceiling)
    rung = _bearable(node, allowed, target, snapshot)
    if isinstance(rung, Refusal):
        return wait(episode, state, rung)
    reached = _reach(node, rung, snapshot, outlook)
    if isinstance(reached.grant, Refusal):
        blocked = reached.grant.reason is Reason.WAVE_TOO_LARGE
        where = EpisodeState.BLOCKED if blocked else state
        refused = wait(episode, where, reached.grant, lambda _: reached.ledger)
        return copy(refused, imagined=observing)
    fallback = target if isinstance(target, Refusal) and rung is Rung.EXCLUDE else None
    step = _enter(node, suspect, reached.grant, snapshot, _but(reached, fallback))
    if observing:
        return only_observed(episode, step, lambda _: reached.ledger)
    soft = reached.grant.rung is Rung.SOFTEN
    settled = EpisodeState.ELEVATED if soft else EpisodeState.EXCLUDED
    turn = act(episode, settled, step, lambda _: reached.ledger)
    said = copy(turn.finding, episode=reached.grant.episode, refusal=fallback)
    return copy(turn, finding=said)


def _but(reached: Reached, fallback: Refusal | None) -> str:
    instead = f"; not its GPU alone: {fallback.words}" if fallback is not None else ""
    return f"{reached.but}{instead}"


def _bearable(
    node: Node, rung: Rung, target: Device | Refusal | None, snapshot: Snapshot
) -> Rung | Refusal:
    """Return the rung that the node's work bears, or why nothing new is to be done.

    Where one GPU should have been tainted and cannot be, the node is excluded
    and keeps its work.
    """
    if isinstance(target, Device) and rung > Rung.SOFTEN:
        same = node.mark is not None and node.mark.gpu == target
        if same and node.mark is not None and rung <= node.mark.rung:
            return Refusal(Reason.STILL_FIRING, "the alert still fires")
        return rung
    if isinstance(target, Refusal):
        rung = min(rung, Rung.EXCLUDE)
    wider = node.mark is not None and node.mark.taints_gpu and rung > Rung.SOFTEN
    tied = rung is Rung.EXCLUDE and hosts_tied_work(node, snapshot)
    if tied and node.mark is not None:
        words = "its work is tied to it, so only the soft taint keeps others away"
        return Refusal(Reason.WORK_TIED, words)
    rung = Rung.SOFTEN if tied else rung
    if node.mark is not None and rung <= node.mark.rung and not wider:
        # The worse alert lacks evidence; what is on the node already covers this one.
        return _stays(node.mark, target)
    return rung


@dataclass(frozen=True, slots=True)
class Reached:
    """A grant or why there is none, the ledger that says so, and what `but` held back."""

    grant: Grant | Refusal
    ledger: Ledger
    but: str = ""


def _reach(node: Node, rung: Rung, snapshot: Snapshot, outlook: Outlook) -> Reached:
    """Ask for `rung`; without room for the work, keep at least new work out."""
    no = outlook.before_grant(node, rung, snapshot)
    if no is None and rung is Rung.MIGRATE and node.name not in snapshot.pods:
        no = Refusal(Reason.PODS_UNREADABLE, "the node's pods could not be read")
    if no is not None:
        return Reached(no, snapshot.ledger)
    reached = grant_for(node, rung, snapshot, outlook)
    no = reached.grant if isinstance(reached.grant, Refusal) else None
    if no is None or no.reason not in _NO_ROOM or node.mark is not None:
        return reached
    if hosts_tied_work(node, snapshot):
        return reached
    return copy(
        grant_for(node, Rung.EXCLUDE, snapshot, outlook), but=f"; its work stays: {no.words}"
    )


def grant_for(node: Node, rung: Rung, snapshot: Snapshot, outlook: Outlook) -> Reached:
    """Return the grant of `node`, and the ledger that holds it and those that belong to it."""
    ledger, limits, now = snapshot.ledger, snapshot.policy.limits, snapshot.now
    # Looked up anew: another episode of this tick may have taken it along with its own.
    held, gpu = ledger.grants.get(node.name), _gpu(node.name, rung, outlook)
    if held is not None and not held.applied and held.rung >= rung and held.gpu == gpu:
        # Granted before a crash or a lost answer: carry it out, spend nothing again.
        no = budget.carry_out(ledger, snapshot.nodes, limits, node=node.name, grant=held, now=now)
        return Reached(no or held, ledger)
    names = outlook.mates(node.name) if rung is Rung.MIGRATE else frozenset({node.name})
    grants = {
        name: _new_grant(
            snapshot.nodes[name], rung, snapshot, batch=node.name, gpu=_gpu(name, rung, outlook)
        )
        for name in sorted(names - outlook.emptying | {node.name})
    }
    for name in grants:
        no = outlook.before_grant(snapshot.nodes[name], rung, snapshot)
        if no is not None:
            words = f"{name}, which its work ties to it: {no.words}"
            return Reached(Refusal(no.reason, words), ledger)
    taken, no = budget.take(ledger, snapshot.nodes, limits, grants=grants, now=now)
    if no is not None:
        return Reached(no, taken)
    if rung is Rung.MIGRATE:
        no = capacity.room(outlook.moves_from(frozenset(grants), snapshot), snapshot, outlook.floor)
    return Reached(no or grants[node.name], ledger if no is not None else taken)


def _gpu(name: str, rung: Rung, outlook: Outlook) -> Device | None:
    """Return the one GPU of a node that a grant of `rung` is for, None for the whole node."""
    target = outlook.targets.get(name)
    return target if isinstance(target, Device) and rung > Rung.SOFTEN else None


def _new_grant(
    node: Node, rung: Rung, snapshot: Snapshot, *, batch: str, gpu: Device | None
) -> Grant:
    moment = f"{round(snapshot.now * 1000):x}"
    name = f"{node.name}.{moment}"
    earlier = snapshot.ledger.grants.get(node.name)
    before = node.mark.episode if node.mark is not None else earlier and earlier.episode
    return Grant(
        id=name,
        episode=before or name,
        node_uid=node.uid,
        rung=rung,
        taken_at=snapshot.now,
        expires_at=snapshot.now + snapshot.policy.limits.grant_expiry_seconds,
        epoch=snapshot.epoch,
        batch=f"{batch}.{moment}",
        gpu=gpu,
    )


def _enter(
    node: Node, suspect: Suspect, grant: Grant, snapshot: Snapshot, but: str = ""
) -> NodeWrite | TaintGpu:
    soft, gpu = grant.rung is Rung.SOFTEN, grant.gpu
    what = f"{suspect.alert} ({suspect.cause or 'any cause'} within {suspect.horizon or '?'})"
    mark = Mark(
        episode=grant.episode,
        node_uid=node.uid,
        state=MarkState.ELEVATED if soft else MarkState.EXCLUDED,
        rung=grant.rung,
        grant=grant.id,
        since=snapshot.now,
        reason=f"{suspect.severity} {what}{but}",
        cordoned=not soft and gpu is None,
        epoch=snapshot.epoch,
        horizon=suspect.horizon,
        cause=suspect.cause,
        gpu=gpu,
    )
    if gpu is not None:
        return _enter_gpu(node, gpu, mark, suspect.heard_at)
    deed = "is tainted softly" if soft else "is cordoned and tainted"
    return NodeWrite(
        decision=Decision.SOFTEN if soft else Decision.EXCLUDE,
        node=node,
        mark=mark,
        effect=Effect.PREFER if soft else Effect.FORBID,
        unschedulable=None if soft else True,
        sentence=f"{node.name} {deed}: {mark.reason}",
        heard_at=suspect.heard_at,
    )


def _enter_gpu(node: Node, gpu: Device, mark: Mark, heard_at: float) -> TaintGpu:
    write = NodeWrite(
        decision=Decision.TAINT_GPU,
        node=node,
        mark=mark,
        effect=None,
        unschedulable=None,
        sentence=f"{gpu} of {node.name} is tainted, the node stays: {mark.reason}",
    )
    return TaintGpu(write=write, device=gpu, heard_at=heard_at)
