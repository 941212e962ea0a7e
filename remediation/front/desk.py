"""The desk where people's orders are taken: checked, recorded in the ledger, told in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remediation.names import meant
from remediation.policy.orders import Order, Verb, give
from remediation.ports import CallFailed, swap

if TYPE_CHECKING:
    from collections.abc import Callable

    from structlog.typing import FilteringBoundLogger

    from daemon.clocks import Clock
    from remediation.front.gate import SeldomLog
    from remediation.policy.facts.ledger import Ledger
    from remediation.ports import LedgerStore
    from remediation.report import Status


class UnknownNode(Exception):
    """The pool has no node of that name, nor was anything ordered or granted for one."""


class Desk:
    """`wake` is called after an order was recorded; whoever leads then carries it out.

    `status` returns what the last tick left, the pool with it.
    """

    def __init__(
        self,
        *,
        ledger: LedgerStore,
        status: Callable[[], Status | None],
        wake: Callable[[], None],
        clock: Clock,
        log: FilteringBoundLogger,
        seldom: SeldomLog,
    ) -> None:
        self._ledger = ledger
        self._status = status
        self._wake = wake
        self._clock = clock
        self._log = log
        self._seldom = seldom

    def take(self, verb: Verb, order: Order, node: str) -> bool | None:
        """Record an order; return whether the pool has its node, None when that is not known.

        Raises `UnknownNode`, unless it is ordered anyway, and `CallFailed`.
        """
        in_pool = self._in_pool(node)
        if verb.of_a_node and in_pool is False and not order.anyway:
            self._must_be_known(node)
        self._record(verb, order, node)
        self._log.info(
            "order",
            done=verb.done,
            node=node,
            in_pool=in_pool,
            author=order.author,
            reason=order.reason,
        )
        self._wake()
        return in_pool

    def _record(self, verb: Verb, order: Order, node: str) -> None:
        now = self._clock.wall()
        try:
            swap(self._ledger, lambda ledger: give(ledger, verb, order, node=node, now=now))
        except CallFailed as failure:
            self._seldom.warning("order not recorded", order=verb.value, error=str(failure))
            raise

    def _in_pool(self, node: str) -> bool | None:
        status = self._status()
        # A tick that failed knows no pool: an order must not wait for one that sees.
        return node in status.nodes if status is not None and status.ledger is not None else None

    def _must_be_known(self, node: str) -> None:
        status, last = self._status(), self._ledger.last()
        ledgers = [status.ledger if status else None, last.ledger if last else None]
        if not any(_named(ledger, node) for ledger in ledgers if ledger is not None):
            hint = meant(node, status.nodes if status else ())
            raise UnknownNode(f"the pool has no node {node}{hint}")


def _named(ledger: Ledger, node: str) -> bool:
    """Whether something stands for `node` that an order may be there to end or to change."""
    return node in ledger.holds or node in ledger.grants
