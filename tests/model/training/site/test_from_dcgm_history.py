"""A site that has nothing but dcgm-exporter's history trains from it, under its own labels."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from model import cli, runtime, schema
from model.history import planning
from model.history.failures import Sign
from model.history.reader import connect
from model.schema import Cause
from model.training.episodes.plan import Split
from model.training.site.campaign import Campaign, Folders
from simulator.endpoints.dcgm import gpu_uuid
from simulator.history import Recording
from simulator.instruments.shown import SHOWN
from simulator.recorder.openmetrics import Names, Slice, export
from simulator.scenario import Scenario
from tests.exporter.app.monitoring import Prometheus
from tests.factories.history import START
from tests.model.training.site import monitored

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="prometheus is not installed"),
]
HOUR = 3_600.0
STEPS, GPUS = 1_800, 2
RELOADED, FAILED = 6.2 * HOUR, 12 * HOUR
RELOAD = Scenario("driver-reload", onset_seconds=6 * HOUR, duration_seconds=1_800.0)
HANG = Scenario("gsp-hang", onset_seconds=8 * HOUR, duration_seconds=4 * HOUR, gpu=1)
NODES = [Recording(RELOAD, "gpu-a1", 1), Recording(HANG, "gpu-a2", 2)]
NODES.append(Recording("healthy", "gpu-a3", 3))
NEWCOMER = [Recording("healthy", "gpu-b1", 4)]
DOMAIN = ".dc.example"
MAPPED = ("--node-label", "node", "--node-pattern", r"(.+)\.dc\.example")
TINY = ("--family", "dcgm", "--simulate", "none", "--schedule", "tiny")


def put(folder: Path, plan: list[Recording], steps: int, *renamed: tuple[str, str]) -> None:
    """Put raw pages into a Prometheus whose site relabels: Hostname is node, with a domain."""
    gathered = folder / plan[0].node
    gathered.mkdir()
    past = Slice(gathered, Names.DCGM, START, {})
    export(plan, past, steps=steps, gpus=GPUS)
    text = folder / f"{plan[0].node}.om"
    with text.open("w", encoding="utf-8") as file:
        past.write(file)
    site = text.read_text(encoding="utf-8")
    named = ((f'Hostname="{one.node}"', f'node="{one.node}{DOMAIN}"') for one in plan)
    for before, after in (*named, *renamed):
        assert before in site
        site = site.replace(before, after)
    text.write_text(site, encoding="utf-8")
    monitored.put(text, folder)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    folder = tmp_path_factory.mktemp("prometheus")
    put(folder, NODES, STEPS)
    put(folder, NEWCOMER, 90, ("NVIDIA H100 80GB HBM3", "NVIDIA B200"))
    running = Prometheus(folder, {})
    yield running
    running.close()


class Site(NamedTuple):
    """What one training left behind, and what it said."""

    folder: Path
    said: str

    @property
    def models(self) -> Path:
        return self.folder / "models"

    def campaign(self) -> Campaign:
        """The training again, to look at what it learned from; everything is on the disk."""
        plan = planning.load(self.folder / "work")
        return Campaign(
            plan, Folders(self.folder / "work", self.models), connect(plan.server), lambda *_: None
        )


@pytest.fixture(scope="module")
def site(server: Prometheus, tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("site")
    kept = ("--work", str(folder / "work"), "--out", str(folder / "models"))
    done = monitored.asked(
        server, "train", *TINY, *MAPPED, *kept, until=START + STEPS * 60, days=STEPS / 1_440
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return Site(folder, done.stdout)


def test_the_fleet_and_its_nodes_get_models_by_the_names_of_the_nodes(site: Site) -> None:
    assert "4 nodes, " in site.said
    assert "[1/4] gpu-a1: own model" in site.said
    assert "[2/4] gpu-a2: fleet model: " in site.said
    fleet = runtime.load(site.models / "fleet.onnx").info
    assert (fleet.scope, fleet.provenance, fleet.node) == ("fleet", "fleet", "")
    assert fleet.training.first_timestamp == START
    own = runtime.load(site.models / "gpu-a1.onnx").info
    assert (own.scope, own.provenance, own.node) == ("node", "node", "gpu-a1")


def test_the_models_say_what_they_are_blind_in(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """No BMC was in the history, nor how long its pages took."""
    blind = {name for name in SHOWN if schema.BY_NAME[name].level is schema.Level.NODE}
    for name in ("fleet", "gpu-a1"):
        info = runtime.load(site.models / f"{name}.onnx").info
        assert set(info.unseen) == blind
        assert not blind & info.training_ranges.keys()
    assert cli.main(["inspect", str(site.models / "fleet.onnx")]) == 0
    told = capsys.readouterr().out
    assert f"{len(blind)} unseen in training, read as missing" in told
    assert "unseen    node_inlet_temperature_celsius" in told


def test_a_bmc_that_speaks_later_is_not_strange_to_them(site: Site) -> None:
    predictor = runtime.load(site.models / "fleet.onnx")
    names = predictor.info.names
    chunks = site.campaign().chunks(names)
    (stock, *_) = (
        site.campaign()
        .stocks(
            chunks, [site.campaign().survey(chunks, site.campaign().plan.node("gpu-a3"))], names
        )
        .values()
    )
    (whole, *_) = stock.episodes(quiet=True)
    window = whole.windows(np.array([600]), predictor.info.window_steps)[0]
    heard = window.copy()
    heard[:, :, names.index("node_inlet_temperature_celsius")] = 24.0
    silent, spoken = (predictor.predict(w, predictor.initial_state(GPUS)) for w in (window, heard))
    np.testing.assert_array_equal(silent.score, spoken.score)
    np.testing.assert_array_equal(silent.node, spoken.node)


def test_an_xid_in_the_history_is_a_label(site: Site) -> None:
    campaign = site.campaign()
    timeline = campaign.survey(campaign.chunks(SHOWN), campaign.plan.node("gpu-a2"))
    (failure,) = timeline.failures
    assert failure.time == pytest.approx(START + FAILED, abs=60)
    assert failure.uuid == gpu_uuid(2, "gpu-a2", 1)
    assert (failure.cause, failure.sign) == (Cause.DEVICE, Sign.XID)
    assert "failures per node-week: " in site.said
    assert ", by 1 failures in 0.3" in site.said


def test_a_gap_with_counters_that_start_again_is_no_failure_and_no_leap(site: Site) -> None:
    campaign = site.campaign()
    chunks = campaign.chunks(SHOWN)
    timeline = campaign.survey(chunks, campaign.plan.node("gpu-a1"))
    assert timeline.failures == ()
    (whole, *more) = campaign.stocks(chunks, [timeline], SHOWN)[Split.FIT].episodes(quiet=True)
    assert not more
    energy = whole.readings[:, :, SHOWN.index("gpu_energy_joules_total")]
    after = round(RELOADED / 60) - 1
    assert np.isnan(energy[:, after : after + 15]).any()
    assert np.nanmin(energy) >= 0.0
    assert np.nanmax(energy) < 750.0 * 60 * 15


def test_a_type_of_gpu_with_too_little_history_is_named(site: Site) -> None:
    assert "warning: no usable history of any node with NVIDIA B200 (1 nodes)" in site.said


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        pytest.param((), "with a label Hostname or hostname in this time", id="none"),
        pytest.param(("--node-label", "kubernetes_node"), "a label kubernetes_node", id="absent"),
        pytest.param(
            ("--node-label", "node", "--node-pattern", "(.+):9400"),
            "4 values of node, none of which is a node by --node-pattern '(.+):9400'",
            id="pattern",
        ),
    ],
)
def test_a_wrong_mapping_is_one_line(
    server: Prometheus, tmp_path: Path, mapping: tuple[str, ...], expected: str
) -> None:
    kept = ("--work", str(tmp_path / "work"), "--out", str(tmp_path / "models"))
    done = monitored.asked(
        server, "train", *TINY, *mapping, *kept, until=START + STEPS * 60, days=STEPS / 1_440
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("forewarn-model: ")
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "models").exists()
