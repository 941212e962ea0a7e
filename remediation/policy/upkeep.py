"""Upkeep: the ledger made to fit what is true, before anything is decided.

Where ledger and nodes disagree, what is on the node is true and what is in the
ledger is made to fit, never the other way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from remediation.policy.facts.ledger import Grant, Hold, Ledger
from remediation.policy.facts.suspects import reconcile
from remediation.policy.guards import budget, facility, rests
from remediation.policy.guards.eligibility import drained_since
from remediation.policy.moving import preparing, waves

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remediation.policy.facts.mark import Mark
    from remediation.policy.facts.node import Node
    from remediation.policy.facts.snapshot import Snapshot


def upkeep(snapshot: Snapshot) -> Ledger:
    """Return the ledger made to fit what is true: the same object when it already does."""
    ledger, limits = snapshot.ledger, snapshot.policy.limits
    evidence = snapshot.evidence
    if evidence.alerts is not None:
        ledger = reconcile(
            ledger,
            evidence.alerts,
            polled_at=evidence.polled_at,
            now=snapshot.now,
            limits=limits,
            pool=snapshot.nodes,
        )
    ledger = budget.upkeep(ledger, snapshot.nodes, limits, snapshot.now)
    ledger = rests.upkeep(ledger, limits, snapshot.now)
    # An empty pool is a broken selector more often than a vanished fleet: forget nothing.
    if snapshot.nodes:
        ledger = _settle_grants(ledger, snapshot.nodes, snapshot.now)
        ledger = waves.upkeep(ledger, snapshot)
        for kind in preparing.Kind:
            ledger = preparing.upkeep(kind, ledger, snapshot)
        ledger = facility.upkeep(ledger, snapshot)
        ledger = _note_strangers(ledger, snapshot.nodes, snapshot.now)
    released_at = min(ledger.released_at, snapshot.now) if ledger.released_at else None
    epoch = max(ledger.epoch, snapshot.epoch)
    settled = replace(ledger, released_at=released_at, epoch=epoch)
    return snapshot.ledger if settled == snapshot.ledger else settled


def _settle_grants(ledger: Ledger, nodes: Mapping[str, Node], now: float) -> Ledger:
    suspected = {suspect.node for suspect in ledger.suspects.values()}
    grants: dict[str, Grant] = {}
    holds = dict(ledger.holds)
    for name in {*ledger.grants, *nodes}:
        node, grant = nodes.get(name), ledger.grants.get(name)
        kept = _settle(grant, node, suspected=name in suspected, now=now)
        if kept is not None:
            grants[name] = kept
        elif (
            grant is not None and grant.applied and node is not None and node.uid == grant.node_uid
        ):
            holds.setdefault(name, Hold(reason="the mark was removed by somebody", since=now))
    marked = {name for name, node in nodes.items() if node.mark or node.mark_fault}
    kept_holds = {
        name: hold for name, hold in holds.items() if hold.author or name in suspected | marked
    }
    # A node without a mark has come back: an order that stayed would undo the next exclusion.
    releases = {name: order for name, order in ledger.releases.items() if name in marked}
    return replace(ledger, grants=dict(sorted(grants.items())), holds=kept_holds, releases=releases)


def _note_strangers(ledger: Ledger, nodes: Mapping[str, Node], now: float) -> Ledger:
    """Remember since when others drain the nodes that are ours to judge."""
    concerned = {suspect.node for suspect in ledger.suspects.values()} | set(ledger.grants)
    strangers = {
        name: ledger.strangers.get(name, drained_since(taint, now))
        for name in sorted(concerned)
        if (node := nodes.get(name)) is not None and (taint := node.other_drainer) is not None
    }
    return replace(ledger, strangers=strangers)


def _settle(grant: Grant | None, node: Node | None, *, suspected: bool, now: float) -> Grant | None:
    """Return the grant that is true of this node, None when there is none (any more)."""
    mark = node.mark if node is not None else None
    if node is None or (grant is not None and grant.node_uid != node.uid):
        grant = None
    if node is not None and node.mark_fault is not None:
        return grant
    if node is None or mark is None or mark.node_uid != node.uid:
        return grant if grant is not None and _pending(grant, suspected, now) else None
    if grant is not None and grant.id == mark.grant:
        return grant if grant.applied else replace(grant, applied=True)
    if grant is not None and _pending(grant, suspected, now):
        return grant
    return _adopted(mark, now)


def _pending(grant: Grant, suspected: bool, now: float) -> bool:
    return not grant.applied and suspected and now < grant.expires_at


def _adopted(mark: Mark, now: float) -> Grant:
    """Make the grant anew from the node: the ledger was lost, the cordon was not."""
    return Grant(
        id=mark.grant,
        episode=mark.episode,
        node_uid=mark.node_uid,
        rung=mark.rung,
        taken_at=mark.since,
        expires_at=now,
        epoch=mark.epoch,
        applied=True,
        gpu=mark.gpu if mark.taints_gpu else None,
    )
