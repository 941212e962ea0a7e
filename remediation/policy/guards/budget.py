"""The budget: how many nodes may be in flight, unavailable, and granted per time.

`take` is asked once for grants that belong together and answers with the ledger
that records all of them or none, to be written by compare-and-swap before
anything is done.  Unreadable or empty means no.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from msgspec.structs import replace

from remediation.policy.bounds.limits import Limits, Rung
from remediation.policy.facts.ledger import Breaker, Bucket, Grant, Ledger
from remediation.policy.facts.refusal import Reason, Refusal
from remediation.policy.guards import domains
from remediation.policy.guards.use import breaker_limit, elevated, in_flight, share, unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remediation.policy.facts.node import Node


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
    ledger: Ledger,
    nodes: Mapping[str, Node],
    limits: Limits,
    *,
    grants: Mapping[str, Grant],
    now: float,
) -> tuple[Ledger, Refusal | None]:
    """Record all of `grants`, or say which limit refuses; a trip of the breaker is recorded.

    They are of one rung and keyed by node.
    """
    refusal = stopped(ledger)
    if refusal is not None:
        return ledger, refusal
    if not nodes:
        return ledger, Refusal(Reason.POOL_EMPTY, "the pool selector matches no node")
    if all(grant.rung is Rung.SOFTEN for grant in grants.values()):
        return _take_soft(ledger, nodes, limits, grants)
    refusal = _never(grants, nodes, limits) or _share_refusal(
        ledger, nodes, limits, frozenset(grants), now
    )
    if refusal is not None:
        return ledger, refusal
    cost = 1 if alone(len(grants), limits) else len(grants)
    if ledger.bucket is None or ledger.bucket.tokens < cost:
        return ledger, Refusal(Reason.NO_TOKEN, "the token bucket is empty")
    if len(ledger.breaker.window) + len(grants) > breaker_limit(limits, len(nodes)):
        return _trip(ledger, now)
    return _record(ledger, limits, grants, now), None


def alone(size: int, limits: Limits) -> bool:
    """Return whether a batch this large is let through by the limit per wave, alone in flight."""
    return 1 < size <= limits.wave_nodes


def _never(
    grants: Mapping[str, Grant], nodes: Mapping[str, Node], limits: Limits
) -> Refusal | None:
    """Return why grants that belong together can never be had together, or None."""
    size, pool = len(grants), len(nodes)
    share_allowed = share(limits.unavailable_nodes, limits.unavailable_percent, pool)
    bounds = [share_allowed, breaker_limit(limits, pool)]
    if not alone(size, limits):
        bounds += [limits.concurrency, limits.token_burst]
    crowd = None if alone(size, limits) else domains.crowded(grants, nodes, limits)
    if size == 1 or (size <= min(bounds) and crowd is None):
        return None
    where = f", {crowd[1]} of {domains.name_of(crowd[0])}" if crowd is not None else ""
    words = (
        f"its work spans {size} nodes at risk, which the limits never allow at once"
        f" (at most {min(bounds)}{where}): move it by hand or raise limits.wave_nodes"
    )
    return Refusal(Reason.WAVE_TOO_LARGE, words)


def stopped(ledger: Ledger) -> Refusal | None:
    """Return why no new harm may be done at all, or None: a pause, or the open breaker."""
    if ledger.pause is not None:
        words = f"paused by {ledger.pause.author}: {ledger.pause.reason}"
        return Refusal(Reason.PAUSED, words)
    if ledger.breaker.tripped_at is not None:
        return Refusal(Reason.BREAKER_OPEN, f"the breaker is open: {ledger.breaker.reason}")
    return None


def carry_out(
    ledger: Ledger,
    nodes: Mapping[str, Node],
    limits: Limits,
    *,
    node: str,
    grant: Grant,
    now: float,
) -> Refusal | None:
    """Return why a grant that was made earlier must not be carried out now, or None.

    It costs nothing again, but what was true when it was made may not be: others
    may have taken nodes away since.
    """
    refusal = stopped(ledger)
    if refusal is not None or grant.rung is Rung.SOFTEN:
        return refusal
    together = {n for n, one in ledger.grants.items() if grant.batch and one.batch == grant.batch}
    return _share_refusal(ledger, nodes, limits, frozenset(together | {node}), now)


def places(
    ledger: Ledger, nodes: Mapping[str, Node], limits: Limits, names: frozenset[str], now: float
) -> Refusal | None:
    """Return why `names` may not be in flight now beside what is in flight already, or None."""
    flying = in_flight(nodes, ledger, idle_before=now - limits.patience_seconds)
    if alone(len(names), limits):
        if flying <= names:
            return None
        return Refusal(Reason.CONCURRENCY, f"a wave of {len(names)} nodes waits to be alone")
    others = flying - names
    if len(others) + len(names) > limits.concurrency:
        words = f"{len(others)} nodes are in flight, at most {limits.concurrency}"
        return Refusal(Reason.CONCURRENCY, words)
    crowd = domains.crowded(sorted(others | names), nodes, limits)
    if crowd is not None:
        words = f"{domains.name_of(crowd[0])}: at most {crowd[1]} in flight"
        return Refusal(Reason.DOMAIN_CONCURRENCY, words)
    return None


def _take_soft(
    ledger: Ledger, nodes: Mapping[str, Node], limits: Limits, grants: Mapping[str, Grant]
) -> tuple[Ledger, Refusal | None]:
    allowed = share(limits.elevated_nodes, limits.elevated_percent, len(nodes))
    if elevated(ledger) + len(grants) > allowed:
        return ledger, Refusal(Reason.ELEVATED_SHARE, f"{allowed} nodes are elevated already")
    return replace(ledger, grants={**ledger.grants, **grants}), None


def _share_refusal(
    ledger: Ledger, nodes: Mapping[str, Node], limits: Limits, names: frozenset[str], now: float
) -> Refusal | None:
    refusal = places(ledger, nodes, limits, names, now)
    if refusal is not None:
        return refusal
    allowed = share(limits.unavailable_nodes, limits.unavailable_percent, len(nodes))
    gone = unavailable(nodes, ledger) | names
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


def _record(ledger: Ledger, limits: Limits, grants: Mapping[str, Grant], now: float) -> Ledger:
    bucket = ledger.bucket
    assert bucket is not None  # noqa: S101 - `take` has checked it
    full = bucket.tokens >= limits.token_burst
    return replace(
        ledger,
        grants={**ledger.grants, **grants},
        bucket=Bucket(
            # A wave let through alone may leave a debt, so that the rate stays what it is.
            tokens=min(bucket.tokens, limits.token_burst) - len(grants),
            refilled_at=now if full else bucket.refilled_at,
        ),
        breaker=replace(ledger.breaker, window=(*ledger.breaker.window, *[now] * len(grants))),
    )
