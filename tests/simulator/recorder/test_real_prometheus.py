"""A slice of simulated history becomes the past of a real Prometheus."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator

import pytest
import requests

from simulator.cli import run
from simulator.history import record
from simulator.processes import Processes, free_port

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed"),
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="prometheus is not installed"),
]
START = 1_767_225_600
DAYS = "0.25"
NODE = "psu-ageing-000"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("prometheus")
    blocks, port = folder / "blocks", free_port()
    for names in ("forewarn", "dcgm"):
        text = folder / f"{names}.om"
        chosen = ["--scenario", "psu-ageing", "--each", "1", "--days", DAYS, "--gpus", "2"]
        assert run(["export", "--out", str(text), *chosen, "--names", names]) == 0
        subprocess.run(
            ["promtool", "tsdb", "create-blocks-from", "openmetrics", str(text), str(blocks)],
            check=True,
            capture_output=True,
        )
    (folder / "prometheus.yml").write_text("global: {}\n", encoding="utf-8")
    processes = Processes(folder)
    url = f"http://127.0.0.1:{port}"
    try:
        processes.start(
            "prometheus",
            [
                "prometheus",
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={blocks}",
                "--storage.tsdb.retention.time=100y",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
        )
        processes.wait_until_answers("prometheus", f"{url}/-/ready")
        yield url
    finally:
        processes.close()


def points(url: str, query: str) -> dict[int, float]:
    """Step → value of the one series that answers."""
    end = START + float(DAYS) * 86_400 - 60
    asked = {"query": query, "start": str(START), "end": str(end), "step": "60"}
    with requests.Session() as session:
        session.trust_env = False
        answer = session.get(f"{url}/api/v1/query_range", params=asked, timeout=20).json()
    assert answer["status"] == "success", answer
    (series,) = answer["data"]["result"]
    return {round((at - START) / 60): float(value) for at, value in series["values"]}


@pytest.mark.parametrize(
    ("channel", "query"),
    [
        ("gpu_power_watts", 'forewarn_gpu_power_watts{gpu="1"}'),
        ("gpu_energy_joules_total", 'forewarn_gpu_energy_joules_total{gpu="1"}'),
        (
            "node_power_supply_efficiency_ratio",
            f'forewarn_node_power_supply_efficiency_ratio{{node="{NODE}"}}',
        ),
        ("gpu_power_watts", 'DCGM_FI_DEV_POWER_USAGE{gpu="1"}'),
    ],
)
def test_every_reading_comes_back_from_prometheus(served: str, channel: str, query: str) -> None:
    steps = round(float(DAYS) * 1_440)
    history = record("psu-ageing", node=NODE, seed=7 * 1_000_003, steps=steps, gpus=2)
    wanted = history.values[1, :, history.channels.index(channel)]
    found = points(served, f"max(last_over_time({query}[59s]))")
    assert found == pytest.approx(
        {step: value for step, value in enumerate(wanted) if value == value}, rel=1e-6
    )
    assert len(found) > 100
