"""Episodes, derived: one per node that is suspect, granted, held or marked; and the upkeep.

Nothing is remembered here.  Where ledger and nodes disagree, what is on the
node is true and what is in the ledger is made to fit, never the other way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from remediation.policy import budget, facility, preparing, rests, waves
from remediation.policy.eligibility import drained_since
from remediation.policy.ledger import Grant, Hold, Ledger, reconcile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remediation.policy.ledger import Suspect
    from remediation.policy.limits import Policy
    from remediation.policy.snapshot import Mark, Node, Snapshot

_UNITS = {"m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One node's story as it stands: its suspects (worst first), mark, grant and hold."""

    name: str
    node: Node | None
    suspects: tuple[tuple[str, Suspect], ...]
    grant: Grant | None
    hold: Hold | None

    @property
    def mark(self) -> Mark | None:
        """The mark on the node, if it is there and readable."""
        return self.node.mark if self.node is not None else None

    @property
    def id(self) -> str:
        """The episode's id, empty while nothing was granted."""
        if self.mark is not None:
            return self.mark.episode
        return self.grant.episode if self.grant is not None else ""


def derive(
    nodes: Mapping[str, Node], ledger: Ledger, policy: Policy, *, left_over: frozenset[str]
) -> tuple[Episode, ...]:
    """Return every episode, the most urgent first, in an order that does not depend on dicts.

    `left_over` are nodes with something of ours that no mark speaks for.
    """
    by_node: dict[str, list[tuple[str, Suspect]]] = {}
    for key, suspect in ledger.suspects.items():
        by_node.setdefault(suspect.node, []).append((key, suspect))
    marked = {name for name, node in nodes.items() if node.mark or node.mark_fault}
    names = marked | set(by_node) | set(ledger.grants) | set(ledger.holds)
    names |= facility.concerned(nodes, ledger, policy.limits) | left_over
    episodes = [
        Episode(
            name=name,
            node=nodes.get(name),
            suspects=tuple(sorted(by_node.get(name, ()), key=lambda one: urgency(one[1], policy))),
            grant=ledger.grants.get(name),
            hold=ledger.holds.get(name),
        )
        for name in names
    ]
    return tuple(sorted(episodes, key=lambda episode: _order(episode, policy)))


def urgency(suspect: Suspect, policy: Policy) -> tuple[int, float, float, str]:
    """Order suspects: the higher rung, then the nearer horizon, then the older alert, then name."""
    rung = policy.wanted(suspect.severity, suspect.remedy, suspect.cause)
    return (-rung, horizon_seconds(suspect.horizon), suspect.heard_at, suspect.node)


def horizon_seconds(horizon: str) -> float:
    """Read "24h" as seconds; an unknown spelling is the least urgent."""
    number, unit = horizon[:-1], _UNITS.get(horizon[-1:])
    return float(number) * unit if unit and number.isdigit() else float("inf")


def _order(episode: Episode, policy: Policy) -> tuple[bool, tuple[int, float, float, str]]:
    # Episodes without suspects only come back; they ask for no budget.
    if not episode.suspects:
        return (True, (0, 0.0, 0.0, episode.name))
    return (False, urgency(episode.suspects[0][1], policy))


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
