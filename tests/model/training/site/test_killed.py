"""A training of a site that is killed, wherever it is, comes to the same models."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import onnx
import pytest

from model import runtime
from simulator.history import Recording
from simulator.scenario import Scenario
from tests.factories.history import SimulatedSite
from tests.factories.prometheus import FakePrometheus

STEPS = 1_900
HOUR = 3_600.0
STORM = Scenario("memory-storm", onset_seconds=4 * HOUR, duration_seconds=12 * HOUR, gpu=1)


@pytest.fixture(scope="module")
def server() -> Iterator[FakePrometheus]:
    site = SimulatedSite(
        [Recording("healthy", "a", 1), Recording(STORM, "b", 2), Recording("healthy", "c", 3)],
        STEPS,
    )
    fake = FakePrometheus(answer=site)
    fake.end = site.end  # type: ignore[attr-defined]
    yield fake
    fake.close()


def begin(server: FakePrometheus, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "model", "train", "--prometheus", server.url),
            *("--days", str(STEPS / 1_440), "--until", str(server.end)),  # type: ignore[attr-defined]
            *("--simulate", "none", "--schedule", "tiny", "--seed", "3"),
            *("--work", str(folder / "work"), "--out", str(folder / "models")),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def finished(process: subprocess.Popen[str]) -> str:
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 0, out
    return out


def kill_once(there: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Kill without a word as soon as something is there."""
    deadline = time.monotonic() + 500
    while not there() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert process.poll() is None, process.communicate()[0]
    process.send_signal(signal.SIGKILL)
    process.communicate()


def model_of(path: Path) -> tuple[bytes, object]:
    info = runtime.load(path).info
    graph = onnx.load(path).graph.SerializeToString(deterministic=True)
    return graph, msgspec.structs.replace(info, trained_timestamp=0.0)


def test_killed_anywhere_and_started_again_it_gives_the_same_models(
    server: FakePrometheus, tmp_path: Path
) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    whole.mkdir()
    broken.mkdir()
    assert "own model" in finished(begin(server, whole))
    history, models = broken / "work" / "history", broken / "models"

    kill_once(lambda: any(history.rglob("*.npz")), begin(server, broken))
    read = set(history.rglob("*.npz"))
    kill_once(lambda: len(list(history.rglob("*.npz"))) == 9 and _later(0.5), begin(server, broken))
    assert read <= set(history.rglob("*.npz"))
    assert not any(models.iterdir())
    kill_once((models / "fleet.onnx").exists, begin(server, broken))
    kill_once((models / "a.onnx").exists, begin(server, broken))
    fleet = (models / "fleet.onnx").read_bytes()

    said = finished(begin(server, broken))
    assert "done before, from this plan" in said
    assert (models / "fleet.onnx").read_bytes() == fleet
    names = sorted(path.name for path in (whole / "models").glob("*.onnx"))
    assert "fleet.onnx" in names
    assert names == sorted(path.name for path in models.glob("*.onnx"))
    for name in names:
        assert model_of(models / name) == model_of(whole / "models" / name), name

    asked = len(server.asked)
    assert finished(begin(server, broken)).count("own model") == said.count("own model")
    assert len(server.asked) == asked, "what is done needs no server"


def _later(seconds: float) -> bool:
    time.sleep(seconds)
    return True
