"""Asks in pieces that the server takes, and makes them smaller when it does not.

A limit on time (a query's length, points per series) asks for fewer steps, one
on samples or bytes for less of either.  What worked is remembered for the rest
of the run.
"""

from __future__ import annotations

import re
import sys
import threading
from typing import TYPE_CHECKING, NamedTuple

import requests

from daemon import reach
from daemon.clocks import system_clock
from daemon.prometheus import HistoryUnreadable, Prometheus, Range, TooMuch, Trouble
from model import schema
from model.sources.series import Steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from daemon.prometheus import Series
    from model.history.access import Server

STEPS_PER_REQUEST = 720
LEAST_STEPS = 30
"""Fewer than this are not tried before the channels are asked in parts."""
SHRINK = 2 / 3
"""Halving would overshoot a limit by up to a half, and ask that much oftener ever after."""
PATIENCE = 3
"""How often a question is put again when the server could not be reached or is busy."""
PASSING = frozenset({Trouble.UNREACHABLE, Trouble.BUSY})
REST_SECONDS = 5.0

_POINTS = re.compile(r"maximum resolution of ([\d,]+) points", re.IGNORECASE)
_LENGTH = re.compile(r"limit:? *(?:(\d+)h)(?:(\d+)m)?", re.IGNORECASE)


class Part(NamedTuple):
    """An answer: which channels were asked for, over which steps, and the series."""

    names: tuple[str, ...]
    over: Steps
    series: list[Series]


def _quiet(line: str) -> None:
    """Say nothing."""


class Reader:
    """Reads ranges through `client`; `rest` waits for some seconds, `say` tells why."""

    def __init__(
        self,
        client: Prometheus,
        rest: Callable[[float], object],
        steps_per_request: int = STEPS_PER_REQUEST,
        say: Callable[[str], object] = _quiet,
    ) -> None:
        self._client = client
        self._rest = rest
        self.say = say
        self._answered = threading.Event()
        self.steps_per_request = steps_per_request
        self.names_per_request = 10_000

    def apart(self) -> Reader:
        """Return a reader that learns limits of its own, for another kind of question."""
        other = Reader(self._client, self._rest, say=self.say)
        other._answered = self._answered
        return other

    def read(
        self, query: Callable[[Sequence[str]], str], names: Sequence[str], over: Steps
    ) -> Iterator[Part]:
        """Yield the answers that together cover `names` over `over`; raises `HistoryUnreadable`."""
        first = 0
        while first < over.count:
            count = min(over.count - first, self.steps_per_request)
            part = Steps(over.start + first * over.seconds, over.seconds, count)
            try:
                yield from self._columns(query, tuple(names), part)
            except TooMuch as refusal:
                self._ask_for_less(str(refusal), count, len(names))
                continue
            first += count

    def _columns(
        self, query: Callable[[Sequence[str]], str], names: tuple[str, ...], over: Steps
    ) -> list[Part]:
        """Ask for all channels over one range; nothing is handed on until all have answered."""
        width = min(len(names), self.names_per_request)
        groups = [names[first : first + width] for first in range(0, len(names), width)]
        return [Part(group, over, self.ask(query(group), over)) for group in groups]

    def ask(self, query: str, over: Steps) -> list[Series]:
        """Put one question; a server that is not reached any more is given a few chances."""
        end = over.start + (over.count - 1) * over.seconds
        for attempt in range(1, PATIENCE + 1):
            try:
                answer = self._client.query_range(query, Range(over.start, end, over.seconds))
            except HistoryUnreadable as failure:
                if attempt == PATIENCE or not self._may_pass(failure):
                    raise
                seconds = REST_SECONDS * attempt
                self.say(f"{failure}; attempt {attempt + 1} of {PATIENCE} in {seconds:.0f} s")
                self._rest(seconds)
            else:
                self._answered.set()
                return answer
        raise AssertionError("the last attempt returns or raises")

    def _may_pass(self, failure: HistoryUnreadable) -> bool:
        """Tell whether to ask again; who never answered and is not there was named wrongly."""
        if failure.trouble not in PASSING:
            return False
        cause = failure.__cause__
        return self._answered.is_set() or cause is None or reach.was_sent(cause)

    def _ask_for_less(self, said: str, count: int, names: int) -> None:
        if not self._answered.is_set():
            self.say(f"asks for less: {said}")
        allowed = _allowed_steps(said)
        if allowed is not None and allowed < count:
            self.steps_per_request = allowed
        elif count > LEAST_STEPS:
            self.steps_per_request = max(LEAST_STEPS, int(count * SHRINK))
        elif min(names, self.names_per_request) > 1:
            self.names_per_request = max(1, min(names, self.names_per_request) // 2)
        elif count > 1:
            self.steps_per_request = max(1, int(count * SHRINK))
        else:
            detail = f"one step of one channel is too much for the server, which says: {said}"
            raise HistoryUnreadable(Trouble.REFUSED, detail)


def _allowed_steps(said: str) -> int | None:
    """Return the steps that a refusal names as its limit."""
    points = _POINTS.search(said)
    if points:
        return int(points[1].replace(",", ""))
    length = _LENGTH.search(said)
    if length:
        seconds = int(length[1]) * 3600 + int(length[2] or 0) * 60
        return max(1, seconds // schema.STEP_SECONDS)
    return None


def connect(server: Server) -> Reader:
    """Return a reader of a site's server; raises `AccessRefused`."""
    stop = threading.Event()
    client = Prometheus(
        server.access(), requests.Session(), monotonic=system_clock().monotonic, stop=stop
    )
    client.begin()
    return Reader(client, stop.wait, say=_tell)


def _tell(line: str) -> None:
    sys.stderr.write(f"forewarn-model: {line}\n")
    sys.stderr.flush()
