"""Alerts on their way from the webhook to the loop of the same replica, while that one leads.

The leader records what was heard with the grants that follow from it, in one
write instead of two.  Nothing is accepted by being here: who offered an alert
waits until the ledger holds it, and records it alone when that takes too long.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from remediation.policy.ledger import LedgerFull, hear

if TYPE_CHECKING:
    from collections.abc import Callable

    from remediation.alert import Alert
    from remediation.policy.ledger import Ledger
    from remediation.policy.limits import Limits


class Ticket:
    """One post that waits to be recorded; `heard_at` is Unix seconds."""

    def __init__(self, alerts: tuple[Alert, ...], heard_at: float) -> None:
        self._alerts = alerts
        self._heard_at = heard_at
        self._changed: bool | None = None
        self._over = threading.Event()
        self._recorded = False

    def onto(self, ledger: Ledger, limits: Limits) -> Ledger:
        """Return the ledger with this post in it, or as it is when there is no room."""
        try:
            after = hear(ledger, self._alerts, now=self._heard_at, limits=limits)
        except LedgerFull:
            # Whoever offered it finds that out by itself, and says so to the sender.
            self._over.set()
            return ledger
        self._changed = after is not ledger
        return after

    def recorded(self) -> None:
        """Tell that the ledger that was returned last is stored."""
        if not self._over.is_set():
            self._recorded = True
            self._over.set()

    def wait(self, seconds: float) -> bool | None:
        """Return whether recording it changed anything; None when it was not recorded in time."""
        self._over.wait(seconds)
        return self._changed if self._recorded else None


class Inbox:
    """`leads` tells whether this replica's loop may record; `wake` makes it look."""

    def __init__(self, *, leads: Callable[[], bool], wake: Callable[[], None]) -> None:
        self._leads = leads
        self._wake = wake
        self._lock = threading.Lock()
        self._waiting: list[Ticket] = []

    def offer(self, alerts: tuple[Alert, ...], *, now: float, seconds: float) -> bool | None:
        """Have the loop record `alerts` within `seconds`.

        Returns whether that changed anything, None when it was not recorded:
        then nobody but the caller will.
        """
        if not self._leads():
            return None
        ticket = Ticket(alerts, now)
        with self._lock:
            self._waiting.append(ticket)
        self._wake()
        try:
            return ticket.wait(seconds)
        finally:
            with self._lock:
                self._waiting.remove(ticket)

    def waiting(self) -> tuple[Ticket, ...]:
        """Return what is to be recorded, in the order in which it came."""
        with self._lock:
            return tuple(self._waiting)
