"""Wires the exporter together: the only file that knows all the others, runnable inside a test."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import requests
from prometheus_client import CollectorRegistry, ProcessCollector

from daemon import settings as files
from daemon.clocks import system_clock
from daemon.lifecycle import FileWatch
from daemon.prometheus import Prometheus
from daemon.serving import Server
from daemon.version import version
from exporter import sources
from exporter.backfill.filler import Backfill, Filler
from exporter.collectors import Collector, Pace
from exporter.forecast.forecaster import Forecaster
from exporter.forecast.shelf import BUNDLED, ModelShelf, untried
from exporter.grid import Grid
from exporter.heap import give_back
from exporter.page.gate import Gate
from exporter.page.pages import OPEN_PATHS, Pages, landing
from exporter.page.publish import Page, Serving
from exporter.settings import Settings
from exporter.store import FILE_NAME
from model import schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from structlog.typing import FilteringBoundLogger

    from daemon.clocks import Clock
    from exporter.forecast.shelf import Trial
    from exporter.page.publish import Rows
    from exporter.sources import Named

HANG_GRACE = 1.5
"""A source keeps its own deadline; past this multiple of it the frame calls a hang."""
LIVENESS_STEPS = 5
LIVENESS_FLOOR_SECONDS = 60.0
STOP_SECONDS = 3.0
HTTP_THREADS = 4


class Exporter:
    """One node's exporter, from `start` to `stop`.

    `path` is the settings file, read again when it changes; only the section
    `gpus` takes effect without a restart.  Raises `OSError` from `start` when
    the port is taken, `ValueError` when no node name is given, `TlsUnusable`
    when the certificate is not there.  `trial` is asked before a model is loaded.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        log: FilteringBoundLogger,
        clock: Clock | None = None,
        path: Path | None = None,
        reload: threading.Event | None = None,
        bundled: Path = BUNDLED,
        trial: Trial = untried,
    ) -> None:
        self.settings = settings
        self._log = log
        self._clock = clock or system_clock()
        self._path = path
        self._reload = reload or threading.Event()
        self._watch = FileWatch([path] if path else [])
        self.registry = CollectorRegistry()
        self._stop = threading.Event()
        self._started = threading.Event()
        node = settings.node_name()
        self._shelf = _shelf(settings, node, bundled, trial, log)
        self._shelf.look()
        self.collectors = [
            Collector(one.source, self._pace(one), clock=self._clock, log=log)
            for one in sources.named(settings, self._clock)
        ]
        step_seconds = self._step_seconds()
        self._forecaster = Forecaster(
            step_seconds=step_seconds,
            minimum_fill_ratio=settings.window.minimum_fill_ratio,
            bmc_configured=bool(settings.bmc.url),
            trust=settings.model.trust(),
        )
        self.grid = self._grid(node)
        self._filler = self._backfill(node) if settings.backfill.url else None
        self._server = self._serving(step_seconds)

    @property
    def port(self) -> int:
        """The bound port."""
        return self._server.port

    def start(self) -> None:
        """Restore the window, serve, and begin to collect."""
        self.grid.restore()
        self._server.start()
        for collector in self.collectors:
            collector.start(self._stop)
        self.grid.start(self._stop)
        if self._filler is not None:
            self._filler.start(self._stop)
        self._started.set()
        self._log.info("exporter serves", node=self.grid.node, port=self.port)

    def stop(self) -> None:
        """End the step in progress, save the window, log out, free the port."""
        self._stop.set()
        deadline = self._clock.monotonic() + STOP_SECONDS
        self.grid.join(STOP_SECONDS)
        self.grid.save()
        for collector in self.collectors:
            collector.close(deadline - self._clock.monotonic())
        self._server.close()
        self._log.info("exporter stopped")

    def _pace(self, one: Named) -> Pace:
        return Pace(
            interval_seconds=one.interval_seconds,
            deadline_seconds=one.deadline_seconds * HANG_GRACE,
            breaker_failures=self.settings.breaker.failures,
            breaker_wait_limit_seconds=self.settings.breaker.wait_limit_seconds,
        )

    def _step_seconds(self) -> float:
        in_force = self._shelf.in_force
        own = float(in_force.predictor.info.step_seconds if in_force else schema.STEP_SECONDS)
        chosen = self.settings.window.step_seconds or own
        if chosen != own:
            self._log.warning(
                "time is compressed: the grid step is not the model's",
                step_seconds=chosen,
                model_step_seconds=own,
            )
        return chosen

    def _grid(self, node: str) -> Grid:
        grid = Grid(
            node,
            forecaster=self._forecaster,
            collectors=self.collectors,
            shelf=self._shelf,
            declared=self.settings.gpus.declared(),
            path=_window_path(self.settings),
            check_interval_seconds=self.settings.model.check_interval_seconds,
            clock=self._clock,
            log=self._log,
        )
        grid.housekeeping = self._keep_house
        return grid

    def _backfill(self, node: str) -> Filler:
        prometheus = Prometheus(
            self.settings.backfill.access,
            requests.Session(),
            monotonic=self._clock.monotonic,
            stop=self._stop,
        )
        return Filler(
            node,
            self.settings.backfill,
            prometheus,
            forecaster=self._forecaster,
            shelf=self._shelf,
            declared=lambda: self.grid.declared,
            is_cold=self.grid.is_cold,
            hand_over=self.grid.take_over,
            clock=self._clock,
            log=self._log,
        )

    def _pages(self, step_seconds: float) -> Pages:
        ProcessCollector(registry=self.registry)
        self.registry.register(Page(self.grid.view, version=version()))
        self.registry.register(Serving(self._own_series))
        limit = max(LIVENESS_STEPS * step_seconds, LIVENESS_FLOOR_SECONDS)
        return Pages(
            self.registry,
            lambda: landing(self.grid.view()),
            alive=lambda: self.grid.alive(limit),
            ready=lambda: self._started.is_set() and not self._stop.is_set(),
            gate=Gate(token=self.settings.listen.token, user=self.settings.listen.user),
        )

    def _serving(self, step_seconds: float) -> Server:
        listen = self.settings.listen
        return Server(
            self._pages(step_seconds),
            host=listen.host,
            port=listen.port,
            threads=HTTP_THREADS,
            tls=None if listen.tls is None else listen.tls.files(open_paths=OPEN_PATHS),
            log=self._log,
        )

    def _own_series(self) -> Iterator[tuple[str, Rows]]:
        renewed = self._server.certificate_renewed
        if renewed is not None:
            yield "forewarn_certificate_reload_success", [((self.grid.node,), float(renewed))]
        expires = self._server.certificate_expires_at
        if expires is not None:
            yield "forewarn_certificate_expiry_timestamp_seconds", [((self.grid.node,), expires)]
        filler, node = self._filler, self.grid.node
        if filler is not None:
            yield (
                "forewarn_backfill_state",
                [((node, state), float(state is filler.state)) for state in Backfill],
            )
            yield "forewarn_backfill_steps", [((node,), float(filler.steps_read))]

    def _keep_house(self) -> None:
        asked = self._reload.is_set()
        self._reload.clear()
        self._shelf.look(again=asked)
        if self._path is not None and (self._watch.changed() or asked):
            self._reload_settings(self._path)
        give_back()

    def _reload_settings(self, path: Path) -> None:
        try:
            changed = files.load(path, Settings)
        except files.SettingsError as error:
            self.grid.settings_reloaded = False
            self._log.error("changed settings refused, the old ones stay", detail=str(error))
            return
        self.grid.settings_reloaded = True
        self.grid.declared = changed.gpus.declared()
        sections = (name for name in Settings.__struct_fields__ if name != "gpus")
        rest = [name for name in sections if _differ(self.settings, changed, name)]
        self._log.info("settings read again", needs_restart=rest)


def _differ(old: Settings, new: Settings, section: str) -> bool:
    return bool(getattr(old, section) != getattr(new, section))


def _shelf(
    settings: Settings, node: str, bundled: Path, trial: Trial, log: FilteringBoundLogger
) -> ModelShelf:
    directory = Path(settings.model.directory) if settings.model.directory else None
    expected = settings.model.node_expected
    return ModelShelf(
        directory, node, node_expected=expected, log=log, bundled=bundled, trial=trial
    )


def _window_path(settings: Settings) -> Path | None:
    if not settings.window.directory:
        return None
    return Path(settings.window.directory) / FILE_NAME
