"""A runtime that is missing, broken or deadly costs the prediction and not the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.forecast import trial
from tests.exporter.app.bench import FakeDcgm, eventually, get, series, settings_text, state
from tests.exporter.app.process import ROOT, Running
from tests.factories import artefact

pytestmark = pytest.mark.scenario

TEMPERATURE = 'forewarn_gpu_temperature_celsius{gpu="0",node="n1",uuid="A"}'
REFUSED = 'forewarn_model_refusals_total{node="n1",reason="runtime"}'
RUNTIMES = {
    "missing": (
        'raise ModuleNotFoundError("No module named onnxruntime")',
        "onnxruntime cannot be used: ModuleNotFoundError: No module named onnxruntime",
    ),
    "broken": (
        'raise ImportError("libonnxruntime.so.1: cannot open shared object file")',
        "ImportError: libonnxruntime.so.1: cannot open shared object file",
    ),
    "of another make": ("", "module 'onnxruntime' has no attribute 'SessionOptions'"),
    "deadly at import": (
        "import os, signal; os.kill(os.getpid(), signal.SIGILL)",
        "a process that loaded it was ended by SIGILL",
    ),
}


@pytest.mark.parametrize("kind", RUNTIMES)
def test_the_page_is_served_and_names_the_reason(tmp_path: Path, dcgm: FakeDcgm, kind: str) -> None:
    body, said = RUNTIMES[kind]
    package = tmp_path / "site" / "onnxruntime"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(body, encoding="utf-8")
    artefact.write(tmp_path / "fleet.onnx")
    path = f"{package.parent}:{ROOT}"
    running = Running(settings_text(dcgm.url, tmp_path), tmp_path, environment={"PYTHONPATH": path})
    try:
        eventually(lambda: TEMPERATURE in series(running.port), "readings on the page")
        known = series(running.port)
        assert state(running.port) == "no_model"
        assert known['forewarn_model_reload_success{node="n1"}'] == 0
        assert known[REFUSED] == 2, "the fleet's and the one in the image"
        assert said in get(running.port, "/")[1].replace("&#x27;", "'")
        refusals = [line for line in running.said() if line["event"] == "model refused"]
        assert [line["reason"] for line in refusals] == ["runtime", "runtime"]
    finally:
        assert running.stop() == 0


def test_a_good_artefact_passes_its_trial_and_a_bad_one_is_judged_elsewhere(tmp_path: Path) -> None:
    assert trial.died(artefact.write(tmp_path / "good.onnx")) is None
    (tmp_path / "bad.onnx").write_bytes(b"no model")
    assert trial.died(tmp_path / "bad.onnx") is None


def test_a_load_that_does_not_come_back_is_given_up(tmp_path: Path) -> None:
    path = artefact.write(tmp_path / "good.onnx")
    assert trial.died(path, patience_seconds=0.001) == "did not come back within 0 s"
