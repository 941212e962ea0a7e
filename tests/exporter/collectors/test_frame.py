"""One source cannot hold up another, the page, or itself for ever."""

from __future__ import annotations

import io
import threading
import time

import pytest

from daemon.clocks import Clock, system_clock
from daemon.logs import logger
from exporter.collectors import Collector, Pace
from exporter.readings import Reason
from tests.factories.sources import A, Scripted, Ticks, dcgm, failing

PACE = Pace(
    interval_seconds=30, deadline_seconds=12, breaker_failures=3, breaker_wait_limit_seconds=300
)


def frame(source: Scripted, ticks: Ticks, log: io.StringIO | None = None) -> Collector:
    clock = Clock(ticks.wall, ticks.monotonic)
    out = logger("test", stream=log or io.StringIO(), style="json")
    return Collector(source, PACE, clock=clock, log=out)


def test_a_success_is_kept_with_its_age() -> None:
    ticks = Ticks()
    collector = frame(Scripted(lambda _: dcgm({A: 61}, errors={Reason.BAD_LINE: 2})), ticks)
    collector.collect()
    status = collector.status()
    assert (status.up, status.read_at, status.last_success) == (True, 1_000.0, 1_700_000_000.0)
    assert status.errors[Reason.BAD_LINE] == 2
    assert status.errors.keys() == set(Reason)


def test_a_failure_keeps_the_last_readings_and_counts_its_reason() -> None:
    answers = iter([dcgm({A: 61})])

    def once(now: float):
        return next(answers, None) or failing(Reason.HTTP_500)(now)

    collector = frame(Scripted(once), Ticks())
    collector.collect()
    collector.collect()
    status = collector.status()
    assert (status.up, status.failure, status.errors[Reason.HTTP_500]) == (
        False,
        Reason.HTTP_500,
        1,
    )
    assert status.readings is not None


@pytest.mark.parametrize("reason", [Reason.EMPTY, Reason.NO_SAMPLES])
def test_a_source_that_answers_without_data_is_up(reason: Reason) -> None:
    collector = frame(Scripted(failing(reason)), Ticks())
    collector.collect()
    assert collector.status().up
    assert collector.status().failures == 0


def test_a_defect_of_a_reader_is_counted_and_logged_with_its_traceback() -> None:
    def defective(_: float):
        raise KeyError("no such thing")

    log = io.StringIO()
    collector = frame(Scripted(defective), Ticks(), log)
    collector.collect()
    assert collector.status().errors[Reason.UNEXPECTED] == 1
    assert "KeyError" in log.getvalue()


def test_the_same_failure_is_logged_once() -> None:
    log = io.StringIO()
    collector = frame(Scripted(failing(Reason.UNREACHABLE)), Ticks(), log)
    for _ in range(5):
        collector.collect()
    assert log.getvalue().count("source failed") == 1


def test_waits_double_after_the_breaker_opens_up_to_the_limit() -> None:
    waits = [PACE.wait_seconds(failures) for failures in range(9)]
    assert waits == [30, 30, 30, 60, 120, 240, 300, 300, 300]


def test_a_hang_is_seen_while_it_lasts_and_counted_once() -> None:
    entered, release = threading.Event(), threading.Event()

    def hangs(_: float):
        entered.set()
        release.wait(10)
        return dcgm({A: 61})

    ticks = Ticks()
    collector = frame(Scripted(hangs), ticks)
    stop = threading.Event()
    collector.start(stop)
    assert entered.wait(5)
    assert not collector.status().hung
    ticks.advance(13)
    for _ in range(3):
        status = collector.status()
        assert (status.hung, status.up, status.failure) == (True, False, Reason.HANG)
    assert status.errors[Reason.HANG] == 1
    release.set()
    stop.set()
    collector.close(5)
    assert collector.status().up


def test_a_source_is_closed_after_its_last_read() -> None:
    source = Scripted(lambda _: dcgm({A: 61}))
    collector = Collector(
        source, PACE, clock=system_clock(), log=logger("test", stream=io.StringIO())
    )
    stop = threading.Event()
    collector.start(stop)
    deadline = time.monotonic() + 5
    while not collector.status().up and time.monotonic() < deadline:
        time.sleep(0.01)
    stop.set()
    collector.close(5)
    assert source.closed
    assert source.reads == 1


def test_a_source_whose_read_hangs_is_closed_all_the_same() -> None:
    release = threading.Event()

    def hang(_: float):
        release.wait(10)
        return dcgm({A: 61})

    source = Scripted(hang)
    collector = Collector(
        source, PACE, clock=system_clock(), log=logger("test", stream=io.StringIO())
    )
    stop = threading.Event()
    collector.start(stop)
    stop.set()
    collector.close(0.05)
    assert source.closed
    release.set()
