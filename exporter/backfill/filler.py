"""Lives through the past once, on a memory of its own, and hands it over when it is whole."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from daemon.prometheus import HistoryUnreadable, Range, TooMuch, Trouble
from exporter.backfill import history
from exporter.forecast.forecaster import REPLAY_LIMIT_SECONDS, cold
from exporter.window.roster import Roster
from model import schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from structlog.typing import FilteringBoundLogger

    from daemon.clocks import Clock
    from daemon.prometheus import Prometheus
    from exporter.backfill.history import Moment
    from exporter.backfill.settings import BackfillSettings
    from exporter.forecast.forecaster import Forecaster, Memory
    from exporter.forecast.shelf import ModelShelf
    from exporter.window.roster import Declared

LEAST_STEPS = 8
"""A server that refuses a question of so few steps will refuse any."""
NICENESS = 19


class Backfill(StrEnum):
    """How far the filling has come."""

    NOT_NEEDED = "not_needed"
    RUNNING = "running"
    FILLED = "filled"
    NOTHING_FOUND = "nothing_found"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Past:
    """What was lived through: memory and roster as they stood at the memory's last step."""

    memory: Memory
    roster: Roster
    steps_read: int


class Filler:
    """One thread that fills one cold window.

    `hand_over` receives the past; nothing is handed over unless all of it could
    be read.  `is_cold` is asked before each attempt.
    """

    def __init__(
        self,
        node: str,
        settings: BackfillSettings,
        prometheus: Prometheus,
        *,
        forecaster: Forecaster,
        shelf: ModelShelf,
        declared: Callable[[], Declared],
        is_cold: Callable[[], bool],
        hand_over: Callable[[Past], None],
        clock: Clock,
        log: FilteringBoundLogger,
    ) -> None:
        self._settings = settings
        self._prometheus = prometheus
        self._forecaster = forecaster
        self._shelf = shelf
        self._declared = declared
        self._is_cold = is_cold
        self._hand_over = hand_over
        self._clock = clock
        self._log = log
        self._query = history.query(node, forecaster.step_seconds, settings.match)
        self._steps_per_request = settings.steps_per_request
        self.state = Backfill.NOT_NEEDED
        self.steps_read = 0

    def start(self, stop: threading.Event) -> None:
        """Fill in the background, where the window is cold."""
        if self._is_cold():
            self.state = Backfill.RUNNING
            threading.Thread(
                target=self._beside, args=(stop,), name="backfill", daemon=True
            ).start()

    def _beside(self, stop: threading.Event) -> None:
        _yield_to_others()
        self.run(stop)

    def run(self, stop: threading.Event) -> None:
        """Try until it is done, the window is warm by itself, or the attempts are used up."""
        for attempt in range(1, self._settings.attempts + 1):
            self.state = Backfill.RUNNING
            if self._attempt(attempt) or stop.wait(self._settings.retry_seconds):
                return
            if not self._is_cold():
                return

    def _attempt(self, attempt: int) -> bool:
        began = self._clock.monotonic()
        try:
            past = self.relive()
        except HistoryUnreadable as failure:
            self.state = Backfill.FAILED
            self._log.warning(
                "window not filled from Prometheus",
                reason=failure.trouble,
                detail=failure.detail,
                attempt=attempt,
            )
            return False
        except Exception as error:  # noqa: BLE001 - the frame of the thread: counted as a failure
            self.state = Backfill.FAILED
            self._log.error("filling the window is defective", exc_info=error)
            return False
        self._done(past, self._clock.monotonic() - began)
        return True

    def _done(self, past: Past, spent_seconds: float) -> None:
        self.steps_read = past.steps_read
        self.state = Backfill.FILLED if past.steps_read else Backfill.NOTHING_FOUND
        if past.steps_read:
            self._hand_over(past)
        self._log.info(
            "past read from Prometheus",
            outcome=self.state,
            steps=past.steps_read,
            requests=self._prometheus.sent,
            seconds=round(spent_seconds, 1),
        )

    def relive(self) -> Past:
        """Read and live through the whole lookback; raises `HistoryUnreadable`.

        Steps before the first reading are left out: a history that begins
        later begins as cold as the process that began it.
        """
        self._prometheus.begin()
        memory, roster, read = cold(), Roster(), 0
        for moment in self._moments():
            read += moment.known
            if not read:
                continue
            if moment.present:
                roster = roster.saw(moment.present)
            expected = roster.expected(self._declared())
            row = moment.row(expected)
            memory = self._forecaster.relive(
                memory, expected, row, moment.wall, self._shelf.in_force
            )
        return Past(memory, roster, read)

    def _moments(self) -> Iterator[Moment]:
        """Yield the steps of the lookback, oldest first, up to the moment of the last request."""
        step = self._forecaster.step_seconds
        wall = self._clock.wall() - self._lookback_steps() * step
        while (left := int((self._clock.wall() - wall) // step)) > 0:
            over = Range(wall, wall + (min(left, self._steps_per_request) - 1) * step, step)
            try:
                series = self._prometheus.query_range(self._query, over)
            except TooMuch as refusal:
                self._ask_for_less(refusal)
                continue
            yield from history.moments(series, over)
            wall = over.end + step

    def _ask_for_less(self, refusal: TooMuch) -> None:
        if self._steps_per_request <= LEAST_STEPS:
            detail = f"{self._steps_per_request} steps are too many for the server: {refusal}"
            raise HistoryUnreadable(Trouble.REFUSED, detail)
        self._steps_per_request = max(LEAST_STEPS, self._steps_per_request // 2)

    def _lookback_steps(self) -> int:
        limit = REPLAY_LIMIT_SECONDS // schema.STEP_SECONDS
        return min(limit, int(self._settings.lookback_seconds // self._forecaster.step_seconds))


def _yield_to_others() -> None:
    """Give this thread the lowest priority: the node's processors belong to its work."""
    try:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
    except OSError:
        return  # where it may not, it runs as the others do
