"""The way back: soak, relapse, probation, release, and standing down when a person took over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from remediation.policy.bounds.limits import Rung
from remediation.policy.facts.ledger import Hold
from remediation.policy.facts.mark import Mark, MarkState
from remediation.policy.facts.node import Node
from remediation.policy.facts.snapshot import Snapshot
from remediation.policy.facts.taint import Effect
from remediation.policy.guards import rests
from remediation.policy.ladder import release
from remediation.policy.steps import Decision, EpisodeState, NodeWrite
from remediation.policy.turn import Turn, act, rewrite, state_of, wait

if TYPE_CHECKING:
    from remediation.policy.episodes.episode import Episode
    from remediation.policy.facts.ledger import Ledger
    from remediation.policy.facts.refusal import Refusal


_WATCHED = frozenset({MarkState.VERIFYING, MarkState.PROBATION})


def come_back(episode: Episode, node: Node, mark: Mark, snapshot: Snapshot) -> Turn:
    """Take the next step towards release; called when nothing about the node is suspect."""
    watched = mark.state in _WATCHED
    refusal = release.well(node, mark, snapshot.evidence, snapshot.policy)
    if refusal is not None:
        if watched and refusal.reason in release.RELAPSES:
            return relapse(episode, node, mark, snapshot, refusal.words)
        return wait(episode, state_of(mark), refusal)
    if not watched or mark.boot_id != node.boot_id:
        return _verify(episode, node, mark, snapshot)
    refusal = _not_yet(node, mark, snapshot)
    if refusal is not None:
        return wait(episode, state_of(mark), refusal)
    unproven = mark.probation or (mark.takes and not release.under_load(node, mark, snapshot))
    if unproven and mark.state is MarkState.VERIFYING:
        return _trust(episode, node, mark, snapshot)
    return _release(episode, node, mark, snapshot)


def _not_yet(node: Node, mark: Mark, snapshot: Snapshot) -> Refusal | None:
    if mark.state is MarkState.PROBATION:
        return release.proven(node, mark, snapshot)
    soaking = release.soaked(node, mark, snapshot.policy.release, snapshot.now)
    return soaking or release.staggered(node, mark, snapshot)


def asked_back(node: Node, ledger: Ledger) -> str | None:
    """Return who wants the node back now and why, None when nobody does."""
    order = ledger.releases.get(node.name)
    if order is not None:
        return f"{order.author}: {order.reason}"
    return None if node.released is None else f"its annotation: {node.released or 'no reason'}"


def give_back(episode: Episode, node: Node, mark: Mark, snapshot: Snapshot, order: str) -> Turn:
    """Release a node because a person says so, without soak and without probation."""
    return _released(episode, node, mark, snapshot, f"{node.name} is released by {order}")


def relapse(episode: Episode, node: Node, mark: Mark, snapshot: Snapshot, why: str) -> Turn:
    """End the soak: the node is not well after all."""
    state = MarkState.EXCLUDED if mark.takes else MarkState.ELEVATED
    gpu = mark.gpu if mark.takes else None
    back = replace(mark, state=state, gpu=gpu, since=snapshot.now, epoch=snapshot.epoch)
    sentence = f"{node.name} relapses: {why}"
    return act(episode, state_of(back), rewrite(Decision.RELAPSE, node, back, sentence))


def stand_down(
    episode: Episode, node: Node, now: float, *, why: str = "somebody changed our cordon"
) -> Turn:
    """Leave the node to whoever changed what we put: take off what is ours, touch no cordon."""
    sentence = f"{node.name} is held: {why}, so it is theirs now"
    step = NodeWrite(
        decision=Decision.STAND_DOWN,
        node=node,
        mark=None,
        effect=None,
        unschedulable=None,
        sentence=sentence,
    )
    hold = Hold(reason=why, since=now)

    def change(ledger: Ledger) -> Ledger:
        held = {node.name: hold, **ledger.holds}
        return replace(_without_grant(ledger, node.name), holds=held)

    return act(episode, EpisodeState.HELD, step, change)


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


def _trust(episode: Episode, node: Node, mark: Mark, snapshot: Snapshot) -> Turn:
    """Let work come back to a node that looked well while it was empty, but not gladly."""
    trusted = replace(
        mark,
        state=MarkState.PROBATION,
        rung=Rung.SOFTEN,
        since=snapshot.now,
        cordoned=False,
        probation=True,
        epoch=snapshot.epoch,
    )
    step = NodeWrite(
        decision=Decision.TRUST,
        node=node,
        mark=trusted,
        effect=Effect.PREFER,
        unschedulable=False if node.cordon_is_ours else None,
        sentence=f"{node.name} comes back on probation: it stayed well, but empty",
    )

    def change(ledger: Ledger) -> Ledger:
        grants = dict(ledger.grants)
        if node.name in grants:
            grants[node.name] = replace(grants[node.name], rung=Rung.SOFTEN, gpu=None)
        return _returned(replace(ledger, grants=grants), node, mark, snapshot, trusted=True)

    return act(episode, EpisodeState.PROBATION, step, change)


def _release(episode: Episode, node: Node, mark: Mark, snapshot: Snapshot) -> Turn:
    how = "on probation" if mark.state is MarkState.PROBATION else "for the whole soak"
    sentence = f"{node.name} is released: it stayed well {how}"
    return _released(episode, node, mark, snapshot, sentence)


def _released(episode: Episode, node: Node, mark: Mark, snapshot: Snapshot, sentence: str) -> Turn:
    step = NodeWrite(
        decision=Decision.RELEASE,
        node=node,
        mark=None,
        effect=None,
        unschedulable=False if node.cordon_is_ours else None,
        sentence=sentence,
    )

    def change(ledger: Ledger) -> Ledger:
        lighter = _without_grant(ledger, node.name)
        return _returned(lighter, node, mark, snapshot, trusted=False)

    return act(episode, state_of(mark), step, change)


def _returned(
    ledger: Ledger, node: Node, mark: Mark, snapshot: Snapshot, *, trusted: bool
) -> Ledger:
    """Record that a node takes work again; one that was only tainted softly always did.

    One on trust is still in its episode; the rest begins when that is over.
    """
    now = snapshot.now
    if not mark.takes:
        if not mark.probation:
            return ledger
        return rests.over(ledger, node.name, mark.episode, now)
    if trusted:
        ledger = rests.returned(ledger, node.name, mark.episode, mark.since, now)
    else:
        ledger = rests.over(ledger, node.name, mark.episode, now)
    return replace(
        ledger,
        released_at=snapshot.now,
        released_in=release.domain_of(node, snapshot),
    )


def _without_grant(ledger: Ledger, node: str) -> Ledger:
    return replace(ledger, grants={n: grant for n, grant in ledger.grants.items() if n != node})
