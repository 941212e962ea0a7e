"""What is used and what is allowed, scope by scope: arithmetic over nodes and ledger."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remediation.policy.bounds.limits import Rung
from remediation.policy.facts.mark import MarkState
from remediation.policy.guards import domains

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remediation.policy.bounds.limits import Limits
    from remediation.policy.facts.ledger import Grant, Ledger, Preparation, Wave
    from remediation.policy.facts.node import Node


@dataclass(frozen=True, slots=True)
class Use:
    """Used and allowed of one scope."""

    used: float
    allowed: float

    @property
    def available(self) -> float:
        """What is left, never below zero."""
        return max(0.0, self.allowed - self.used)


def share(absolute: int, percent: float, pool: int) -> int:
    """Return the smaller of both bounds, at least one: a pool of four may still lose one node.

    10 percent of 59 nodes is 5, of 9 nodes is 0 and therefore 1; an empty pool allows nothing.
    """
    if pool == 0:
        return 0
    return max(1, min(absolute, math.floor(pool * percent / 100)))


def in_flight(
    nodes: Mapping[str, Node], ledger: Ledger, *, idle_before: float = -math.inf
) -> frozenset[str]:
    """Return the nodes with work to do: granted, and neither excluded for good nor drained.

    One where nothing moved since `idle_before` (Unix seconds) gave its place back.
    """
    pending = {
        name
        for name, grant in ledger.grants.items()
        if _unsettled(grant, nodes.get(name), idle_before)
    }
    # A mark we cannot read may be anything: it counts until somebody looks.
    return frozenset(pending | {name for name, node in nodes.items() if node.mark_fault})


def _unsettled(grant: Grant, node: Node | None, idle_before: float) -> bool:
    if grant.rung <= Rung.SOFTEN:
        return False
    mark = node.mark if node is not None else None
    if node is None or mark is None or mark.grant != grant.id:
        return not grant.applied
    emptying = grant.rung is Rung.MIGRATE and mark.state is MarkState.EXCLUDED
    # Another owner drains it: what it does there takes no place of ours.
    return emptying and node.other_drainer is None and max(mark.since, grant.moved_at) > idle_before


def unavailable(nodes: Mapping[str, Node], ledger: Ledger) -> frozenset[str]:
    """Return the nodes where nothing new lands, or soon will not: every cause counts."""
    granted = {name for name, grant in ledger.grants.items() if grant.rung > Rung.SOFTEN}
    return frozenset({n for n, node in nodes.items() if node.unavailable} | (granted & set(nodes)))


def elevated(ledger: Ledger) -> int:
    """Return how many nodes carry or may carry the soft taint."""
    return sum(grant.rung is Rung.SOFTEN for grant in ledger.grants.values())


def breaker_limit(limits: Limits, pool: int) -> int:
    """Return how many grants a window may hold: the larger bound, or small pools trip at once."""
    return max(limits.breaker_grants, math.floor(pool * limits.breaker_percent / 100))


def holds_its_place(wave: Wave, limits: Limits, now: float) -> bool:
    """Return whether a wave counts as under way: it has not ended, and moved not too long ago."""
    return wave.ended_at is None and now - wave.moved_at <= limits.patience_seconds


def predicted_limit(limits: Limits, pool: int) -> int:
    """Return how many nodes may be suspect at once before the model is doubted, not the fleet."""
    return max(limits.predicted_nodes, math.floor(pool * limits.predicted_percent / 100))


def uses(
    nodes: Mapping[str, Node], ledger: Ledger, limits: Limits, *, now: float
) -> dict[str, Use]:
    """Return used and allowed by scope; of the domains that with the least left."""
    pool = len(nodes)
    tokens = ledger.bucket.tokens if ledger.bucket else 0.0
    flying = in_flight(nodes, ledger, idle_before=now - limits.patience_seconds)
    suspects = {suspect.node for suspect in ledger.suspects.values()} & set(nodes)
    return {
        "concurrency": Use(len(flying), limits.concurrency if pool else 0),
        "domain": Use(*(domains.fullest(flying, nodes, limits) or (len(flying), pool))),
        "waves": Use(
            sum(holds_its_place(wave, limits, now) for wave in ledger.waves.values()), limits.waves
        ),
        "checkpoints": Use(_under_way(ledger.checkpoints), limits.checkpoints),
        "snapshots": Use(_under_way(ledger.restore_points), limits.snapshots),
        "predicted": Use(len(suspects), predicted_limit(limits, pool)),
        "pool_share": Use(
            len(unavailable(nodes, ledger)),
            share(limits.unavailable_nodes, limits.unavailable_percent, pool),
        ),
        "elevated": Use(
            elevated(ledger), share(limits.elevated_nodes, limits.elevated_percent, pool)
        ),
        "tokens": Use(limits.token_burst - tokens, limits.token_burst),
        "breaker": Use(len(ledger.breaker.window), breaker_limit(limits, pool)),
    }


def _under_way(preparations: Mapping[str, Preparation]) -> int:
    return sum(one.ended_at is None for one in preparations.values())
