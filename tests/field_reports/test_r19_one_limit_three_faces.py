"""R19: one server, three limits, and each says no in another way."""

from __future__ import annotations

from itertools import pairwise

import pytest

from daemon.prometheus import HistoryUnreadable, Range, TooMuch, Trouble
from model.history.reader import Reader
from model.sources.series import Steps

SERIES, STEPS, STEP = 64, 60 * 1_440, 60
POINTS, SAMPLES, HOURS = 11_000, 500_000, 768


class Server:
    """Refuses as Mimir, Prometheus and others do; every 40th time it is busy."""

    def __init__(self, samples: int = SAMPLES) -> None:
        self.samples = samples
        self.asked = 0
        self.answered: list[tuple[str, Range]] = []

    def query_range(self, query: str, over: Range) -> list:
        self.asked += 1
        steps = round((over.end - over.start) / STEP) + 1
        if self.asked % 40 == 0:
            raise HistoryUnreadable(Trouble.BUSY, "503")
        if steps * STEP > HOURS * 3_600:
            raise TooMuch("query length: 1440h0m0s, limit: 768h0m0s (err-mimir-max-query-length)")
        if steps > POINTS:
            raise TooMuch("exceeded maximum resolution of 11,000 points per timeseries")
        if steps * len(query.split()) > self.samples:
            raise TooMuch("query processing would load too many samples into memory")
        self.answered.append((query, over))
        return []


class BusyServer(Server):
    """One that stays busy however long it is waited for."""

    def query_range(self, query: str, over: Range) -> list:
        raise HistoryUnreadable(Trouble.BUSY, "503, 6 times")


def read(server: Server, steps_per_request: int, steps: int = STEPS) -> Reader:
    reader = Reader(server, lambda _: None, steps_per_request)
    names = [f"c{number}" for number in range(SERIES)]
    for _ in reader.read(" ".join, names, Steps(0.0, float(STEP), steps)):
        pass
    return reader


def covered(server: Server) -> list[tuple[str, float]]:
    return [
        (name, over.start + step * STEP)
        for query, over in server.answered
        for name in query.split()
        for step in range(round((over.end - over.start) / STEP) + 1)
    ]


@pytest.mark.parametrize("steps_per_request", [STEPS, 720])
def test_r19_no_minute_is_missing_or_doubled_and_little_is_asked_in_vain(
    steps_per_request: int,
) -> None:
    server = Server()
    reader = read(server, steps_per_request)
    ends = sorted((over.start, over.end) for _, over in server.answered)
    assert ends[0][0] == 0.0
    assert ends[-1][1] == (STEPS - 1) * STEP
    assert all(end + STEP == start for (_, end), (start, _) in pairwise(ends))
    least = -(-STEPS // min(steps_per_request, SAMPLES // SERIES))
    assert server.asked <= 1.5 * least
    assert reader.steps_per_request <= steps_per_request


def test_r19_a_limit_on_samples_that_no_range_can_meet_takes_fewer_series() -> None:
    server = Server(samples=900)
    reader = read(server, 720, steps=120)
    got = covered(server)
    assert len(got) == len(set(got)) == 120 * SERIES
    assert reader.names_per_request < SERIES


def test_r19_when_one_step_of_one_series_is_refused_the_servers_words_are_told() -> None:
    with pytest.raises(HistoryUnreadable, match="would load too many samples") as refused:
        read(Server(samples=0), 720, steps=10)
    assert refused.value.trouble is Trouble.REFUSED


def test_r19_a_server_that_stays_busy_is_given_up_with_its_own_word() -> None:
    with pytest.raises(HistoryUnreadable, match="503, 6 times"):
        read(BusyServer(), 720)
