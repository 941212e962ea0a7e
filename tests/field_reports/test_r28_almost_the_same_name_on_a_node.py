"""R28: `node` is the name that Kubernetes knows, to the letter, and never the machine's own."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
import yaml
from prometheus_client import CollectorRegistry, generate_latest

from exporter.__main__ import main
from exporter.publish import Page
from exporter.settings import NODE_VARIABLE, Settings
from tests.exporter.page.test_page import Bench

DAEMONSET = Path(__file__).resolve().parents[2] / "deploy" / "exporter" / "daemonset.yaml"


@pytest.mark.parametrize(
    "name", ["aks-gpu-31415926-vmss00000Q", "ip-10-1-2-3.eu-central-1.compute.internal", "GPU-07"]
)
def test_r28_the_name_is_taken_to_the_letter(name: str) -> None:
    assert Settings().node_name({NODE_VARIABLE: name}) == name


def test_r28_without_a_name_it_does_not_start_under_the_machines_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(NODE_VARIABLE, raising=False)
    monkeypatch.setenv("HOSTNAME", socket.gethostname())
    assert main(["--check-config"]) == 2
    assert NODE_VARIABLE in capsys.readouterr().err


def test_r28_every_series_of_the_node_carries_that_one_name(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.grid.step(bench.ticks.monotonic())
    registry = CollectorRegistry()
    registry.register(Page(bench.grid.view, version="x"))
    lines = [
        line
        for line in generate_latest(registry).decode().splitlines()
        if not line.startswith(("#", "forewarn_build_info"))
    ]
    assert lines
    assert all('node="n1"' in line for line in lines)


def test_r28_the_pod_is_told_its_nodes_name_by_the_scheduler() -> None:
    pod = yaml.safe_load(DAEMONSET.read_text())["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    (told,) = (entry for entry in container["env"] if entry["name"] == NODE_VARIABLE)
    assert told["valueFrom"] == {"fieldRef": {"fieldPath": "spec.nodeName"}}
