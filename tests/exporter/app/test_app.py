"""The whole exporter in one process, against a page on loopback."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.exporter.app.bench import PROBABILITY, FakeDcgm, eventually, get, page, series, state
from tests.factories import artefact

if TYPE_CHECKING:
    from pathlib import Path


def test_a_probability_appears_once_the_window_is_read(tmp_path: Path, run) -> None:
    artefact.write(tmp_path / "fleet.onnx")
    app = run()
    seen = eventually(lambda: series(app.port).get(PROBABILITY), "a probability")
    assert seen == pytest.approx(0.8)
    known = series(app.port)
    assert known['forewarn_gpu_temperature_celsius{gpu="1",node="n1",uuid="B"}'] == 80.0
    workload = 'workload_container="",workload_namespace="",workload_pod="train-1"'
    assert known[f'forewarn_gpu_workload_info{{gpu="1",node="n1",uuid="B",{workload}}}'] == 1


def test_a_source_that_dies_withdraws_the_probability(tmp_path: Path, run, dcgm: FakeDcgm) -> None:
    artefact.write(tmp_path / "fleet.onnx")
    app = run()
    eventually(lambda: series(app.port).get(PROBABILITY), "a probability")
    dcgm.answer = lambda: (500, "text/plain", b"internal server error\n")
    eventually(lambda: state(app.port) == "blind", "blind")
    assert PROBABILITY not in series(app.port)
    dcgm.answer = lambda: page(A=61.0, B=80.0)
    eventually(lambda: series(app.port).get(PROBABILITY), "recovery without a restart")


def test_the_page_answers_while_the_hardware_hangs(run, dcgm: FakeDcgm) -> None:
    release = threading.Event()

    def hang():
        release.wait(5)
        return page(A=61.0)

    dcgm.answer = hang
    app = run()
    try:
        for path in ("/metrics", "/healthz", "/readyz", "/"):
            began = time.monotonic()
            assert get(app.port, path)[0] == 200
            assert time.monotonic() - began < 1.0
        assert get(app.port, "/nowhere")[0] == 404
        up = 'forewarn_source_up{node="n1",source="dcgm"}'
        assert series(app.port)[up] == 0
    finally:
        release.set()
