"""The desk where people's orders are taken: checked, recorded in the ledger, told in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remediation.policy.orders import Order, Verb, give
from remediation.ports import CallFailed, swap

if TYPE_CHECKING:
    from collections.abc import Callable

    from structlog.typing import FilteringBoundLogger

    from daemon.clocks import Clock
    from remediation.front.gate import SeldomLog
    from remediation.ports import LedgerStore


class Desk:
    """`wake` is called after an order was recorded; whoever leads then carries it out."""

    def __init__(
        self,
        *,
        ledger: LedgerStore,
        wake: Callable[[], None],
        clock: Clock,
        log: FilteringBoundLogger,
        seldom: SeldomLog,
    ) -> None:
        self._ledger = ledger
        self._wake = wake
        self._clock = clock
        self._log = log
        self._seldom = seldom

    def take(self, verb: Verb, order: Order, node: str) -> CallFailed | None:
        """Record an order; return why it could not be."""
        now = self._clock.wall()
        try:
            swap(self._ledger, lambda ledger: give(ledger, verb, order, node=node, now=now))
        except CallFailed as failure:
            self._seldom.warning("order not recorded", order=verb.value, error=str(failure))
            return failure
        self._log.info("order", done=verb.done, node=node, author=order.author, reason=order.reason)
        self._wake()
        return None
