"""Alerts on their way from the webhook to the loop of the same replica, while that one leads.

The leader records what was heard with the grants that follow from it, in one
write instead of two.  Nothing is accepted by being here: who offered an alert
waits until the ledger holds it, and records it alone when that takes too long.
Both may then write at once; each knows whether it was its own write that did it.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from remediation.policy.facts.suspects import LedgerFull, hear

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from remediation.alert import Alert
    from remediation.policy.bounds.limits import Limits
    from remediation.policy.facts.ledger import Ledger


class Recording:
    """One writer's way of getting a post into the ledger; `heard_at` is Unix seconds.

    `changed` tells whether its writes put anything there.
    """

    def __init__(self, alerts: tuple[Alert, ...], heard_at: float) -> None:
        self._alerts = alerts
        self._heard_at = heard_at
        self._may_be_there = False
        self.changed = False

    def onto(self, ledger: Ledger, limits: Limits) -> Ledger:
        """Return the ledger with the post in it; raises `LedgerFull`."""
        after = hear(ledger, self._alerts, now=self._heard_at, limits=limits)
        # What is there already after a write without an answer was put there by that one.
        self.changed = after is not ledger or (self._may_be_there and self.changed)
        return after

    def answer_lost(self) -> None:
        """Tell that the ledger that was returned last may be stored, or not."""
        self._may_be_there = True


class Ticket:
    """One post that waits to be recorded by the loop."""

    def __init__(self, alerts: tuple[Alert, ...], heard_at: float) -> None:
        self._recording = Recording(alerts, heard_at)
        self._over = threading.Event()
        self._recorded = False

    def onto(self, ledger: Ledger, limits: Limits) -> Ledger:
        """Return the ledger with this post in it, or as it is when there is no room."""
        if self._over.is_set():
            # The next tick began before the sender took it back: how it ended is not to change.
            return ledger
        try:
            return self._recording.onto(ledger, limits)
        except LedgerFull:
            # Whoever offered it finds that out by itself, and says so to the sender.
            self._over.set()
            return ledger

    def answer_lost(self) -> None:
        """Tell that the ledger that was returned last may be stored, or not."""
        self._recording.answer_lost()

    def recorded(self) -> None:
        """Tell that the ledger that was returned last is stored."""
        if not self._over.is_set():
            self._recorded = True
            self._over.set()

    def wait(self, seconds: float) -> bool | None:
        """Return whether recording it changed anything; None when it was not recorded in time."""
        self._over.wait(seconds)
        return self._recording.changed if self._recorded else None

    def crossed(self, seconds: float) -> bool:
        """Return whether it was the loop that recorded a post which then was there already.

        The loop hears of its write a moment after others can read it: it is given `seconds`.
        """
        if not self._recording.changed:
            return False
        recorded = self.wait(seconds)
        return self._recording.changed if recorded is None else recorded


class Inbox:
    """`leads` tells whether this replica's loop may record; `wake` makes it look."""

    def __init__(self, *, leads: Callable[[], bool], wake: Callable[[], None]) -> None:
        self._leads = leads
        self._wake = wake
        self._lock = threading.Lock()
        self._waiting: list[Ticket] = []

    @contextmanager
    def offered(self, alerts: tuple[Alert, ...], *, now: float) -> Iterator[Ticket | None]:
        """Have the loop record `alerts` for as long as this lasts; None when it may not.

        A tick that began meanwhile may still record them afterwards.
        """
        if not self._leads():
            yield None
            return
        ticket = Ticket(alerts, now)
        with self._lock:
            self._waiting.append(ticket)
        self._wake()
        try:
            yield ticket
        finally:
            with self._lock:
                self._waiting.remove(ticket)

    def waiting(self) -> tuple[Ticket, ...]:
        """Return what is to be recorded, in the order in which it came."""
        with self._lock:
            return tuple(self._waiting)
