"""kill -9 at any moment: the window is there, and no step is taken twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from exporter import store
from tests.exporter.app.bench import FakeDcgm, eventually, get, settings_text
from tests.factories import artefact

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.scenario

STEP_SECONDS = 0.2


def _start(config: Path, log: Path) -> tuple[subprocess.Popen[bytes], int]:
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "exporter", "--config", str(config)], stderr=out
        )

    def port() -> int:
        text = log.read_text(encoding="utf-8")
        return int(text.partition('"port": ')[2].partition(",")[0] or 0)

    return process, eventually(port, "the port in the log")


def _saved(folder: Path) -> store.Saved | None:
    return store.load(folder / store.FILE_NAME, node="n1", wall=float("inf"))


def test_a_killed_exporter_goes_on_from_its_last_step(tmp_path: Path, dcgm: FakeDcgm) -> None:
    artefact.write(tmp_path / "fleet.onnx")
    config = tmp_path / "exporter.yml"
    config.write_text(settings_text(dcgm.url, tmp_path, step_seconds=STEP_SECONDS), "utf-8")
    process, _ = _start(config, tmp_path / "first.log")
    eventually(lambda: (known := _saved(tmp_path)) and known.state[0, 0] >= 5, "five steps")
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    before = _saved(tmp_path)
    assert before is not None

    process, port = _start(config, tmp_path / "second.log")
    try:
        after = eventually(
            lambda: (known := _saved(tmp_path)) and known.saved_wall > before.saved_wall and known,
            "a step of the second process",
        )
        steps = after.state[0, 0] - before.state[0, 0]
        elapsed = after.window.last_wall - before.window.last_wall
        # One state step per grid step, those missed while it was dead included.
        assert steps == pytest.approx(elapsed / STEP_SECONDS, abs=1.0)
        assert after.roster.highest == 2
        assert get(port)[0] == 200
    finally:
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(15) == 0
    assert "exporter stopped" in (tmp_path / "second.log").read_text(encoding="utf-8")
