"""A node in a facility event: no new work, what is there is saved, and moved where wished."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from remediation.policy.bounds.limits import Rung
from remediation.policy.facts.jobs import job_of
from remediation.policy.facts.ledger import Grant
from remediation.policy.facts.mark import Mark, MarkState
from remediation.policy.facts.refusal import Reason, Refusal
from remediation.policy.facts.taint import Effect
from remediation.policy.guards import budget, eligibility
from remediation.policy.ladder.climb import grant_for
from remediation.policy.moving import checkpoints, waves
from remediation.policy.moving.leaving import move
from remediation.policy.steps import Decision, EpisodeState, NodeWrite
from remediation.policy.turn import act, only_observed, wait

if TYPE_CHECKING:
    from remediation.policy.episodes.episode import Episode
    from remediation.policy.episodes.outlook import Outlook
    from remediation.policy.facts.jobs import Job
    from remediation.policy.facts.ledger import Facility, Ledger
    from remediation.policy.facts.node import Node
    from remediation.policy.facts.pod import Pod
    from remediation.policy.facts.snapshot import Snapshot
    from remediation.policy.turn import Turn


def join(
    episode: Episode, node: Node, facility: Facility, snapshot: Snapshot, outlook: Outlook
) -> Turn:
    """Decide a node whose domain is in trouble."""
    words = f"its domain is in trouble ({facility.domain}: {facility.reason}): people are called"
    refusal = Refusal(Reason.FACILITY_EVENT, words)
    if node.mark is None:
        return _soften(episode, node, facility, snapshot, outlook)
    if _has_a_wave(node, snapshot) and node.mark.state is MarkState.EXCLUDED:
        # A gang that was half moved is of no use: its wave ends, no other begins.
        return move(episode, node, node.mark, snapshot, outlook)
    if node.name in outlook.evacuated:
        return _evacuate(episode, node, node.mark, facility, snapshot, outlook)
    asked = _save(episode, node, snapshot)
    return asked or wait(episode, EpisodeState.FACILITY, refusal)


def _evacuate(
    episode: Episode,
    node: Node,
    mark: Mark,
    facility: Facility,
    snapshot: Snapshot,
    outlook: Outlook,
) -> Turn:
    """Take the node out and move its work, in its turn: every limit holds as for any other node."""
    if mark.state is MarkState.EXCLUDED and mark.rung is Rung.MIGRATE:
        return move(episode, node, mark, snapshot, outlook)
    no = outlook.before_grant(node, Rung.MIGRATE, snapshot)
    if no is None and node.name not in snapshot.pods:
        no = Refusal(Reason.PODS_UNREADABLE, "the node's pods could not be read")
    if no is None:
        reached = grant_for(node, Rung.MIGRATE, snapshot, outlook)
        if not isinstance(reached.grant, Refusal):
            step = _leave(node, mark, reached.grant, facility, snapshot)
            return act(episode, EpisodeState.EXCLUDED, step, lambda _: reached.ledger)
        no = reached.grant
        if no.reason is Reason.BREAKER_OPEN:
            return wait(episode, EpisodeState.FACILITY, no, lambda _: reached.ledger)
    # Until its turn comes, what is there is at least saved.
    return _save(episode, node, snapshot) or wait(episode, EpisodeState.FACILITY, no)


def _leave(
    node: Node, mark: Mark, grant: Grant, facility: Facility, snapshot: Snapshot
) -> NodeWrite:
    out = replace(
        mark,
        state=MarkState.EXCLUDED,
        rung=Rung.MIGRATE,
        grant=grant.id,
        since=snapshot.now,
        cordoned=True,
        epoch=snapshot.epoch,
    )
    return NodeWrite(
        decision=Decision.EXCLUDE,
        node=node,
        mark=out,
        effect=Effect.FORBID,
        unschedulable=True,
        sentence=f"{node.name} is evacuated in its turn: {facility.domain}, {facility.reason}",
    )


def _soften(
    episode: Episode, node: Node, facility: Facility, snapshot: Snapshot, outlook: Outlook
) -> Turn:
    no = budget.stopped(snapshot.ledger) or eligibility.may_act_on(node, snapshot)
    no = no or outlook.before_grant(node, Rung.SOFTEN, snapshot)
    if no is not None:
        return wait(episode, EpisodeState.FACILITY, no)
    grant = _grant(node, facility, snapshot)
    mark = Mark(
        episode=facility.id,
        node_uid=node.uid,
        state=MarkState.ELEVATED,
        rung=Rung.SOFTEN,
        grant=grant.id,
        since=snapshot.now,
        reason=f"facility event in {facility.domain}: {facility.reason}",
        cordoned=False,
        epoch=snapshot.epoch,
        horizon=facility.horizon,
    )
    step = NodeWrite(
        decision=Decision.SOFTEN,
        node=node,
        mark=mark,
        effect=Effect.PREFER,
        unschedulable=None,
        sentence=f"{node.name} is tainted softly: {mark.reason}",
    )

    def change(ledger: Ledger) -> Ledger:
        # All nodes of a domain at once: the share of softly tainted ones is not for this.
        return replace(ledger, grants={**ledger.grants, node.name: grant})

    if snapshot.policy.ceiling is Rung.OBSERVE:
        return only_observed(episode, step, change)
    return act(episode, EpisodeState.FACILITY, step, change)


def _grant(node: Node, facility: Facility, snapshot: Snapshot) -> Grant:
    held = snapshot.ledger.grants.get(node.name)
    if held is not None and held.episode == facility.id:
        return held
    return Grant(
        id=f"{node.name}.{round(snapshot.now * 1000):x}",
        episode=facility.id,
        node_uid=node.uid,
        rung=Rung.SOFTEN,
        taken_at=snapshot.now,
        expires_at=snapshot.now + snapshot.policy.limits.grant_expiry_seconds,
        epoch=snapshot.epoch,
    )


def _has_a_wave(node: Node, snapshot: Snapshot) -> bool:
    if snapshot.policy.ceiling is not Rung.MIGRATE:
        return False
    return any(w.ended_at is None and node.name in w.nodes for w in snapshot.ledger.waves.values())


def _save(episode: Episode, node: Node, snapshot: Snapshot) -> Turn | None:
    """Ask one job on the node to save its work, where moving work is ours at all."""
    if snapshot.policy.ceiling is not Rung.MIGRATE or budget.stopped(snapshot.ledger):
        return None
    for job, pods in _jobs_on(node, snapshot).items():
        if waves.under_way(snapshot.ledger, job) is not None:
            continue
        found = checkpoints.before(job, {node.name: pods}, snapshot)
        if found is not None and not isinstance(found, Refusal):
            step, change = found
            return act(episode, EpisodeState.FACILITY, step, change)
    return None


def _jobs_on(node: Node, snapshot: Snapshot) -> dict[Job, tuple[Pod, ...]]:
    bar = snapshot.policy.migrate
    found: dict[Job, tuple[Pod, ...]] = {}
    for pod in eligibility.movable(snapshot.pods.get(node.name, ()), bar):
        if pod.ends_at is None:
            job = job_of(pod, bar.job_labels)
            found[job] = (*found.get(job, ()), pod)
    return dict(sorted(found.items()))
