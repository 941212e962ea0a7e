"""Facility events: a rack, a coolant loop or a power feed fails as one, and is one episode.

A cable or a pump that ails many machines is not many machines that ail: their
work is not drained one by one, which would only carry the load to the next.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from remediation.alert import Remedy, Severity
from remediation.policy.facts.ledger import Facility
from remediation.policy.guards.domains import crowd_of, name_of
from remediation.policy.guards.evidence import judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remediation.policy.bounds.limits import Limits
    from remediation.policy.facts.ledger import Ledger, Suspect
    from remediation.policy.facts.node import Node
    from remediation.policy.facts.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class _Sign:
    """One suspect with evidence, as a sign of trouble in its domains."""

    node: str
    suspect: Suspect

    @property
    def is_alarm(self) -> bool:
        """Whether it tells of the facility itself, and is sure."""
        critical = self.suspect.severity is Severity.CRITICAL
        return critical and self.suspect.remedy is Remedy.FACILITY


def upkeep(ledger: Ledger, snapshot: Snapshot) -> Ledger:
    """Return the ledger with facility events begun, kept and ended as the evidence says."""
    signs = _signs(ledger, snapshot)
    blind = snapshot.evidence.alerts is None or snapshot.evidence.predictions is None
    facilities: dict[str, Facility] = {}
    for key, facility in ledger.facilities.items():
        seen = blind or any(_is_in(snapshot.nodes[sign.node], key, snapshot) for sign in signs)
        after = replace(facility, seen_at=snapshot.now) if seen else facility
        if snapshot.now - after.seen_at < snapshot.policy.facility.calm_seconds:
            facilities[key] = after
    for key, found in _domains(signs, snapshot).items():
        begun = key in facilities or _begins(key, found, snapshot)
        if begun and (key in facilities or len(facilities) < snapshot.policy.facility.domains):
            facilities.setdefault(key, _begun(key, found, snapshot.now))
    return ledger if facilities == ledger.facilities else replace(ledger, facilities=facilities)


def facility_of(node: Node, ledger: Ledger, limits: Limits) -> Facility | None:
    """Return the facility event that `node` is part of, by the first of its domains."""
    keys = (name_of(crowd) for domain in limits.domains if (crowd := crowd_of(node, domain))[1])
    return next((ledger.facilities[key] for key in keys if key in ledger.facilities), None)


def concerned(nodes: Mapping[str, Node], ledger: Ledger, limits: Limits) -> frozenset[str]:
    """Return the nodes that are part of a facility event."""
    if not ledger.facilities:
        return frozenset()
    return frozenset(n for n, node in nodes.items() if facility_of(node, ledger, limits))


def _signs(ledger: Ledger, snapshot: Snapshot) -> tuple[_Sign, ...]:
    policy, evidence = snapshot.policy, snapshot.evidence
    return tuple(
        _Sign(suspect.node, suspect)
        for key, suspect in ledger.suspects.items()
        if suspect.node in snapshot.nodes
        and policy.speaks(suspect.severity, suspect.cause)
        and judge(suspect, key, evidence, policy.evidence) is None
    )


def _domains(signs: Iterable[_Sign], snapshot: Snapshot) -> dict[str, list[_Sign]]:
    """Return the signs by domain; nodes that lack a label share no facility by it."""
    found: dict[str, list[_Sign]] = {}
    for domain in snapshot.policy.limits.domains:
        for sign in signs:
            crowd = crowd_of(snapshot.nodes[sign.node], domain)
            if crowd[1] is not None:
                found.setdefault(name_of(crowd), []).append(sign)
    return found


def _begins(key: str, signs: list[_Sign], snapshot: Snapshot) -> bool:
    bar = snapshot.policy.facility
    if any(sign.is_alarm for sign in signs):
        return True
    size = sum(_is_in(node, key, snapshot) for node in snapshot.nodes.values())
    enough = max(bar.nodes, math.ceil(size * bar.node_percent / 100))
    return any(
        len({s.node for s in signs if 0 <= s.suspect.heard_at - start <= bar.window_seconds})
        >= enough
        for start in {sign.suspect.heard_at for sign in signs}
    )


def _begun(key: str, signs: list[_Sign], now: float) -> Facility:
    first = min(signs, key=lambda sign: (not sign.is_alarm, sign.suspect.heard_at, sign.node))
    many = len({sign.node for sign in signs})
    reason = first.suspect.alert if first.is_alarm else f"{many} nodes suspect at once"
    return Facility(
        id=f"facility.{round(now * 1000):x}",
        domain=key,
        reason=reason,
        horizon=first.suspect.horizon,
        began_at=now,
        seen_at=now,
    )


def _is_in(node: Node, key: str, snapshot: Snapshot) -> bool:
    return any(
        name_of(crowd) == key
        for domain in snapshot.policy.limits.domains
        if (crowd := crowd_of(node, domain))[1] is not None
    )
