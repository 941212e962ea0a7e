"""One snapshot in, one plan out: what to record, what to do, and why, in sentences.

At most one step per episode.  Every new grant is in the returned ledger, which
must be written by compare-and-swap before the first step; whoever cannot write
it, does nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from remediation.policy import episodes
from remediation.policy.recovery import come_back, stand_down
from remediation.policy.refusal import Reason, Refusal
from remediation.policy.risk import advance, begin
from remediation.policy.steps import Decision, EpisodeState, Plan
from remediation.policy.turn import Turn, wait

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remediation.policy.episodes import Episode
    from remediation.policy.ledger import Ledger
    from remediation.policy.snapshot import Node, Snapshot
    from remediation.policy.steps import Finding


def plan(snapshot: Snapshot) -> Plan:
    """Decide every episode in order of urgency; each sees what the earlier ones were granted."""
    ledger = episodes.upkeep(snapshot)
    # In observe mode grants are imagined: they count within this tick, and are not recorded.
    imagined = ledger
    turns: list[Turn] = []
    for episode in episodes.derive(snapshot.nodes, ledger, snapshot.policy):
        turn = _decide(episode, replace(snapshot, ledger=imagined))
        imagined = turn.change(imagined)
        ledger = ledger if turn.imagined else turn.change(ledger)
        turns.append(turn)
    return Plan(
        ledger=ledger,
        findings=tuple(turn.finding for turn in turns),
        steps=tuple(turn.step for turn in turns if turn.step is not None),
    )


def pods_wanted(nodes: Mapping[str, Node], ledger: Ledger) -> bool:
    """Return whether the plan must know the pods: somebody is suspect or marked."""
    return bool(ledger.suspects) or any(node.mark is not None for node in nodes.values())


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


def _decide(episode: Episode, snapshot: Snapshot) -> Turn:
    node = episode.node
    if node is None:
        refusal = Refusal(Reason.UNKNOWN_NODE, "the pool has no node of that name")
        return wait(episode, EpisodeState.DEFERRED, refusal)
    unsafe = _unsafe(node, snapshot.epoch)
    if unsafe is not None:
        return wait(episode, EpisodeState.HELD, unsafe)
    mark = node.mark
    if mark is not None and mark.cordoned and not node.cordon_is_ours:
        return stand_down(episode, node, snapshot.now)
    if node.held or episode.hold is not None:
        why = episode.hold.reason if episode.hold is not None else "annotated by a person"
        return wait(episode, EpisodeState.HELD, Refusal(Reason.HELD, f"on hold: {why}"))
    if mark is None:
        return begin(episode, node, snapshot)
    if not episode.suspects:
        return come_back(episode, node, mark, snapshot)
    return advance(episode, node, mark, snapshot)


def _unsafe(node: Node, epoch: int) -> Refusal | None:
    """Return why even the node's own story cannot be relied on."""
    if node.mark_fault is not None:
        return Refusal(Reason.MARK_UNREADABLE, node.mark_fault)
    if node.mark is None:
        return None
    if node.mark.node_uid != node.uid:
        words = "the mark is of another machine of the same name"
        return Refusal(Reason.UID_CHANGED, words)
    if node.mark.epoch > epoch > 0:
        return Refusal(Reason.SUPERSEDED, "a later leader wrote the mark")
    return None
