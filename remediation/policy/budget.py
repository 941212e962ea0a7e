"""The budget: how many nodes may be in flight, unavailable, and granted per time.

`take` is asked once for each new grant and answers with the ledger that records
it, to be written by compare-and-swap before anything is done.  Unreadable or
empty means no.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from remediation.policy.ledger import Breaker, Bucket, Grant, Ledger
from remediation.policy.limits import Limits, Rung
from remediation.policy.refusal import Reason, Refusal
from remediation.policy.snapshot import MarkState, Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


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


def in_flight(nodes: Mapping[str, Node], ledger: Ledger) -> frozenset[str]:
    """Return the nodes with work to do: granted, and neither excluded for good nor drained."""
    pending = {name for name, grant in ledger.grants.items() if _unsettled(grant, nodes.get(name))}
    # A mark we cannot read may be anything: it counts until somebody looks.
    return frozenset(pending | {name for name, node in nodes.items() if node.mark_fault})


def _unsettled(grant: Grant, node: Node | None) -> bool:
    if grant.rung <= Rung.SOFTEN:
        return False
    mark = node.mark if node is not None else None
    if mark is None or mark.grant != grant.id:
        return not grant.applied
    return grant.rung is Rung.MIGRATE and mark.state is MarkState.EXCLUDED


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


def uses(nodes: Mapping[str, Node], ledger: Ledger, limits: Limits) -> dict[str, Use]:
    """Return used and allowed by scope."""
    pool = len(nodes)
    tokens = ledger.bucket.tokens if ledger.bucket else 0.0
    return {
        "concurrency": Use(len(in_flight(nodes, ledger)), limits.concurrency if pool else 0),
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


def upkeep(ledger: Ledger, nodes: Mapping[str, Node], limits: Limits, now: float) -> Ledger:
    """Return the ledger with its bucket refilled and old grants out of the breaker's window."""
    start = now - limits.breaker_window_seconds
    # A grant from the future is a clock that jumped back: it stays in the window.
    window = tuple(at for at in ledger.breaker.window if at > start)
    breaker = replace(ledger.breaker, window=window)
    bucket = _refill(ledger.bucket, nodes.values(), limits, now)
    if breaker == ledger.breaker and bucket == ledger.bucket:
        return ledger
    return replace(ledger, breaker=breaker, bucket=bucket)


def _refill(bucket: Bucket | None, nodes: Iterable[Node], limits: Limits, now: float) -> Bucket:
    if bucket is None:
        # A ledger that vanished while nodes are marked must not hand out a fresh burst.
        marked = any(node.mark or node.mark_fault for node in nodes)
        return Bucket(tokens=0.0 if marked else float(limits.token_burst), refilled_at=now)
    if bucket.tokens >= limits.token_burst:
        return bucket  # a full bucket starts to refill when something is taken from it
    if now < bucket.refilled_at:
        return replace(bucket, refilled_at=now)
    # Whole tokens only: a refill is a write of the ledger, and this keeps it rare.
    earned = math.floor((now - bucket.refilled_at) / limits.token_refill_seconds)
    if earned <= 0:
        return bucket
    return Bucket(
        tokens=min(float(limits.token_burst), bucket.tokens + earned),
        refilled_at=bucket.refilled_at + earned * limits.token_refill_seconds,
    )


def take(
    ledger: Ledger, nodes: Mapping[str, Node], limits: Limits, *, node: str, grant: Grant
) -> tuple[Ledger, Refusal | None]:
    """Record `grant` for `node`, or say which limit refuses; a trip of the breaker is recorded."""
    refusal = stopped(ledger)
    if refusal is not None:
        return ledger, refusal
    if not nodes:
        return ledger, Refusal(Reason.POOL_EMPTY, "the pool selector matches no node")
    if grant.rung is Rung.SOFTEN:
        return _take_soft(ledger, nodes, limits, node, grant)
    refusal = _share_refusal(ledger, nodes, limits, node)
    if refusal is not None:
        return ledger, refusal
    if ledger.bucket is None or ledger.bucket.tokens < 1:
        return ledger, Refusal(Reason.NO_TOKEN, "the token bucket is empty")
    if len(ledger.breaker.window) >= breaker_limit(limits, len(nodes)):
        return _trip(ledger, grant.taken_at)
    return _record(ledger, limits, node, grant), None


def stopped(ledger: Ledger) -> Refusal | None:
    """Return why no new harm may be done at all, or None: a pause, or the open breaker."""
    if ledger.pause is not None:
        words = f"paused by {ledger.pause.author}: {ledger.pause.reason}"
        return Refusal(Reason.PAUSED, words)
    if ledger.breaker.tripped_at is not None:
        return Refusal(Reason.BREAKER_OPEN, f"the breaker is open: {ledger.breaker.reason}")
    return None


def carry_out(
    ledger: Ledger, nodes: Mapping[str, Node], limits: Limits, *, node: str, grant: Grant
) -> Refusal | None:
    """Return why a grant that was made earlier must not be carried out now, or None.

    It costs nothing again, but what was true when it was made may not be: others
    may have taken nodes away since.
    """
    refusal = stopped(ledger)
    if refusal is not None or grant.rung is Rung.SOFTEN:
        return refusal
    return _share_refusal(ledger, nodes, limits, node)


def _take_soft(
    ledger: Ledger, nodes: Mapping[str, Node], limits: Limits, node: str, grant: Grant
) -> tuple[Ledger, Refusal | None]:
    allowed = share(limits.elevated_nodes, limits.elevated_percent, len(nodes))
    if elevated(ledger) >= allowed:
        return ledger, Refusal(Reason.ELEVATED_SHARE, f"{allowed} nodes are elevated already")
    return replace(ledger, grants={**ledger.grants, node: grant}), None


def _share_refusal(
    ledger: Ledger, nodes: Mapping[str, Node], limits: Limits, node: str
) -> Refusal | None:
    flying = in_flight(nodes, ledger) - {node}
    if len(flying) >= limits.concurrency:
        words = f"{len(flying)} nodes are in flight, at most {limits.concurrency}"
        return Refusal(Reason.CONCURRENCY, words)
    allowed = share(limits.unavailable_nodes, limits.unavailable_percent, len(nodes))
    gone = unavailable(nodes, ledger) | {node}
    if len(gone) > allowed:
        words = f"{len(gone)} of {len(nodes)} nodes would be unavailable, at most {allowed}"
        return Refusal(Reason.POOL_SHARE, words)
    return None


def _trip(ledger: Ledger, now: float) -> tuple[Ledger, Refusal]:
    reason = f"{len(ledger.breaker.window)} grants within its window"
    breaker = Breaker(window=ledger.breaker.window, tripped_at=now, reason=reason)
    return replace(ledger, breaker=breaker), Refusal(
        Reason.BREAKER_OPEN, f"the breaker trips: {reason}"
    )


def _record(ledger: Ledger, limits: Limits, node: str, grant: Grant) -> Ledger:
    bucket = ledger.bucket
    assert bucket is not None  # noqa: S101 - `take` has checked it
    full = bucket.tokens >= limits.token_burst
    return replace(
        ledger,
        grants={**ledger.grants, node: grant},
        bucket=Bucket(
            tokens=min(bucket.tokens, limits.token_burst) - 1,
            refilled_at=grant.taken_at if full else bucket.refilled_at,
        ),
        breaker=replace(ledger.breaker, window=(*ledger.breaker.window, grant.taken_at)),
    )
