"""A real Prometheus gives a new pod its node's past."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import ExitStack
from typing import TYPE_CHECKING

import numpy as np
import pytest

from daemon.clocks import system_clock
from exporter import store
from exporter.window.window import CHANNELS
from tests.exporter.app.bench import (
    PROBABILITY,
    FakeDcgm,
    eventually,
    exporter,
    page,
    series,
    settings_text,
)
from tests.exporter.app.monitoring import Prometheus
from tests.factories import artefact

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from exporter.app import Exporter

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="prometheus is not installed"),
]
FILLED = 'forewarn_backfill_state{node="n1",state="filled"}'
STEPS = 'forewarn_backfill_steps{node="n1"}'
T = CHANNELS.index("gpu_temperature_celsius")
E = CHANNELS.index("gpu_energy_joules_total")


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def start(folder: Path, stack: ExitStack, *, step_seconds: float, more: str, **gpus) -> Exporter:
    folder.mkdir()
    artefact.write(folder / "fleet.onnx", window_steps=64)
    fake = FakeDcgm(lambda: page(**gpus))
    stack.callback(fake.close)
    text = settings_text(fake.url, folder, step_seconds=step_seconds, more=more)
    app = exporter(text, folder)
    app.start()
    stack.callback(app.stop)
    return app


def saved(folder: Path) -> store.Saved:
    known = store.load(folder / store.FILE_NAME, node="n1", wall=float("inf"))
    assert known is not None
    return known


def test_a_moved_pod_predicts_at_once_from_what_the_last_one_said(
    tmp_path: Path, stack: ExitStack
) -> None:
    before = start(tmp_path / "before", stack, step_seconds=0.5, more="", A=61.0, B=80.0)
    prometheus = Prometheus(tmp_path, {"forewarn": before.port})
    stack.callback(prometheus.close)
    read = "count_over_time(forewarn_gpu_temperature_celsius[90s])"
    eventually(
        lambda: (found := prometheus.query(read)) and found[0][1] >= 40, "20 s of history", 40.0
    )
    before.stop()
    # A GPU is lost while nobody looks: only the history still knows of it.
    more = (
        f"backfill: {{url: 'http://127.0.0.1:{prometheus.port}', lookback_seconds: 60,"
        " match: {job: forewarn-exporter}}\n"
    )
    after = start(tmp_path / "after", stack, step_seconds=0.5, more=more, B=80.0)
    eventually(lambda: series(after.port)[FILLED] == 1, "the filling", 10.0)
    assert series(after.port)[STEPS] >= 32
    # Half a window gathered from now on would take sixteen seconds.
    seen = eventually(lambda: series(after.port).get(PROBABILITY), "a probability", 6.0)
    assert seen == pytest.approx(0.8)
    assert series(after.port)['forewarn_gpus_expected{node="n1"}'] == 2
    eventually(lambda: saved(tmp_path / "after").state[0, 0] >= 32, "the saved state")


def test_what_was_stored_is_what_is_remembered(tmp_path: Path, stack: ExitStack) -> None:
    now = int(system_clock().wall())
    first, last = now - 600, now - 5
    lines = ["# TYPE forewarn_gpu_temperature_celsius gauge"]
    labels = '{node="n1",gpu="0",uuid="A",instance="10.0.0.%d:9477"}'
    # The pod, and with it the instance, changed in the middle, and 30 s are missing.
    for wall in [w for w in range(first, last) if not now - 60 <= w < now - 30]:
        own = labels % (1 if wall < now - 300 else 2)
        lines.append(f"forewarn_gpu_temperature_celsius{own} {40 + wall % 50} {wall}")
    lines.append("# TYPE forewarn_gpu_energy_joules counter")
    for wall in range(first, last):
        own = labels % (1 if wall < now - 300 else 2)
        lines.append(f"forewarn_gpu_energy_joules_total{own} {50_000_000_000 + wall % 1000} {wall}")
    (tmp_path / "history.om").write_text("\n".join([*lines, "# EOF", ""]))
    blocks = ["promtool", "tsdb", "create-blocks-from", "openmetrics"]
    whole = [*blocks, str(tmp_path / "history.om"), str(tmp_path / "tsdb")]
    subprocess.run(whole, check=True, capture_output=True)
    prometheus = Prometheus(tmp_path, {})
    stack.callback(prometheus.close)

    more = (
        f"backfill: {{url: 'http://127.0.0.1:{prometheus.port}', lookback_seconds: 700,"
        " steps_per_request: 100}\n"
    )
    app = start(tmp_path / "node", stack, step_seconds=1.0, more=more, A=61.0)
    eventually(lambda: series(app.port)[FILLED] == 1, "the filling")
    assert series(app.port)[STEPS] == pytest.approx(last - first, abs=1)
    eventually((tmp_path / "node" / store.FILE_NAME).exists, "a step")
    steps = eventually(
        lambda: (s := saved(tmp_path / "node").state[0, 0]) > 500 and s, "the next step"
    )
    assert steps == pytest.approx(600, abs=8)
    window = saved(tmp_path / "node").window
    stored = window.walls < last
    got = window.raw[stored][:, 0, E] - 50_000_000_000
    whole_seconds = np.floor(window.walls[stored])
    assert len(got) > 40
    np.testing.assert_array_equal(got, whole_seconds % 1000)
    hole = (window.walls >= now - 59) & (window.walls < now - 31)
    assert hole.sum() > 10
    assert np.isnan(window.raw[hole][:, 0, T]).all()
    around = (window.walls >= now - 29) & stored
    np.testing.assert_array_equal(
        window.raw[around][:, 0, T], 40 + np.floor(window.walls[around]) % 50
    )
