"""One replica acts at a time, by the own monotonic clock alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from remediation.leadership import Elector, LeaseRecord
from remediation.ports import CallFailed, FailureReason
from tests.remediation.memory import HandClock, MemoryLease


class Contest:
    """Two electors, one lease, one clock."""

    def __init__(self, epoch_floor: int = 0) -> None:
        self.time = HandClock()
        self.lease = MemoryLease()
        self.deaths: list[str] = []
        self.floor = epoch_floor
        self.a, self.b = self.elector("a"), self.elector("b")

    def elector(self, identity: str) -> Elector:
        return Elector(
            self.lease,
            identity=identity,
            duration_seconds=15,
            call_seconds=3.0,
            clock=self.time.clock,
            epoch_floor=lambda: self.floor,
            lost_while_acting=lambda: self.deaths.append(identity),
        )


def test_the_first_to_come_leads_and_the_second_stands_by() -> None:
    contest = Contest()
    assert contest.a.attempt() is None
    assert contest.b.attempt() is None
    assert (contest.a.epoch(), contest.b.epoch()) == (1, 0)
    assert contest.b.holder == "a"


def test_renewing_keeps_the_epoch() -> None:
    contest = Contest()
    for _ in range(10):
        contest.a.attempt()
        contest.b.attempt()
        contest.time.pass_time(2)
    assert (contest.a.epoch(), contest.b.epoch()) == (1, 0)


def test_a_holder_stops_acting_before_a_rival_may_begin() -> None:
    contest = Contest()
    contest.a.attempt()
    contest.b.attempt()
    contest.lease.broken = True
    led: list[tuple[int, int]] = []
    for _ in range(20):
        contest.time.pass_time(1)
        contest.a.attempt()
        contest.b.attempt()
        led.append((contest.a.epoch(), contest.b.epoch()))
    assert led[6][0] == 0, "10 s of lease less the 3 s of a call"
    assert all(b == 0 for _, b in led)
    contest.lease.broken = False
    contest.b.attempt()
    assert contest.b.epoch() == 2


def test_a_rival_waits_a_whole_duration_from_when_it_last_saw_a_renewal() -> None:
    contest = Contest()
    contest.a.attempt()
    contest.time.pass_time(14)
    contest.b.attempt()
    contest.time.pass_time(14.9)
    contest.b.attempt()
    assert contest.b.epoch() == 0
    contest.time.pass_time(0.2)
    contest.b.attempt()
    assert contest.b.epoch() == 2


def test_a_lease_that_was_given_back_is_taken_at_once() -> None:
    contest = Contest()
    contest.a.attempt()
    contest.b.attempt()
    contest.a.resign()
    contest.b.attempt()
    assert (contest.a.epoch(), contest.b.epoch()) == (0, 2)


def test_resigning_takes_nothing_from_a_new_leader() -> None:
    contest = Contest()
    contest.a.attempt()
    contest.b.attempt()
    contest.time.pass_time(16)
    contest.b.attempt()
    contest.a.resign()
    assert contest.lease.record is not None
    assert contest.lease.record.holder == "b"


def test_a_deleted_lease_does_not_start_the_epochs_anew() -> None:
    contest = Contest(epoch_floor=7)
    contest.a.attempt()
    assert contest.a.epoch() == 8


def test_a_lease_that_runs_out_while_a_write_is_under_way_ends_the_process() -> None:
    contest = Contest()
    contest.a.attempt()
    with contest.a.acting():
        contest.time.pass_time(11)
        contest.lease.broken = True
        contest.a.attempt()
    assert contest.deaths == ["a"]


def test_several_writes_may_be_under_way_and_the_first_to_end_does_not_end_the_others() -> None:
    contest = Contest()
    contest.a.attempt()
    with contest.a.acting():
        with contest.a.acting():
            pass
        contest.time.pass_time(11)
        contest.a.attempt()
    assert contest.deaths == ["a"]


def test_a_lease_that_runs_out_between_writes_only_ends_the_leading() -> None:
    contest = Contest()
    contest.a.attempt()
    contest.time.pass_time(11)
    contest.a.attempt()
    assert contest.deaths == []
    assert contest.a.epoch() == 2


def test_of_two_that_write_at_once_one_wins_quietly() -> None:
    contest = Contest()
    seen = contest.lease.read()
    contest.a.attempt()

    class Behind(MemoryLease):
        def read(self) -> LeaseRecord | None:
            return seen

        def write(self, record: LeaseRecord, *, now: float) -> None:
            contest.lease.write(record, now=now)

    late = Elector(
        Behind(),
        identity="late",
        duration_seconds=15,
        call_seconds=3.0,
        clock=contest.time.clock,
        epoch_floor=lambda: 0,
        lost_while_acting=lambda: None,
    )
    assert late.attempt() is None
    assert late.epoch() == 0


def test_without_the_epochs_of_the_past_nobody_leads() -> None:
    contest = Contest()

    def unreadable() -> int:
        raise CallFailed("read ledger: garbage", FailureReason.LEDGER_UNREADABLE)

    blind = Elector(
        contest.lease,
        identity="blind",
        duration_seconds=15,
        call_seconds=3.0,
        clock=contest.time.clock,
        epoch_floor=unreadable,
        lost_while_acting=lambda: None,
    )
    failure = blind.attempt()
    assert failure is not None
    assert failure.reason is FailureReason.LEDGER_UNREADABLE
    assert blind.epoch() == 0


@pytest.mark.parametrize("holder", ["a", ""])
def test_an_elector_whose_lease_nobody_else_took_takes_it_again(holder: str) -> None:
    contest = Contest()
    contest.a.attempt()
    assert contest.lease.record is not None
    contest.lease.record = replace(contest.lease.record, holder=holder)
    contest.time.pass_time(11)
    contest.a.attempt()
    assert contest.a.epoch() == 2
