"""Changing the ledger from what was last seen of it: one call where nobody interfered."""

from __future__ import annotations

import msgspec
import pytest

from remediation.policy.facts.ledger import Ledger, Pause
from remediation.ports import CallFailed, Conflict, StoredLedger, swap
from tests.remediation.memory import MemoryLedger

PAUSE = Pause(author="ann", reason="work", since=1.0)


class Counted(MemoryLedger):
    reads = 0

    def read(self) -> StoredLedger:
        self.reads += 1
        return super().read()


def pause(ledger: Ledger) -> Ledger:
    return msgspec.structs.replace(ledger, pause=PAUSE)


def a_store() -> Counted:
    store = Counted(version=1)
    store.seen = StoredLedger(store.ledger, "1")
    return store


def test_a_change_of_what_was_last_seen_costs_no_read() -> None:
    store = a_store()
    assert swap(store, pause).pause == PAUSE
    assert (store.reads, store.writes) == (0, 1)


def test_what_was_last_seen_is_not_trusted_to_need_no_change() -> None:
    """Somebody may have taken back what we remember: only a fresh ledger can say known already."""
    store = a_store()
    store.seen = StoredLedger(pause(Ledger()), "1")
    assert swap(store, pause).pause == PAUSE
    assert store.ledger.pause == PAUSE
    assert (store.reads, store.writes) == (1, 1)


def test_a_stale_memory_is_found_out_by_the_swap() -> None:
    store = a_store()
    store.version, store.ledger = 5, Ledger(epoch=7)
    assert swap(store, pause) == Ledger(epoch=7, pause=PAUSE)
    assert store.reads == 1


def test_a_ledger_that_keeps_changing_is_given_up() -> None:
    store = a_store()
    store.rivals = 100
    with pytest.raises(Conflict):
        swap(store, pause)


def test_no_attempt_begins_once_the_time_is_over() -> None:
    store = a_store()
    store.rivals = 100
    with pytest.raises(CallFailed):
        swap(store, pause, out_of_time=lambda: True)
    assert store.rivals == 99
