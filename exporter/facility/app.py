"""Wires facility mode together, runnable inside a test."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, ProcessCollector

from daemon import settings as files
from daemon.clocks import system_clock
from daemon.lifecycle import FileWatch, run_every
from daemon.serving import Server
from exporter.collectors import Collector, Pace
from exporter.facility.equipment import EquipmentSource
from exporter.facility.publish import FacilityPage, FacilityView, Standing, landing
from exporter.facility.settings import FacilitySettings
from exporter.page.gate import Gate
from exporter.page.pages import OPEN_PATHS, Pages

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

    from daemon.clocks import Clock

HANG_GRACE = 1.5
"""A source keeps its own deadline; past this multiple of it the frame calls a hang."""
BEAT_SECONDS = 5.0
ALIVE_SECONDS = 60.0
STOP_SECONDS = 3.0
CLOSED_AT_ONCE = 64
HTTP_THREADS = 8


class FacilityExporter:
    """The facility's exporter, from `start` to `stop`.

    `path` is the settings file, read again when it changes; only `racks` takes
    effect without a restart.  Raises `OSError` from `start` when the port is
    taken, `TlsUnusable` when the certificate is not there.
    """

    def __init__(
        self,
        settings: FacilitySettings,
        *,
        log: FilteringBoundLogger,
        version: str,
        clock: Clock | None = None,
        path: Path | None = None,
        reload: threading.Event | None = None,
    ) -> None:
        self.settings = settings
        self._log = log
        self._version = version
        self._clock = clock or system_clock()
        self._path = path
        self._reload = reload or threading.Event()
        self._watch = FileWatch([path] if path else [])
        self._stop = threading.Event()
        self._reloaded = True
        self._rack_of = settings.rack_of()
        self._beat = self._clock.monotonic()
        self._collectors = [
            Collector(
                EquipmentSource(target, clock=self._clock, random=Random(target.equipment)),  # noqa: S311 - spreads load
                self._pace(target.interval_seconds, target.deadline_seconds),
                clock=self._clock,
                log=log.bind(equipment=target.equipment),
            )
            for target in settings.targets
        ]
        self._server = self._serving()

    @property
    def port(self) -> int:
        """The bound port."""
        return self._server.port

    def start(self) -> None:
        """Serve, and begin to read."""
        self._server.start()
        for collector in self._collectors:
            collector.start(self._stop)
        threading.Thread(target=self._run, name="house", daemon=True).start()
        self._log.info("facility exporter serves", targets=len(self._collectors), port=self.port)

    def stop(self) -> None:
        """Log out everywhere at once, since some may hang, and free the port."""
        self._stop.set()
        with ThreadPoolExecutor(CLOSED_AT_ONCE, thread_name_prefix="close") as pool:
            list(pool.map(lambda collector: collector.close(STOP_SECONDS), self._collectors))
        self._server.close()
        self._log.info("facility exporter stopped")

    def view(self) -> FacilityView:
        """Return what is known at this moment."""
        statuses = (collector.status() for collector in self._collectors)
        standings = map(Standing, self.settings.targets, statuses)
        now = self._clock.monotonic()
        return FacilityView(now, tuple(standings), self._rack_of, self._reloaded, self._version)

    def _run(self) -> None:
        monotonic = self._clock.monotonic
        run_every(BEAT_SECONDS, self._keep_house, stop=self._stop, monotonic=monotonic)

    def _keep_house(self) -> None:
        self._beat = self._clock.monotonic()
        asked = self._reload.is_set()
        self._reload.clear()
        if self._path is not None and (self._watch.changed() or asked):
            self._read_again(self._path)

    def _read_again(self, path: Path) -> None:
        try:
            changed = files.load(path, FacilitySettings)
        except files.SettingsError as error:
            self._reloaded = False
            self._log.error("changed settings refused, the old ones stay", detail=str(error))
            return
        self._reloaded = True
        self._rack_of = changed.rack_of()
        restart = changed.targets != self.settings.targets or changed.listen != self.settings.listen
        self._log.info("settings read again", needs_restart=restart)

    def _pace(self, interval_seconds: float, deadline_seconds: float) -> Pace:
        return Pace(
            interval_seconds=interval_seconds,
            deadline_seconds=deadline_seconds * HANG_GRACE,
            breaker_failures=self.settings.breaker.failures,
            breaker_wait_limit_seconds=self.settings.breaker.wait_limit_seconds,
        )

    def _serving(self) -> Server:
        listen = self.settings.listen
        registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        registry.register(FacilityPage(self.view))
        pages = Pages(
            registry,
            lambda: landing(self.view()),
            alive=lambda: self._clock.monotonic() - self._beat <= ALIVE_SECONDS,
            ready=lambda: not self._stop.is_set(),
            gate=Gate(token=listen.token, user=listen.user),
        )
        return Server(
            pages,
            host=listen.host,
            port=listen.port,
            threads=HTTP_THREADS,
            tls=None if listen.tls is None else listen.tls.files(open_paths=OPEN_PATHS),
            log=self._log,
        )
