"""The past, lived through again, is the past as it was lived."""

from __future__ import annotations

import io
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import requests

from daemon.clocks import Clock
from daemon.logs import logger
from daemon.prometheus import Prometheus
from exporter.backfill.filler import Backfill, Filler
from exporter.backfill.settings import BackfillSettings
from exporter.forecast.forecaster import Degraded
from exporter.readings import Place
from model import schema
from tests.exporter.grid.test_grid import STEP, Process
from tests.factories import artefact
from tests.factories.prometheus import FakePrometheus, gpu
from tests.factories.sources import ENERGY, INDICES, TEMPERATURE, A, B, Ticks, dcgm

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LOOKBACK = 40
WINDOW = 8


def celsius(wall: float) -> float:
    return 50.0 + wall % 7


def joules(wall: float) -> float:
    return 5.0e10 + wall


def page_at(wall: float) -> Any:
    values = {Place(ENERGY, uuid): joules(wall) for uuid in (A, B)}
    return dcgm({A: celsius(wall), B: celsius(wall)}, values=values)


def serve(server: FakePrometheus, uuids=(A, B), since: float = 0.0) -> None:
    for uuid in uuids:
        for metric, value in ((TEMPERATURE, celsius), (ENERGY, joules)):
            labels = gpu(f"forewarn_{metric}", uuid, INDICES[uuid])
            server.series.append((labels, lambda w, v=value: v(w) if w >= since else None))


class Node:
    """A cold process beside a filler."""

    def __init__(self, folder: Path, server: FakePrometheus, ticks: Ticks, **settings: Any) -> None:
        folder.mkdir(exist_ok=True)
        artefact.write(folder / "fleet.onnx", window_steps=WINDOW)
        self.log = io.StringIO()
        self.ticks = ticks
        self.stop = threading.Event()
        self.process = Process(folder, ticks, self.log)
        grid = self.process.grid
        told: dict[str, Any] = {
            "url": server.url,
            "lookback_seconds": LOOKBACK * STEP,
            "retry_seconds": 0.01,
            "steps_per_request": 16,
        }
        asked = BackfillSettings(**(told | settings))
        self.filler = Filler(
            "n1",
            asked,
            Prometheus(asked.access, requests.Session(), monotonic=time.monotonic, stop=self.stop),
            forecaster=grid._forecaster,
            shelf=grid._shelf,
            declared=lambda: grid.declared,
            is_cold=grid.is_cold,
            hand_over=grid.take_over,
            clock=Clock(ticks.wall, time.monotonic),
            log=logger("test", stream=self.log, style="json"),
        )

    def live(self, steps: int) -> None:
        for _ in range(steps):
            self.process.answer = page_at(self.ticks.now_wall)
            self.process.live(STEP)


@pytest.fixture
def ticks() -> Ticks:
    return Ticks()


@pytest.fixture
def node(tmp_path: Path, server: FakePrometheus, ticks: Ticks) -> Callable[..., Node]:
    return lambda name="node", **settings: Node(tmp_path / name, server, ticks, **settings)


def test_the_first_step_after_the_filling_predicts(node, server: FakePrometheus) -> None:
    serve(server)
    one = node()
    one.filler.run(one.stop)
    one.live(1)
    assert one.filler.state is Backfill.FILLED
    assert one.filler.steps_read == LOOKBACK
    assert one.process.steps() == LOOKBACK + 1
    assert one.process.grid.view().forecast.prediction is not None


def test_it_leaves_what_living_leaves(node, server: FakePrometheus) -> None:
    lived = node("lived")
    lived.live(LOOKBACK)
    serve(server)
    filled = node("filled")
    filled.filler.run(filled.stop)
    for one in (lived, filled):
        one.process.answer = page_at(one.ticks.now_wall)
        one.process.collector.collect()
        one.process.grid.due = one.ticks.monotonic()
        one.process.grid.step(one.ticks.monotonic())
    a, b = lived.process.saved(), filled.process.saved()
    np.testing.assert_array_equal(a.state, b.state)
    # The watch on the sources was never asked of this server.
    read = [row.origin is not schema.Origin.EXPORTER for row in schema.ON_A_NODE]
    np.testing.assert_array_equal(a.window.raw[:, :, read], b.window.raw[:, :, read])
    np.testing.assert_array_equal(a.window.before[:, read], b.window.before[:, read])
    names = [ENERGY, TEMPERATURE]
    np.testing.assert_array_equal(a.window.matrix(names), b.window.matrix(names))
    assert a.roster == b.roster


def test_a_gpu_that_was_lost_before_the_pod_came_is_missed(node, server: FakePrometheus) -> None:
    serve(server)
    one = node()
    one.filler.run(one.stop)
    one.process.answer = dcgm({A: 61.0})
    one.process.live(1)
    view = one.process.grid.view()
    assert view.snapshot.expected_count == 2
    assert Degraded.GPU_MISSING in view.forecast.degraded


def test_steps_lived_while_it_was_read_are_kept_in_their_order(
    node, server: FakePrometheus
) -> None:
    serve(server)
    one = node()
    past = one.filler.relive()
    one.live(3)
    one.process.grid.take_over(past)
    one.live(1)
    assert one.process.steps() == LOOKBACK + 3 + 1
    window = one.process.saved().window
    assert np.all(np.diff(window.walls) == STEP)
    assert not np.isnan(window.raw[:, :, 0]).any()


def test_a_hole_between_past_and_present_is_a_gap(node, server: FakePrometheus) -> None:
    serve(server)
    one = node()
    past = one.filler.relive()
    one.ticks.advance(3 * STEP)
    one.process.grid.due = one.ticks.monotonic()
    one.live(1)
    one.process.grid.take_over(past)
    one.live(1)
    assert one.process.steps() == LOOKBACK + 3 + 2


def test_a_history_that_begins_later_begins_cold(node, server: FakePrometheus, ticks) -> None:
    serve(server, since=ticks.now_wall - 10 * STEP)
    one = node()
    one.filler.run(one.stop)
    one.live(1)
    assert one.process.steps() == 10 + 1


def test_a_server_that_knows_nothing_changes_nothing(node, server: FakePrometheus) -> None:
    one = node()
    one.filler.run(one.stop)
    one.live(1)
    assert one.filler.state is Backfill.NOTHING_FOUND
    assert one.process.steps() == 1


def test_a_failure_hands_nothing_over_and_is_tried_again(node, server: FakePrometheus) -> None:
    serve(server)
    # Half of the past is not the past: the third request fails.
    failures = [3]

    def answer(_):
        failures[0] -= 1
        return (500, {}, b"internal") if failures[0] == 0 else None

    server.answer = answer
    one = node()
    one.filler.run(one.stop)
    assert "window not filled" in one.log.getvalue()
    assert one.filler.state is Backfill.FILLED
    one.live(1)
    assert one.process.steps() == LOOKBACK + 1


def test_it_gives_up_after_its_attempts(node, server: FakePrometheus) -> None:
    server.answer = lambda _: (500, {}, b"internal")
    one = node(attempts=2)
    one.filler.run(one.stop)
    assert one.filler.state is Backfill.FAILED
    assert len(server.asked) == 2
    one.live(1)
    assert one.process.steps() == 1


def test_a_warm_window_asks_for_nothing(node, server: FakePrometheus) -> None:
    one = node()
    one.live(WINDOW)
    one.filler.start(one.stop)
    assert one.filler.state is Backfill.NOT_NEEDED
    assert server.asked == []


def test_a_window_that_was_saved_long_ago_is_cold(node, server: FakePrometheus, ticks) -> None:
    one = node()
    one.live(WINDOW)
    ticks.advance(2 * WINDOW * STEP)
    assert one.process.grid.is_cold()


def test_a_limit_is_found_once_and_no_step_is_lost_or_taken_twice(
    node, server: FakePrometheus
) -> None:
    serve(server)
    limit = 9
    said = b'{"error":"exceeded maximum resolution"}'
    server.answer = lambda asked: (400, {}, said) if asked.points > limit else None
    one = node(steps_per_request=32)
    one.filler.run(one.stop)
    one.live(1)
    assert one.process.steps() == LOOKBACK + 1
    assert len(server.asked) <= 2 + LOOKBACK / 8


def test_a_server_that_takes_no_question_is_named(node, server: FakePrometheus) -> None:
    server.answer = lambda _: (400, {}, b'{"error":"exceeded maximum resolution"}')
    one = node(attempts=1)
    one.filler.run(one.stop)
    assert one.filler.state is Backfill.FAILED
    assert "too many for the server" in one.log.getvalue()


def test_a_stop_ends_it(node, server: FakePrometheus) -> None:
    one = node()
    one.stop.set()
    one.filler.run(one.stop)
    assert server.asked == []
    assert one.filler.state is Backfill.FAILED
