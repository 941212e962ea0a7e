"""The way in: from a suspect to a soft taint, an exclusion, a migration.

The rung taken is the lowest of what the alert asks, what the cause allows and
the site's mode.  A grant comes before every rung; a crash between grant and
action finds the grant again and asks for no second one.
"""

from __future__ import annotations

from dataclasses import replace as copy
from typing import TYPE_CHECKING

from msgspec.structs import replace

from remediation.policy import budget, eligibility
from remediation.policy.evidence import judge
from remediation.policy.ledger import Grant
from remediation.policy.limits import Rung
from remediation.policy.recovery import relapse, rewrite, state_of
from remediation.policy.refusal import Reason, Refusal
from remediation.policy.snapshot import Effect, Mark, MarkState, Node, Pod, Snapshot
from remediation.policy.steps import Decision, EpisodeState, EvictWave, Finding, NodeWrite
from remediation.policy.turn import Turn, act, wait

if TYPE_CHECKING:
    from remediation.policy.episodes import Episode
    from remediation.policy.ledger import Ledger, Suspect


def begin(episode: Episode, node: Node, snapshot: Snapshot) -> Turn:
    """Decide a node that carries no mark yet: find evidence, ask the guards, take the rung."""
    return _climb(episode, node, snapshot, EpisodeState.DEFERRED)


def advance(episode: Episode, node: Node, mark: Mark, snapshot: Snapshot) -> Turn:
    """Decide a marked node that is still suspect: relapse, climb, move its work, or wait."""
    if mark.state is MarkState.VERIFYING:
        return relapse(episode, node, mark, snapshot, "an alert fires again")
    ceiling = snapshot.policy.ceiling
    wanted = max(_wanted(suspect, snapshot) for _, suspect in episode.suspects)
    if min(wanted, ceiling) > mark.rung:
        return _climb(episode, node, snapshot, state_of(mark))
    if min(mark.rung, ceiling) is Rung.MIGRATE and mark.state is MarkState.EXCLUDED:
        return _move(episode, node, mark, snapshot)
    return wait(episode, state_of(mark), Refusal(Reason.STILL_FIRING, "the alert still fires"))


def _climb(episode: Episode, node: Node, snapshot: Snapshot, state: EpisodeState) -> Turn:
    suspect, refusal = _justified(episode, snapshot)
    if suspect is None:
        return wait(episode, state, refusal)
    ineligible = eligibility.may_act_on(node)
    if ineligible is not None:
        return wait(episode, state, ineligible)
    observing = snapshot.policy.ceiling is Rung.OBSERVE
    wanted = _wanted(suspect, snapshot)
    rung = wanted if observing else min(wanted, snapshot.policy.ceiling)
    if node.mark is not None and rung <= node.mark.rung:
        # The worse alert lacks evidence; what is on the node already covers this one.
        words = "the alert still fires"
        return wait(episode, state, Refusal(Reason.STILL_FIRING, words))
    grant, ledger, no = _grant(episode, node, rung, snapshot)
    if no is not None:
        return copy(wait(episode, state, no, lambda _: ledger), imagined=observing)
    step = _enter(node, suspect, grant, snapshot)
    if observing:
        return _only_observed(episode, step, ledger)
    settled = EpisodeState.ELEVATED if rung is Rung.SOFTEN else EpisodeState.EXCLUDED
    turn = act(episode, settled, step, lambda _: ledger)
    return copy(turn, finding=copy(turn.finding, episode=grant.episode))


def _justified(episode: Episode, snapshot: Snapshot) -> tuple[Suspect | None, Refusal]:
    """Return the worst suspect that has evidence, or the worst one's refusal."""
    first = Refusal(Reason.NOT_FIRING, "nothing about the node is suspect")
    for number, (key, suspect) in enumerate(episode.suspects):
        if _wanted(suspect, snapshot) is Rung.OBSERVE:
            refusal: Refusal | None = Refusal(
                Reason.RECORD_ONLY, "the alert or its cause is for the record only"
            )
        else:
            refusal = judge(suspect, key, snapshot.evidence, snapshot.policy.evidence)
        if refusal is None:
            return suspect, first
        first = refusal if number == 0 else first
    return None, first


def _grant(
    episode: Episode, node: Node, rung: Rung, snapshot: Snapshot
) -> tuple[Grant, Ledger, Refusal | None]:
    held = episode.grant
    if held is not None and not held.applied and held.rung >= rung:
        # Granted before a crash or a lost answer: carry it out, spend nothing again.
        limits = snapshot.policy.limits
        refusal = budget.carry_out(
            snapshot.ledger, snapshot.nodes, limits, node=node.name, grant=held
        )
        return held, snapshot.ledger, refusal
    name = f"{node.name}.{round(snapshot.now * 1000):x}"
    grant = Grant(
        id=name,
        episode=episode.id or name,
        node_uid=node.uid,
        rung=rung,
        taken_at=snapshot.now,
        expires_at=snapshot.now + snapshot.policy.limits.grant_expiry_seconds,
        epoch=snapshot.epoch,
    )
    ledger, refusal = budget.take(
        snapshot.ledger, snapshot.nodes, snapshot.policy.limits, node=node.name, grant=grant
    )
    return grant, ledger, refusal


def _enter(node: Node, suspect: Suspect, grant: Grant, snapshot: Snapshot) -> NodeWrite:
    soft = grant.rung is Rung.SOFTEN
    what = f"{suspect.alert} ({suspect.cause or 'any cause'} within {suspect.horizon or '?'})"
    mark = Mark(
        episode=grant.episode,
        node_uid=node.uid,
        state=MarkState.ELEVATED if soft else MarkState.EXCLUDED,
        rung=grant.rung,
        grant=grant.id,
        since=snapshot.now,
        reason=f"{suspect.severity} {what}",
        cordoned=not soft,
        epoch=snapshot.epoch,
        horizon=suspect.horizon,
        cause=suspect.cause,
    )
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


def _only_observed(episode: Episode, step: NodeWrite, ledger: Ledger) -> Turn:
    refusal = Refusal(Reason.OBSERVE_MODE, "the mode is observe")
    finding = Finding(
        node=episode.name,
        state=EpisodeState.OBSERVED,
        decision=step.decision,
        refusal=refusal,
        only_observed=True,
        sentence=f"would act: {step.sentence}; the mode is observe",
    )
    return Turn(finding=finding, change=lambda _: ledger, imagined=True)


def _move(episode: Episode, node: Node, mark: Mark, snapshot: Snapshot) -> Turn:
    pods = snapshot.pods.get(node.name)
    if pods is None:
        refusal = Refusal(Reason.PODS_UNREADABLE, "the node's pods could not be read")
        return wait(episode, EpisodeState.MIGRATING, refusal)
    busy = eligibility.movable(pods)
    if not busy:
        drained = replace(mark, state=MarkState.DRAINED, since=snapshot.now, epoch=snapshot.epoch)
        sentence = f"{node.name} is drained: no pod uses its GPUs"
        return act(episode, EpisodeState.DRAINED, rewrite(Decision.SETTLE, node, drained, sentence))
    immovable = _immovable(episode, node, mark, snapshot)
    if immovable is not None:
        return wait(episode, EpisodeState.MIGRATING, immovable)
    wave = tuple(pod for pod in busy if pod.ends_at is None)
    if not wave:
        return wait(episode, EpisodeState.MIGRATING, _ending(busy, snapshot))
    obstacles = (eligibility.obstacle(pod, snapshot.policy.migrate) for pod in wave)
    blocked = next((obstacle for obstacle in obstacles if obstacle is not None), None)
    if blocked is not None:
        return wait(episode, EpisodeState.BLOCKED, blocked)
    step = EvictWave(
        node=node,
        pods=wave,
        grant=mark.grant,
        sentence=f"{node.name}: {len(wave)} pods are asked to move",
        heard_at=episode.suspects[0][1].heard_at,
    )
    return act(episode, EpisodeState.MIGRATING, step)


def _immovable(episode: Episode, node: Node, mark: Mark, snapshot: Snapshot) -> Refusal | None:
    """Return why no pod may be evicted now: each wave needs what a grant needs."""
    stopped = budget.stopped(snapshot.ledger) or eligibility.may_act_on(node)
    if stopped is not None:
        return stopped
    grant = episode.grant
    if grant is None or grant.id != mark.grant or grant.rung is not Rung.MIGRATE:
        return Refusal(Reason.NOT_GRANTED, "no grant covers moving its work")
    suspect, refusal = _justified(episode, snapshot)
    if suspect is None:
        return refusal
    if _wanted(suspect, snapshot) is not Rung.MIGRATE:
        return Refusal(Reason.PROBABILITY_LOW, "nothing that still holds asks for moving work")
    return None


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


def _wanted(suspect: Suspect, snapshot: Snapshot) -> Rung:
    return snapshot.policy.wanted(suspect.severity, suspect.remedy, suspect.cause)
