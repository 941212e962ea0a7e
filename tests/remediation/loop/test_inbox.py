"""A post that the leader hears is recorded with what follows from it, or by whoever heard it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from remediation.inbox import Inbox
from remediation.policy.ledger import Ledger, hear
from remediation.policy.limits import Limits
from tests.remediation.builders import NOW, an_alert
from tests.remediation.site import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

ALERTS = (an_alert(),)
LIMITS = Limits()


def offered(inbox: Inbox, meanwhile: Callable[[], None], seconds: float = 5.0) -> Any:
    """Offer the alert on a thread, as a webhook does, and do `meanwhile` on this one."""
    found: list[Any] = []
    thread = threading.Thread(
        target=lambda: found.append(inbox.offer(ALERTS, now=NOW, seconds=seconds))
    )
    thread.start()
    meanwhile()
    thread.join(10)
    assert inbox.waiting() == ()
    return found[0]


def an_inbox(*, leads: bool = True) -> tuple[Inbox, list[str]]:
    woken: list[str] = []
    return Inbox(leads=lambda: leads, wake=lambda: woken.append("woken")), woken


@pytest.mark.parametrize(
    ("before", "changed"),
    [(Ledger(), True), (hear(Ledger(), ALERTS, now=NOW, limits=LIMITS), False)],
    ids=["news", "known-already"],
)
def test_it_is_told_once_the_ledger_holds_it(before: Ledger, changed: bool) -> None:
    inbox, woken = an_inbox()

    def loop() -> None:
        (ticket,) = eventually(inbox.waiting)
        after = ticket.onto(before, LIMITS)
        assert [suspect.node for suspect in after.suspects.values()] == ["n1"]
        ticket.recorded()

    assert offered(inbox, loop) is changed
    assert woken == ["woken"]


def test_a_replica_that_does_not_lead_leaves_it_to_the_webhook() -> None:
    inbox, woken = an_inbox(leads=False)
    assert inbox.offer(ALERTS, now=NOW, seconds=5.0) is None
    assert woken == []


def test_a_loop_that_takes_too_long_is_not_waited_for() -> None:
    inbox, _ = an_inbox()
    assert offered(inbox, lambda: None, seconds=0.01) is None


def test_a_full_ledger_is_found_out_at_once_by_whoever_offered() -> None:
    inbox, _ = an_inbox()
    small = Limits(suspects=1)
    full = hear(Ledger(), (an_alert("n2"),), now=NOW, limits=small)

    def loop() -> None:
        (ticket,) = eventually(inbox.waiting)
        assert ticket.onto(full, small) is full
        ticket.recorded()

    assert offered(inbox, loop) is None


def test_a_ledger_that_could_not_be_written_recorded_nothing() -> None:
    inbox, _ = an_inbox()

    def loop() -> None:
        (ticket,) = eventually(inbox.waiting)
        ticket.onto(Ledger(), LIMITS)

    assert offered(inbox, loop, seconds=0.05) is None
