"""A real Prometheus, filled with simulated history: train from it, then judge by it."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.logs import logger
from exporter.forecast.shelf import ModelShelf
from model import runtime
from simulator.history import Recording
from simulator.recorder.openmetrics import Names, Slice, export
from simulator.scenario import Scenario
from tests.exporter.app.monitoring import Prometheus
from tests.factories.history import START
from tests.model.training.site import monitored

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="prometheus is not installed"),
]
STEPS, GPUS = 1_800, 2
HOUR = 3_600.0
STORM = Scenario("memory-storm", onset_seconds=17 * HOUR, duration_seconds=10 * HOUR, gpu=1)
FAILED = START + 27 * HOUR
NODES = ["gpu-a1", "gpu-a2", "gpu-a3"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    folder = tmp_path_factory.mktemp("prometheus")
    plan = [Recording("healthy", NODES[0], 1), Recording(STORM, NODES[1], 2)]
    plan.append(Recording("healthy", NODES[2], 3))
    for names in Names:
        gathered = folder / names
        gathered.mkdir()
        past = Slice(gathered, names, START, {})
        export(plan, past, steps=STEPS, gpus=GPUS)
        text = folder / f"{names}.om"
        with text.open("w", encoding="utf-8") as file:
            past.write(file)
        monitored.put(text, folder)
    running = Prometheus(folder, {})
    yield running
    running.close()


def command(server: Prometheus, *line: str) -> str:
    done = monitored.asked(server, *line, until=START + STEPS * 60, days=STEPS / 1_440)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def test_a_site_trains_from_its_prometheus_and_exporters_find_the_models(
    server: Prometheus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = tmp_path / "models"
    said = command(
        server,
        "train",
        *("--simulate", "none", "--schedule", "tiny"),
        "--work",
        str(tmp_path / "work"),
        "--out",
        str(models),
    )
    assert "3 nodes, " in said
    assert "repair 1 h" in said
    assert "failures per node-week: 0.0267, by 0 failures in 0.4" in said
    assert "history from 2023-11-15 00:00 UTC to " in said
    assert "no variation in " in said
    assert said.count("own model") == 2
    assert "[2/3] gpu-a2: fleet model: " in said
    fleet = runtime.load(models / "fleet.onnx").info
    assert (fleet.scope, fleet.provenance, fleet.node) == ("fleet", "fleet", "")
    assert fleet.training.first_timestamp == START
    # The failure lies in the newest part, which judges; nothing of it sets the rate.
    assert fleet.base_rate is not None
    assert fleet.base_rate.origin.startswith("0 failures in 0.4")
    assert 0.02 < fleet.base_rate.total < 0.027
    own = runtime.load(models / "gpu-a1.onnx").info
    assert own.base_rate == fleet.base_rate
    assert (own.scope, own.provenance, own.node) == ("node", "node", "gpu-a1")
    assert own.evaluation.data == "the newest 6 h of gpu-a1"
    for node, provenance in (("gpu-a1", "node"), ("gpu-a2", "fleet"), ("elsewhere", "fleet")):
        shelf = ModelShelf(
            models, node, node_expected=False, log=logger("test", stream=io.StringIO())
        )
        shelf.look()
        assert shelf.in_force is not None
        assert shelf.in_force.predictor.info.provenance == provenance


@pytest.mark.parametrize(
    ("family", "sign"),
    # dcgm-exporter makes a new series of each code, and for a step the larger one is heard.
    [("forewarn", "xid"), ("dcgm", "remap_failed")],
)
def test_a_backtest_tells_what_was_seen_and_when(
    server: Prometheus, tmp_path: Path, family: str, sign: str
) -> None:
    listed, table = tmp_path / "list.csv", tmp_path / "table.json"
    listed.write_text(f"node,gpu,start,cause\ngpu-a2,1,{FAILED - 60:.0f},thermal\n")
    said = command(
        server,
        *("backtest", "model/bundled/fleet.onnx", "--family", family, "--nodes", "gpu-a[12]"),
        *("--incidents", str(listed), "--html", str(table.with_suffix(".html"))),
    )
    assert "2 nodes of a site, 1.25 days: 1 failures" in said
    assert f"failures by their first sign: {sign} 1" in said
    assert "isolation forest: not possible: " in said
    assert "DCGM health: warn or fail" in said
    assert "that the model takes for usual: 0.027; by 1 failures in 0.3264 " in said
    told = json.loads(table.read_text())
    assert told["failures"] == {"thermal": 1}
    assert "2 nodes of a site" in table.with_suffix(".html").read_text()
    assert told["events"] == 1
    assert told["field_failures_per_node_week"] == pytest.approx(1 / told["node_weeks"])
    for line in told["calibration"]:
        assert line["brier_of_always_healthy"] == pytest.approx(line["failing_ratio"])
    rivals = {one["name"]: one for one in told["rivals"]}
    assert rivals["static rules, full"]["detected"] == 1
    assert "PCA, T2 and Q" in dict(told["limits"])
    early = next(
        one for one in told["lines"] if (one["horizon"], one["threshold"]) == ("24h", 0.05)
    )
    assert early["detected"] == 1
