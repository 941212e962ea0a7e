"""The heartbeat: once per grid step take what is known, forecast, and save both.

The grid follows the monotonic clock, so that a wall clock that is set does
not open or close gaps; only a restart measures its gap by the wall clock.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from exporter import store
from exporter.forecast.forecaster import Forecast, Forecaster, Memory, Position, State, cold
from exporter.window import snapshot as snapshots
from exporter.window.roster import Roster

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from structlog.typing import FilteringBoundLogger

    from daemon.clocks import Clock
    from exporter.backfill.filler import Past
    from exporter.collectors import Collector, SourceStatus
    from exporter.forecast.shelf import InForce, ModelShelf
    from exporter.window.roster import Declared
    from exporter.window.snapshot import NodeSnapshot

RESTING = 0.2
UNSEEN_SECONDS = 900.0
"""Nobody watched for longer than this: a GPU may have come back since, and left otherwise."""
"""Seconds between looks at whether the sources have been asked for the first time."""


@dataclass(frozen=True, slots=True)
class View:
    """All that the page shows, as of one moment; `forecast` is withdrawn once it is too old."""

    node: str
    snapshot: NodeSnapshot
    forecast: Forecast
    shelf: ModelShelf
    in_force: InForce | None
    inference_seconds: float | None
    inference_failures: int
    window_saved: bool | None
    settings_reloaded: bool


class Grid:
    """Owns the memory of the node and advances it; one thread, everyone else reads a `View`.

    `housekeeping` is called between steps, to look for changed files.
    """

    def __init__(
        self,
        node: str,
        *,
        forecaster: Forecaster,
        collectors: Sequence[Collector],
        shelf: ModelShelf,
        declared: Declared,
        path: Path | None,
        check_interval_seconds: float,
        clock: Clock,
        log: FilteringBoundLogger,
    ) -> None:
        self.node = node
        self.declared = declared
        self.settings_reloaded = True
        self.housekeeping: Callable[[], None] = lambda: None
        self._forecaster = forecaster
        self._collectors = tuple(collectors)
        self._shelf = shelf
        self._path = path
        self._check_interval_seconds = check_interval_seconds
        self._clock = clock
        self._log = log
        self._memory = cold()
        self._roster = Roster()
        self._forecast: Forecast | None = None
        self.due = clock.monotonic()
        self._skipped = 0
        self._inference_seconds: float | None = None
        self._inference_failures = 0
        self._saved: bool | None = None
        self._beat = clock.monotonic()
        self._thread: threading.Thread | None = None
        self._past: Past | None = None

    def start(self, stop: threading.Event) -> None:
        """Run in the background until `stop`."""
        self._thread = threading.Thread(target=self.run, args=(stop,), name="grid", daemon=True)
        self._thread.start()

    def join(self, timeout_seconds: float) -> None:
        """Wait for the step in progress; the window is saved after each."""
        if self._thread is not None:
            self._thread.join(timeout_seconds)

    def run(self, stop: threading.Event) -> None:
        """Advance at every due step, keep house in between."""
        while not stop.is_set() and not all(s.attempted for s in self._statuses()):
            self._beat = self._clock.monotonic()
            stop.wait(RESTING)
        while not stop.is_set():
            now = self._beat = self._clock.monotonic()
            self.housekeeping()
            if now >= self.due:
                self._guarded_step(now)
            pause = min(self.due - self._clock.monotonic(), self._check_interval_seconds)
            stop.wait(max(0.0, pause))

    def alive(self, limit_seconds: float) -> bool:
        """Tell whether the heartbeat was heard within `limit_seconds`."""
        return self._clock.monotonic() - self._beat <= limit_seconds

    def is_cold(self) -> bool:
        """Tell whether too little of the window was read lately for a probability."""
        window = self._memory.window
        since = self._clock.wall() - window.steps * self._forecaster.step_seconds
        return window.fill_ratio_since(since) < self._forecaster.minimum_fill_ratio

    def take_over(self, past: Past) -> None:
        """Take what happened before this process into the memory, at the next step."""
        self._past = past

    def step(self, now: float) -> None:
        """Take the step that is due at `now` (monotonic seconds) and save what it led to."""
        late = max(0, int((now - self.due) // self._forecaster.step_seconds))
        self._remember(late)
        skipped = self._skipped + late
        self.due += (late + 1) * self._forecaster.step_seconds
        self._skipped = 0
        statuses = self._statuses()
        present = snapshots.seen(statuses, now)
        if present is not None:
            self._roster = self._roster.saw(present, snapshots.departures(statuses))
        snapshot = self._snapshot(statuses, now)
        position = Position(now, self._clock.wall(), skipped)
        started = self._clock.monotonic()
        self._memory, self._forecast = self._forecaster.advance(
            self._memory, snapshot, self._shelf.in_force, position
        )
        self._inference_seconds = self._clock.monotonic() - started
        self.save()

    def view(self) -> View:
        """Return what is known at this moment."""
        now = self._clock.monotonic()
        return View(
            node=self.node,
            snapshot=self._snapshot(self._statuses(), now),
            forecast=self._current(now),
            shelf=self._shelf,
            in_force=self._shelf.in_force,
            inference_seconds=self._inference_seconds,
            inference_failures=self._inference_failures,
            window_saved=self._saved,
            settings_reloaded=self.settings_reloaded,
        )

    def save(self) -> None:
        """Write window and state; a failure is said once and shown until it is over."""
        if self._path is None:
            return
        try:
            store.save(self._path, self._to_save())
        except OSError as error:
            if self._saved is not False:
                self._log.error("window not saved", path=str(self._path), detail=str(error))
            self._saved = False
        else:
            self._saved = True

    def restore(self) -> None:
        """Take over what an earlier process saved, and place the next step after it."""
        if self._path is None:
            return
        wall = self._clock.wall()
        try:
            saved = store.load(self._path, node=self.node, wall=wall)
        except store.StoreRefused as refusal:
            self._saved = False
            self._log.error("saved window refused, starting cold", detail=str(refusal))
            return
        if saved is None:
            return
        away = wall - saved.saved_wall > UNSEEN_SECONDS
        self._roster = saved.roster.forgetting_departures() if away else saved.roster
        if saved.step_seconds != self._forecaster.step_seconds:
            self._log.warning(
                "saved window has another step, starting cold", step_seconds=saved.step_seconds
            )
            return
        self._memory = Memory(saved.window, saved.state, saved.model_digest, saved.drift)
        self._resume(saved.window.last_wall, wall)

    def _remember(self, late: int) -> None:
        past, self._past = self._past, None
        if past is None:
            return
        self._roster = past.roster.followed_by(self._roster)
        expected = self._roster.expected(self.declared)
        in_force = self._shelf.in_force
        self._memory = self._forecaster.join(past.memory, self._memory, expected, in_force)
        since = self._clock.wall() - self._memory.window.last_wall
        # What a restored window was going to be told of the gap before this process is void.
        self._skipped = max(0, round(since / self._forecaster.step_seconds) - 1 - late)

    def _resume(self, last_wall: float, wall: float) -> None:
        step = self._forecaster.step_seconds
        if math.isnan(last_wall):
            return
        elapsed = max(0.0, wall - last_wall)
        passed = int(elapsed // step)
        # Within the step that was already taken, the next one waits for its
        # time; later, one is due at once, after those that were missed.
        self.due = self._clock.monotonic() + (0.0 if passed else step - elapsed)
        self._skipped = max(0, passed - 1)
        self._log.info("window restored", gap_seconds=round(elapsed), missed_steps=self._skipped)

    def _guarded_step(self, now: float) -> None:
        try:
            self.step(now)
        except Exception as error:  # noqa: BLE001 - the frame of the grid: a model must not end it
            self._inference_failures += 1
            self._log.error("grid step failed", exc_info=error)

    def _statuses(self) -> tuple[SourceStatus, ...]:
        return tuple(collector.status() for collector in self._collectors)

    def _snapshot(self, statuses: tuple[SourceStatus, ...], now: float) -> NodeSnapshot:
        return snapshots.take(
            statuses,
            now,
            expected=self._roster.expected(self.declared),
            expected_count=self._roster.expected_count(self.declared),
            installed_count=self._roster.installed_count(self.declared),
            departed=self._roster.departed,
        )

    def _current(self, now: float) -> Forecast:
        known = self._forecast
        if known is None:
            waiting = State.WARMING_UP if self._shelf.in_force else None
            return Forecast(state=waiting or State.NO_MODEL)
        if known.is_fresh(now):
            return known
        return replace(known, state=State.BLIND, prediction=None)

    def _to_save(self) -> store.Saved:
        rows = len(self._memory.window.uuids)
        state = self._memory.state if len(self._memory.state) == rows else np.zeros((rows, 0))
        return store.Saved(
            node=self.node,
            step_seconds=self._forecaster.step_seconds,
            saved_wall=self._clock.wall(),
            window=self._memory.window,
            roster=self._roster,
            model_digest=self._memory.model_digest,
            state=state.astype(np.float32),
            drift=self._memory.drift,
        )
