"""The heartbeat keeps to the monotonic clock, and a restart to what was saved."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
import pytest

from daemon.clocks import Clock
from daemon.logs import logger
from exporter.collectors import Collector, Pace
from exporter.forecast.forecaster import Forecaster, State
from exporter.forecast.shelf import ModelShelf
from exporter.grid import Grid
from exporter.store import FILE_NAME, load
from exporter.window.roster import Declared
from tests.factories import artefact
from tests.factories.sources import A, B, Scripted, Ticks, dcgm

if TYPE_CHECKING:
    from pathlib import Path

    from exporter.readings import SourceReadings
    from exporter.store import Saved

STEP = 60.0


class Process:
    """One life of an exporter's grid on `folder`, in a test's own time."""

    def __init__(
        self, folder: Path, ticks: Ticks, log: io.StringIO, *, step_seconds: float = STEP
    ) -> None:
        self.ticks = ticks
        self.folder = folder
        self.answer: SourceReadings = dcgm({A: 61.0, B: 62.0})
        clock = Clock(ticks.wall, ticks.monotonic)
        out = logger("test", stream=log, style="json")
        shelf = ModelShelf(folder, "n1", node_expected=False, log=out, bundled=folder / "none")
        shelf.look()
        self.collector = Collector(
            Scripted(lambda _: self.answer), Pace(30.0, 12.0, 5, 300.0), clock=clock, log=out
        )
        self.grid = Grid(
            "n1",
            forecaster=Forecaster(
                step_seconds=step_seconds, minimum_fill_ratio=0.25, bmc_configured=False
            ),
            collectors=[self.collector],
            shelf=shelf,
            declared=Declared(),
            path=folder / FILE_NAME,
            check_interval_seconds=10.0,
            clock=clock,
            log=out,
        )
        self.grid.restore()

    def live(self, seconds: float) -> None:
        """Live through some time, a look at the clock every second."""
        for _ in range(round(seconds)):
            now = self.ticks.monotonic()
            if now >= self.grid.due:
                self.collector.collect()
                self.grid.step(now)
            self.ticks.advance(1.0)

    def saved(self) -> Saved:
        known = load(self.folder / FILE_NAME, node="n1", wall=float("inf"))
        assert known is not None
        return known

    def steps(self) -> int:
        return int(self.saved().state[0, 0])


@pytest.fixture
def ticks() -> Ticks:
    return Ticks()


@pytest.fixture
def log() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def first(tmp_path: Path, ticks: Ticks, log: io.StringIO) -> Process:
    artefact.write(tmp_path / "fleet.onnx")
    return Process(tmp_path, ticks, log)


def test_one_step_is_taken_a_minute(first: Process) -> None:
    first.live(5 * STEP)
    assert first.steps() == 5


def test_a_step_that_comes_late_replays_what_it_missed(first: Process, ticks: Ticks) -> None:
    first.live(4 * STEP)
    ticks.advance(3 * STEP)
    first.live(1)
    assert first.steps() == 4 + 3 + 1
    temperatures = first.saved().window.matrix(["gpu_temperature_celsius"])[0, -5:, 0]
    np.testing.assert_array_equal(temperatures, np.float32([61, np.nan, np.nan, np.nan, 61]))


@pytest.mark.parametrize("hours", [6, -6])
def test_a_wall_clock_that_jumps_opens_no_gap(first: Process, ticks: Ticks, hours: int) -> None:
    first.live(3 * STEP)
    ticks.now_wall += hours * 3600
    first.live(3 * STEP)
    assert first.steps() == 6
    assert first.saved().window.fill_ratio(6) == 1.0
    assert first.grid.view().forecast.prediction is not None


@pytest.mark.parametrize(("away_seconds", "missed"), [(2, 0), (61, 0), (125, 1), (610, 9)])
def test_a_restart_takes_every_step_once(
    first: Process, tmp_path: Path, ticks: Ticks, log: io.StringIO, away_seconds: int, missed: int
) -> None:
    first.live(4 * STEP + 1)
    assert first.steps() == 5
    ticks.advance(away_seconds)
    ticks.now_monotonic = 50.0
    second = Process(tmp_path, ticks, log)
    second.live(STEP)
    assert second.steps() == 5 + missed + 1


def test_a_restart_within_a_step_waits_for_the_next(
    first: Process, tmp_path: Path, ticks: Ticks, log: io.StringIO
) -> None:
    first.live(4 * STEP + 20)
    second = Process(tmp_path, ticks, log)
    assert second.grid.due - ticks.monotonic() == pytest.approx(STEP - 20)
    assert second.grid.view().forecast.state is State.WARMING_UP


def test_a_window_of_another_step_is_not_used_but_its_gpus_are(
    first: Process, tmp_path: Path, ticks: Ticks, log: io.StringIO
) -> None:
    first.live(4 * STEP)
    second = Process(tmp_path, ticks, log, step_seconds=30.0)
    second.answer = dcgm({A: 61.0})
    second.live(1)
    assert second.steps() == 1
    assert second.grid.view().snapshot.expected_count == 2
    assert "another step" in log.getvalue()


def test_a_folder_that_cannot_be_written_is_said_once_and_costs_nothing_else(
    first: Process, log: io.StringIO
) -> None:
    (first.folder / "window.tmp").mkdir()
    first.live(4 * STEP)
    view = first.grid.view()
    assert view.window_saved is False
    assert view.forecast.prediction is not None
    assert log.getvalue().count("window not saved") == 1
