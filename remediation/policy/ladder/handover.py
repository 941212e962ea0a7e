"""Handing a drained node over: the site's repair tool finds an object; repair itself is not ours.

The mark names the object before it is made, so that whoever comes after a kill
finds it.  It is taken back in the step that lets work return, and before it: a
tool that still holds its order might end that work.
"""

from __future__ import annotations

from dataclasses import replace as copy
from typing import TYPE_CHECKING

from msgspec.structs import replace

from remediation.policy.bounds.handover import fill
from remediation.policy.facts.handed import Handed
from remediation.policy.facts.mark import MarkState
from remediation.policy.facts.refusal import Reason, Refusal
from remediation.policy.guards import budget
from remediation.policy.guards.eligibility import may_act_on
from remediation.policy.steps import Decision, HandOver, NodeWrite, TakeBack
from remediation.policy.turn import Turn, act, rewrite, state_of, wait

if TYPE_CHECKING:
    from typing import Any

    from remediation.policy.episodes.episode import Episode
    from remediation.policy.episodes.outlook import Outlook
    from remediation.policy.facts.mark import Mark
    from remediation.policy.facts.node import Node
    from remediation.policy.facts.snapshot import Snapshot


def hand_over(
    episode: Episode, node: Node, mark: Mark, snapshot: Snapshot, outlook: Outlook
) -> Turn:
    """Take the next step of handing over a node that is drained, or say why not."""
    template = snapshot.policy.handover.object
    if template is None or (mark.handed is not None and mark.handed.made):
        return wait(episode, state_of(mark), _still(mark))
    no = budget.stopped(snapshot.ledger) or may_act_on(node, snapshot) or outlook.trouble
    suspect, doubt = outlook.verdict(episode.name)
    no = no or (doubt if suspect is None else None)
    if no is not None:
        return wait(episode, state_of(mark), no)
    body = _body(template, node, mark)
    named = _handed(body)
    if mark.handed is None:
        return act(episode, state_of(mark), _offer(node, mark, named, snapshot))
    if named != mark.handed:
        # The template was changed in between, and something may be there under the old name.
        offer = _offer(node, mark, named, snapshot)
        step = TakeBack(write=offer, handed=mark.handed, episode=mark.episode)
        return act(episode, state_of(mark), step)
    return act(episode, state_of(mark), _made(node, mark, mark.handed, body, snapshot))


def taking_back(turn: Turn, snapshot: Snapshot) -> Turn:
    """Return the turn, with the order to repair taken back where its step lets work return."""
    step = turn.step
    if not isinstance(step, NodeWrite) or step.node.mark is None:
        return turn
    handed, episode = step.node.mark.handed, step.node.mark.episode
    stays_out = step.mark is not None and step.mark.cordoned
    if handed is None or stays_out:
        return turn
    if step.mark is not None:
        step = copy(step, mark=replace(step.mark, handed=None))
    if not snapshot.policy.handover.take_back:
        return copy(turn, step=step)
    return copy(turn, step=TakeBack(write=step, handed=handed, episode=episode))


def _still(mark: Mark) -> Refusal:
    if mark.handed is not None and mark.handed.made:
        return Refusal(Reason.IN_REPAIR, f"it is handed over as {mark.handed}")
    return Refusal(Reason.STILL_FIRING, "the alert still fires")


def _made(
    node: Node, mark: Mark, handed: Handed, body: dict[str, Any], snapshot: Snapshot
) -> HandOver:
    done = replace(mark, handed=replace(handed, made=True), epoch=snapshot.epoch)
    sentence = f"{node.name} is handed over as {handed}"
    write = rewrite(Decision.HAND_OVER, node, done, sentence)
    return HandOver(write=write, handed=handed, body=body)


def _offer(node: Node, mark: Mark, named: Handed, snapshot: Snapshot) -> NodeWrite:
    noted = replace(mark, handed=named, epoch=snapshot.epoch)
    sentence = f"{node.name} is to be handed over as {named}"
    return rewrite(Decision.OFFER, node, noted, sentence)


def _handed(body: dict[str, Any]) -> Handed:
    metadata = body["metadata"]
    return Handed(
        api_version=body["apiVersion"],
        kind=body["kind"],
        name=metadata["name"],
        namespace=metadata.get("namespace", ""),
    )


def _body(template: dict[str, Any], node: Node, mark: Mark) -> dict[str, Any]:
    words = {
        "node": node.name,
        "uid": node.uid,
        "episode": mark.episode,
        "cause": mark.cause,
        "horizon": mark.horizon,
        "reason": mark.reason,
    }
    found: dict[str, Any] = fill(template, words)
    return found


def is_drained(mark: Mark) -> bool:
    """Return whether a whole node is empty because of us: the only thing that is handed over."""
    return mark.cordoned and mark.state is MarkState.DRAINED
