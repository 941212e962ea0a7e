"""The frame around every source: one thread each, so that none can hold up another or the page.

The frame paces, times, isolates and counts; what to read and how is the
source's.  A read that does not come back is reported as a hang while it still
runs, and is never run twice at once.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from exporter.readings import Reason, SourceFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from structlog.typing import FilteringBoundLogger

    from daemon.clocks import Clock
    from exporter.readings import Source, SourceName, SourceReadings

ANSWERED = frozenset({Reason.EMPTY, Reason.NO_SAMPLES})
"""The source is there and had nothing to say: its data are missing, it is not down."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How often to ask and when to hold back, all in seconds.

    After `breaker_failures` failures in a row the breaker opens: waits double
    from one interval up to `breaker_wait_limit_seconds`, until one read succeeds.
    """

    interval_seconds: float
    deadline_seconds: float
    breaker_failures: int
    breaker_wait_limit_seconds: float

    def wait_seconds(self, failures: int) -> float:
        """Return the pause after `failures` failures in a row."""
        beyond = failures - self.breaker_failures
        if beyond < 0:
            return self.interval_seconds
        doubled: float = self.interval_seconds * 2 ** min(beyond + 1, 16)
        return max(self.interval_seconds, min(doubled, self.breaker_wait_limit_seconds))


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """What is known of one source at one moment; `read_at` is monotonic, `last_success` wall.

    `failures` is the present run, `failed_reads` all since the start;
    `running_seconds` is how long a read that is not back yet has taken.
    """

    name: SourceName
    interval_seconds: float
    attempted: bool = False
    up: bool = False
    hung: bool = False
    failures: int = 0
    failed_reads: int = 0
    running_seconds: float | None = None
    failure: Reason | None = None
    detail: str = ""
    readings: SourceReadings | None = None
    read_at: float | None = None
    last_success: float | None = None
    duration_seconds: float | None = None
    errors: Mapping[Reason, int] = field(default_factory=dict)


class Collector:
    """One source with its thread and its latest outcome."""

    def __init__(
        self, source: Source, pace: Pace, *, clock: Clock, log: FilteringBoundLogger
    ) -> None:
        self._source = source
        self._pace = pace
        self._clock = clock
        self._log = log.bind(source=str(source.name))
        self._lock = threading.Lock()
        self._status = SourceStatus(source.name, pace.interval_seconds)
        self._errors: Counter[Reason] = Counter(dict.fromkeys(Reason, 0))
        self._losses: frozenset[Reason] = frozenset()
        self._running_since: float | None = None
        self._hang_counted = False
        self._thread: threading.Thread | None = None

    def start(self, stop: threading.Event) -> None:
        """Read in the background until `stop`."""
        name = f"collect-{self._source.name}"
        self._thread = threading.Thread(target=self._run, args=(stop,), name=name, daemon=True)
        self._thread.start()

    def close(self, timeout_seconds: float) -> None:
        """Wait for a running read, then let the source give back what it holds.

        A read that hangs keeps its thread, and the source closes under it: a
        session that outlives the process would count against the BMC's few.
        """
        if self._thread is not None:
            self._thread.join(max(0.0, timeout_seconds))
        self._source.close()

    def status(self) -> SourceStatus:
        """Return what is known now; a read past its deadline counts as one hang."""
        now = self._clock.monotonic()
        with self._lock:
            since = self._running_since
            hung = since is not None and now - since > self._pace.deadline_seconds
            if hung and not self._hang_counted:
                self._hang_counted = True
                self._errors[Reason.HANG] += 1
            running = None if since is None else now - since
            known = replace(self._status, errors=dict(self._errors), running_seconds=running)
        if not hung:
            return known
        return replace(
            known,
            attempted=True,
            up=False,
            hung=True,
            failure=Reason.HANG,
            detail="the read has not come back",
        )

    def collect(self) -> None:
        """Read once and keep the outcome; never raises."""
        started = self._clock.monotonic()
        with self._lock:
            self._running_since, self._hang_counted = started, False
        try:
            readings = self._source.read(started)
        except SourceFailed as failure:
            self._failed(failure.reason, failure.detail, started)
        except Exception as error:  # noqa: BLE001 - the frame: a reader's defect must not end collection
            self._log.error("source reader is defective", exc_info=error)
            self._failed(Reason.UNEXPECTED, type(error).__name__, started)
        else:
            self._succeeded(readings, started)

    def _run(self, stop: threading.Event) -> None:
        while not stop.is_set():
            started = self._clock.monotonic()
            self.collect()
            spent = self._clock.monotonic() - started
            stop.wait(max(0.0, self._pace.wait_seconds(self._status.failures) - spent))

    def _succeeded(self, readings: SourceReadings, started: float) -> None:
        before = self._status
        if before.failure is not None:
            self._log.info("source answers again", after=before.failure, failures=before.failures)
        self._errors.update(readings.errors)
        self._tell_losses(readings)
        self._keep(
            replace(
                before,
                attempted=True,
                up=True,
                failures=0,
                failure=None,
                detail="",
                readings=readings,
                read_at=started,
                last_success=self._clock.wall(),
            ),
            started,
        )

    def _tell_losses(self, readings: SourceReadings) -> None:
        """Say once that parts of an answer could not be read, and again when other parts cannot."""
        lost = frozenset(readings.errors)
        if lost - self._losses:
            counts = {str(reason): count for reason, count in readings.errors.items()}
            self._log.warning("source read in part: the rest is kept", lost=counts)
        self._losses = lost

    def _failed(self, reason: Reason, detail: str, started: float) -> None:
        before = self._status
        if before.failure is not reason:
            self._log.warning("source failed", reason=reason, detail=detail)
        self._errors[reason] += 1
        self._keep(
            replace(
                before,
                attempted=True,
                up=reason in ANSWERED,
                failures=0 if reason in ANSWERED else before.failures + 1,
                failed_reads=before.failed_reads + 1,
                failure=reason,
                detail=detail,
            ),
            started,
        )

    def _keep(self, status: SourceStatus, started: float) -> None:
        spent = self._clock.monotonic() - started
        with self._lock:
            self._running_since = None
            self._status = replace(status, duration_seconds=spent)
