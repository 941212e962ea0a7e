"""A post that the leader hears is recorded with what follows from it, or by whoever heard it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from remediation.inbox import Inbox, Ticket
from remediation.policy.bounds.limits import Limits
from remediation.policy.facts.ledger import Ledger
from remediation.policy.facts.suspects import hear
from tests.remediation.builders import NOW, an_alert
from tests.remediation.site import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

ALERTS = (an_alert(),)
LIMITS = Limits()


def offered(inbox: Inbox, meanwhile: Callable[[], None], seconds: float = 5.0) -> Any:
    """Offer the alert on a thread, as a webhook does, and do `meanwhile` on this one."""
    found: list[Any] = []

    def offer() -> None:
        with inbox.offered(ALERTS, now=NOW) as ticket:
            found.append(ticket.wait(seconds) if ticket is not None else "not led")

    thread = threading.Thread(target=offer)
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
    assert offered(inbox, lambda: None) == "not led"
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


def test_a_write_without_an_answer_is_known_for_ones_own_when_it_is_found_there() -> None:
    ticket = Ticket(ALERTS, NOW)
    there = ticket.onto(Ledger(), LIMITS)
    ticket.answer_lost()
    assert ticket.onto(there, LIMITS) is there
    ticket.recorded()
    assert ticket.wait(0) is True


def test_a_post_that_another_replica_recorded_first_changed_nothing_here() -> None:
    ticket = Ticket(ALERTS, NOW)
    theirs = ticket.onto(Ledger(), LIMITS)
    # Our write was refused for theirs, and we look again.
    assert ticket.onto(theirs, LIMITS) is theirs
    ticket.recorded()
    assert ticket.wait(0) is False
    assert ticket.crossed(0) is False


@pytest.mark.parametrize("told", [True, False], ids=["told", "not-told-in-time"])
def test_a_post_found_recorded_while_the_loop_writes_it_is_the_loops(told: bool) -> None:
    ticket = Ticket(ALERTS, NOW)
    ticket.onto(Ledger(), LIMITS)
    if told:
        ticket.recorded()
    assert ticket.crossed(0) is True


def test_the_next_tick_does_not_change_how_a_recorded_post_ended() -> None:
    ticket = Ticket(ALERTS, NOW)
    after = ticket.onto(Ledger(), LIMITS)
    ticket.recorded()
    assert ticket.onto(after, LIMITS) is after
    assert ticket.wait(0) is True


def test_a_post_that_no_tick_took_up_crossed_with_nothing() -> None:
    assert Ticket(ALERTS, NOW).crossed(5.0) is False
