"""A real Prometheus scrapes exporters that read every recorded page and tree."""

from __future__ import annotations

import json
import shutil
import subprocess
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from exporter.readings import Reason
from tests.exporter.app.bench import FakeDcgm, eventually, exporter, get, page, settings_text
from tests.exporter.app.monitoring import Prometheus
from tests.exporter.redfish.fake_bmc import FakeBmc, recorded
from tests.factories import artefact

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="prometheus is not installed"),
]

DCGM_TARGET = "every-page"


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


class Bodies:
    """Answers with each recorded body in turn, then with the first again."""

    def __init__(self, folder: Path) -> None:
        self.entries = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        self._folder = folder
        self.served = 0

    def __call__(self) -> tuple[int, str, bytes]:
        entry = self.entries[self.served % len(self.entries)]
        self.served += 1
        body = (self._folder / entry["file"]).read_bytes()
        return entry["http_status"], entry["content_type"], body


def test_every_recorded_input_in_turn_gives_pages_that_prometheus_takes(
    tmp_path: Path, shared_data: Path, stack: ExitStack
) -> None:
    bodies = Bodies(shared_data / "dcgm")
    targets = {DCGM_TARGET: _start(tmp_path / "pages", stack, bodies, step_seconds=0.3)}
    trees = sorted(p.parent.parent for p in shared_data.glob("redfish/*/redfish/v1"))
    assert len(trees) > 10
    for tree in trees:
        bmc = FakeBmc(recorded(tree))
        stack.callback(bmc.close)
        more = f"bmc: {{url: '{bmc.url}', interval_seconds: 1}}\n"
        targets[tree.name] = _start(
            tmp_path / tree.name, stack, lambda: page(A=61.0), step_seconds=1.0, more=more
        )
    # Many exporters share this machine: a slow answer is not what is asked about here.
    prometheus = Prometheus(tmp_path, targets, interval="3s")
    stack.callback(prometheus.close)

    eventually(lambda: bodies.served > 2 * len(bodies.entries), "every page twice", 60.0)
    attempted = 'count(forewarn_source_scrape_duration_seconds{source="redfish"})'
    eventually(lambda: prometheus.query(attempted)[0][1] == len(trees), "every tree", 60.0)
    up = prometheus.query("min_over_time(up[5m])")
    assert {metric["read"] for metric, value in up if value == 1} == set(targets)

    errors = prometheus.query("forewarn_source_errors_total > 0")
    said = {(metric["read"], metric["reason"]) for metric, _ in errors}
    for reason in (Reason.HTTP_500, Reason.HTTP_503, Reason.LEGACY_NAMES, Reason.TRUNCATED):
        assert (DCGM_TARGET, reason) in said
    for name in ("ocp-cdu", "ocp-rack-pdu", "ocp-power-shelf", "powershelf-delta"):
        assert (name, Reason.FACILITY_TREE) in said
    assert not [pair for pair in said if pair[1] == Reason.UNEXPECTED]
    assert not prometheus.query("forewarn_inference_failures_total > 0")
    for name, port in targets.items():
        _lint(name, get(port)[1])


def _start(folder: Path, stack: ExitStack, answer, *, step_seconds: float, more: str = "") -> int:
    folder.mkdir()
    artefact.write(folder / "fleet.onnx")
    fake = FakeDcgm(answer)
    stack.callback(fake.close)
    text = settings_text(fake.url, folder, step_seconds=step_seconds, more=more)
    app = exporter(text, folder)
    app.start()
    stack.callback(app.stop)
    return app.port


def _lint(name: str, text: str) -> None:
    lint = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False
    )
    assert (lint.returncode, lint.stdout, lint.stderr) == (0, "", ""), (name, lint.stderr)
