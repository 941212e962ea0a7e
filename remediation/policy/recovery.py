"""The way back: soak, relapse, release, and standing down when a person took over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from remediation.policy import release, rests
from remediation.policy.ledger import Hold
from remediation.policy.snapshot import Effect, Mark, MarkState, Node, Snapshot
from remediation.policy.steps import Decision, EpisodeState, NodeWrite
from remediation.policy.turn import Turn, act, wait

if TYPE_CHECKING:
    from remediation.policy.episodes import Episode
    from remediation.policy.ledger import Ledger


def come_back(episode: Episode, node: Node, mark: Mark, snapshot: Snapshot) -> Turn:
    """Take the next step towards release; called when nothing about the node is suspect."""
    verifying = mark.state is MarkState.VERIFYING
    refusal = release.well(node, mark, snapshot.evidence, snapshot.policy)
    if refusal is not None:
        if verifying and refusal.reason in release.RELAPSES:
            return relapse(episode, node, mark, snapshot, refusal.words)
        return wait(episode, state_of(mark), refusal)
    if not verifying or mark.boot_id != node.boot_id:
        return _verify(episode, node, mark, snapshot)
    refusal = release.soaked(node, mark, snapshot.policy.release, snapshot.now)
    refusal = refusal or release.staggered(
        mark, snapshot.ledger, snapshot.policy.release, snapshot.now
    )
    if refusal is not None:
        return wait(episode, EpisodeState.VERIFYING, refusal)
    return _release(episode, node, mark, snapshot)


def relapse(episode: Episode, node: Node, mark: Mark, snapshot: Snapshot, why: str) -> Turn:
    """End the soak: the node is not well after all."""
    state = MarkState.EXCLUDED if mark.cordoned else MarkState.ELEVATED
    back = replace(mark, state=state, since=snapshot.now, epoch=snapshot.epoch)
    sentence = f"{node.name} relapses: {why}"
    return act(episode, state_of(back), rewrite(Decision.RELAPSE, node, back, sentence))


def stand_down(episode: Episode, node: Node, now: float) -> Turn:
    """Leave the node to whoever changed our cordon: take off what is ours, touch no cordon."""
    sentence = f"{node.name} is held: somebody changed our cordon, so it is theirs now"
    step = NodeWrite(
        decision=Decision.STAND_DOWN,
        node=node,
        mark=None,
        effect=None,
        unschedulable=None,
        sentence=sentence,
    )
    hold = Hold(reason="somebody changed our cordon", since=now)

    def change(ledger: Ledger) -> Ledger:
        held = {node.name: hold, **ledger.holds}
        return replace(_without_grant(ledger, node.name), holds=held)

    return act(episode, EpisodeState.HELD, step, change)


def state_of(mark: Mark) -> EpisodeState:
    """Return the state that a mark alone tells."""
    return EpisodeState(mark.state.value)


def rewrite(decision: Decision, node: Node, mark: Mark, sentence: str) -> NodeWrite:
    """Write another mark and leave taint and cordon as they are."""
    return NodeWrite(
        decision=decision,
        node=node,
        mark=mark,
        effect=Effect.FORBID if mark.cordoned else Effect.PREFER,
        unschedulable=None,
        sentence=sentence,
    )


def _verify(episode: Episode, node: Node, mark: Mark, snapshot: Snapshot) -> Turn:
    begun = replace(
        mark,
        state=MarkState.VERIFYING,
        since=snapshot.now,
        boot_id=node.boot_id,
        epoch=snapshot.epoch,
    )
    soak = snapshot.policy.release.soak_seconds
    sentence = f"{node.name} looks well and soaks for {soak:g} s"
    return act(episode, EpisodeState.VERIFYING, rewrite(Decision.VERIFY, node, begun, sentence))


def _release(episode: Episode, node: Node, mark: Mark, snapshot: Snapshot) -> Turn:
    step = NodeWrite(
        decision=Decision.RELEASE,
        node=node,
        mark=None,
        effect=None,
        unschedulable=False if node.cordon_is_ours else None,
        sentence=f"{node.name} is released: it stayed well for the whole soak",
    )

    def change(ledger: Ledger) -> Ledger:
        lighter = _without_grant(ledger, node.name)
        if not mark.cordoned:
            return lighter
        ended = rests.over(lighter, node.name, mark.episode, snapshot.now)
        return replace(ended, released_at=snapshot.now)

    return act(episode, EpisodeState.VERIFYING, step, change)


def _without_grant(ledger: Ledger, node: str) -> Ledger:
    return replace(ledger, grants={n: grant for n, grant in ledger.grants.items() if n != node})
