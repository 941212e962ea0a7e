"""Episodes, derived: one per node that is suspect, granted, held or marked; and the upkeep.

Nothing is remembered here.  Where ledger and nodes disagree, what is on the
node is true and what is in the ledger is made to fit, never the other way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from remediation.policy.facts.ledger import Grant, Hold, Ledger
from remediation.policy.guards import facility

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remediation.policy.bounds.limits import Policy
    from remediation.policy.facts.ledger import Suspect
    from remediation.policy.facts.mark import Mark
    from remediation.policy.facts.node import Node

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
