"""One snapshot in, one plan out: what to record, what to do, and why, in sentences.

At most one step per episode.  Every new grant is in the returned ledger, which
must be written by compare-and-swap before the first step; whoever cannot write
it, does nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from remediation.policy.episodes import devices
from remediation.policy.episodes.episode import derive
from remediation.policy.episodes.outlook import held, look, untouchable
from remediation.policy.facts.refusal import Reason, Refusal
from remediation.policy.guards import eligibility
from remediation.policy.guards.facility import facility_of
from remediation.policy.ladder.climb import advance, begin
from remediation.policy.ladder.handover import taking_back
from remediation.policy.ladder.narrowing import lift
from remediation.policy.ladder.recovery import asked_back, come_back, give_back, stand_down
from remediation.policy.ladder.shelter import join
from remediation.policy.steps import Decision, EpisodeState, Plan
from remediation.policy.turn import Turn, wait
from remediation.policy.upkeep import upkeep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remediation.policy.episodes.episode import Episode
    from remediation.policy.episodes.outlook import Outlook
    from remediation.policy.facts.evidence import Evidence
    from remediation.policy.facts.ledger import Ledger
    from remediation.policy.facts.node import Node
    from remediation.policy.facts.snapshot import Snapshot
    from remediation.policy.steps import Finding


def plan(snapshot: Snapshot) -> Plan:
    """Decide every episode in order of urgency; each sees what the earlier ones were granted."""
    ledger = upkeep(snapshot)
    # In observe mode grants are imagined: they count within this tick, and are not recorded.
    imagined = ledger
    turns: list[Turn] = []
    left_over = devices.orphans(snapshot, ledger)
    found = derive(snapshot.nodes, ledger, snapshot.policy, left_over=left_over)
    outlook = look(replace(snapshot, ledger=ledger), found)
    for episode in found:
        now = replace(snapshot, ledger=imagined)
        turn = lift(episode, now) if episode.name in left_over else _decide(episode, now, outlook)
        turn = taking_back(turn, now)
        imagined = turn.change(imagined)
        ledger = ledger if turn.imagined else turn.change(ledger)
        turns.append(turn)
    return Plan(
        ledger=ledger,
        findings=tuple(turn.finding for turn in turns),
        steps=tuple(turn.step for turn in turns if turn.step is not None),
    )


def pods_wanted(nodes: Mapping[str, Node], ledger: Ledger, evidence: Evidence) -> bool:
    """Return whether the plan must know the pods: somebody is suspect or marked."""
    if ledger.suspects or evidence.alerts:
        return True
    return any(node.mark is not None for node in nodes.values())


def summary(findings: tuple[Finding, ...]) -> str:
    """Say one tick in one sentence."""
    if not findings:
        return "nothing to do: no node is suspect, marked or held"
    done = [f.sentence for f in findings if f.decision is not Decision.WAIT and not f.only_observed]
    waiting: dict[str, int] = {}
    for finding in findings:
        if finding.refusal is not None:
            waiting[finding.refusal.reason] = waiting.get(finding.refusal.reason, 0) + 1
    rest = ", ".join(f"{count} {reason}" for reason, count in sorted(waiting.items()))
    return "; ".join([*done[:5], *([f"waiting: {rest}"] if rest else [])])


def _decide(episode: Episode, snapshot: Snapshot, outlook: Outlook) -> Turn:
    node = episode.node
    if node is None:
        refusal = eligibility.unknown(episode.name, snapshot.nodes)
        return wait(episode, EpisodeState.DEFERRED, refusal)
    unsafe = untouchable(node, snapshot.epoch)
    if unsafe is not None:
        return wait(episode, EpisodeState.HELD, unsafe)
    mark = node.mark
    if mark is not None and mark.cordoned and not node.cordon_is_ours:
        return stand_down(episode, node, snapshot.now)
    if devices.taken_off(node, snapshot.devices):
        why = "somebody took our taint off its GPU"
        return stand_down(episode, node, snapshot.now, why=why)
    hold = held(node, episode)
    if hold is not None:
        return wait(episode, EpisodeState.HELD, hold)
    order = asked_back(node, snapshot.ledger)
    if mark is not None and order is not None:
        return give_back(episode, node, mark, snapshot, order)
    facility = facility_of(node, snapshot.ledger, snapshot.policy.limits)
    if facility is not None:
        return join(episode, node, facility, snapshot, outlook)
    if mark is None:
        return begin(episode, node, snapshot, outlook) if episode.suspects else _nothing(episode)
    if not episode.suspects:
        return come_back(episode, node, mark, snapshot)
    return advance(episode, node, mark, snapshot, outlook)


def _nothing(episode: Episode) -> Turn:
    refusal = Refusal(Reason.NOT_FIRING, "nothing about the node is suspect")
    return wait(episode, EpisodeState.DEFERRED, refusal)
