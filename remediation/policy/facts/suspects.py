"""What was heard: alerts become suspects of the ledger, and end with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from remediation.alert import Alert, Severity, Status
from remediation.policy.facts.ledger import Ledger, Suspect

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from remediation.policy.bounds.limits import Limits

MOST_GHOSTS = 16
"""How many alerts of nodes that the pool does not have are kept, for people to see."""


class LedgerFull(Exception):
    """No room for another suspect: accepting it would lose it."""


def hear(ledger: Ledger, alerts: tuple[Alert, ...], *, now: float, limits: Limits) -> Ledger:
    """Return the ledger after a post: firing alerts are suspects, resolved ones end theirs.

    A repeat changes nothing, so that Alertmanager's repeats cost no write.
    Raises `LedgerFull`.
    """
    suspects = dict(ledger.suspects)
    for alert in alerts:
        if alert.status is Status.RESOLVED:
            suspects.pop(alert.key, None)
        elif alert.key not in suspects:
            suspects[alert.key] = _suspect(alert, now)
    if len(suspects) > limits.suspects and len(suspects) > len(ledger.suspects):
        raise LedgerFull(
            f"{len(suspects)} suspects with this post, {len(ledger.suspects)} without it, "
            f"at most {limits.suspects}"
        )
    return replace_suspects(ledger, suspects)


def without_ghosts(
    suspects: Mapping[str, Suspect],
    alerts: tuple[Alert, ...],
    pool: Collection[str],
    limits: Limits,
) -> tuple[Alert, ...]:
    """Return what may be heard of `alerts` beside `suspects`: a few at most of unknown nodes.

    They show that names do not match; more would take the places of nodes that
    are there.  An empty `pool` is not known, and leaves out nothing.
    """
    news = {
        alert.key: alert
        for alert in alerts
        if alert.status is Status.FIRING and alert.key not in suspects
    }
    ghosts = [key for key, alert in news.items() if alert.node not in pool]
    if not pool or not ghosts:
        return alerts
    there = sum(suspect.node not in pool for suspect in suspects.values())
    taken = len(suspects) + len(news) - len(ghosts)
    room = max(0, min(MOST_GHOSTS - there, limits.suspects - taken))
    left_out = frozenset(ghosts[room:])
    return tuple(
        alert for alert in alerts if alert.status is not Status.FIRING or alert.key not in left_out
    )


def reconcile(
    ledger: Ledger,
    active: tuple[Alert, ...],
    *,
    polled_at: float,
    now: float,
    limits: Limits,
    pool: Collection[str] = (),
) -> Ledger:
    """Return the ledger after Alertmanager told everything that is active.

    A suspect it did not name has ended, unless it was heard after the question
    was asked.  Beyond the limit the worst alerts are kept, of `pool` first.
    """
    named = {alert.key: alert for alert in active}
    suspects = {
        key: suspect
        for key, suspect in ledger.suspects.items()
        if key in named or suspect.heard_at >= polled_at
    }
    new = tuple(alert for key, alert in named.items() if key not in suspects)
    missed = list(without_ghosts(suspects, new, pool, limits))
    missed.sort(key=lambda alert: (alert.severity is not Severity.CRITICAL, alert.key))
    for alert in missed[: max(0, limits.suspects - len(suspects))]:
        suspects[alert.key] = _suspect(alert, now)
    return replace_suspects(ledger, suspects)


def replace_suspects(ledger: Ledger, suspects: dict[str, Suspect]) -> Ledger:
    """Return `ledger` itself when nothing changed, so that callers can skip the write."""
    if suspects == ledger.suspects:
        return ledger
    return msgspec.structs.replace(ledger, suspects=suspects)


def _suspect(alert: Alert, now: float) -> Suspect:
    return Suspect(
        node=alert.node,
        alert=alert.name,
        severity=alert.severity,
        remedy=alert.remedy,
        cause=alert.cause,
        horizon=alert.horizon,
        uuid=alert.uuid,
        heard_at=now,
        started_at=alert.started_at,
    )
