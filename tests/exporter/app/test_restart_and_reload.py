"""What an exporter keeps over a restart and picks up without one."""

from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING

import pytest

from tests.exporter.app.bench import (
    PROBABILITY,
    FakeDcgm,
    eventually,
    page,
    series,
    settings_text,
    state,
)
from tests.factories import artefact

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.scenario


def test_a_restart_finds_its_window_and_its_gpus(tmp_path: Path, run, dcgm: FakeDcgm) -> None:
    artefact.write(tmp_path / "fleet.onnx")
    first = run(step_seconds=0.2)
    eventually(lambda: series(first.port).get(PROBABILITY), "a probability")
    first.stop()
    dcgm.answer = lambda: page(A=61.0)
    second = run(step_seconds=0.2)
    fill = 'forewarn_window_fill_ratio{node="n1"}'
    # A cold window starts at an eighth and needs four steps for a probability.
    first_seen = eventually(lambda: series(second.port).get(fill), "the first step")
    assert first_seen >= 0.5
    assert series(second.port)[PROBABILITY] == pytest.approx(0.61)
    assert series(second.port)['forewarn_gpus_expected{node="n1"}'] == 2


def test_a_corrupt_window_is_said_once_and_the_start_is_cold(tmp_path: Path, run) -> None:
    (tmp_path / "window.bin").write_bytes(b"not a window")
    log = io.StringIO()
    app = run(log=log)
    assert log.getvalue().count("saved window refused") == 1
    saved = 'forewarn_window_save_success{node="n1"}'
    eventually(lambda: series(app.port)[saved] == 1, "the next save to succeed")


def test_a_planned_absence_is_read_without_a_restart(tmp_path: Path, run, dcgm: FakeDcgm) -> None:
    config = tmp_path / "exporter.yml"
    text = settings_text(dcgm.url, tmp_path)
    config.write_text(text, encoding="utf-8")
    app = run(path=config)
    expected = 'forewarn_gpus_expected{node="n1"}'
    missing = 'forewarn_prediction_degraded{node="n1",reason="gpu_missing"}'
    eventually(lambda: series(app.port).get(expected) == 2, "two GPUs")
    dcgm.answer = lambda: page(A=61.0)
    eventually(lambda: series(app.port)[missing] == 1, "the missing GPU")
    config.write_text(text + "gpus: {away: 7}\n", encoding="utf-8")
    reloaded = 'forewarn_settings_reload_success{node="n1"}'
    eventually(lambda: series(app.port)[reloaded] == 0, "the refusal")
    config.write_text(text + "gpus: {away: [B]}\n", encoding="utf-8")
    eventually(lambda: series(app.port)[missing] == 0, "the end of the signal")
    assert series(app.port)[reloaded] == 1
    assert series(app.port)[expected] == 1


def test_a_model_that_arrives_later_is_picked_up(tmp_path: Path, run) -> None:
    app = run()
    eventually(lambda: state(app.port) == "no_model", "no model")
    artefact.write(tmp_path / "new").replace(tmp_path / "fleet.onnx")
    seen = eventually(lambda: series(app.port).get(PROBABILITY), "a probability")
    assert seen == pytest.approx(0.8)


def test_each_interval_costs_one_request(run, dcgm: FakeDcgm) -> None:
    run(step_seconds=0.2)
    time.sleep(1.0)
    assert 3 <= dcgm.requests <= 7


def test_compressed_time_is_said_once(tmp_path: Path, run) -> None:
    artefact.write(tmp_path / "fleet.onnx")
    log = io.StringIO()
    app = run(log=log)
    eventually(lambda: series(app.port).get(PROBABILITY), "a probability")
    assert log.getvalue().count("time is compressed") == 1
