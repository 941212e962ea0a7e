"""Every panel on cooling and power equipment has data in a real Prometheus.

The equipment is imitated: a small CDU with a wet detector, and the recorded
shapes of a rack PDU and a power shelf.
"""

from __future__ import annotations

import io
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests
import yaml

from daemon.logs import logger
from daemon.settings import load
from dashboards.queries import panel_queries
from exporter.facility.app import FacilityExporter
from exporter.facility.settings import FacilitySettings
from simulator.processes import Processes, free_port
from tests.exporter.facility.small_cdu import DETECTOR, small_cdu
from tests.exporter.redfish.fake_bmc import FakeBmc, recorded

pytestmark = [pytest.mark.scenario, pytest.mark.services]
PATIENCE_SECONDS = 30.0


@pytest.fixture
def prometheus_url(shared_data: Path, tmp_path: Path) -> Iterator[str]:
    """A Prometheus that scrapes a facility exporter that reads the equipment."""
    wet = small_cdu()
    wet[DETECTOR] = {**wet[DETECTOR], "DetectorState": "Critical"}
    trees = {
        "cdu-1": wet,
        "pdu-1": recorded(shared_data / "redfish" / "ocp-rack-pdu"),
        "shelf-1": recorded(shared_data / "redfish" / "powershelf-delta"),
    }
    with ExitStack() as stack:
        urls = {}
        for name, documents in trees.items():
            bmc = FakeBmc(documents)
            stack.callback(bmc.close)
            urls[name] = bmc.url
        exporter = started(urls, tmp_path)
        stack.callback(exporter.stop)
        processes = stack.enter_context(Processes(tmp_path / "logs"))
        yield scraping(exporter.port, processes, tmp_path)


def started(urls: dict[str, str], folder: Path) -> FacilityExporter:
    targets = [
        {"equipment": name, "url": url, "racks": ["r1"], "interval_seconds": 0.2}
        for name, url in urls.items()
    ]
    path = folder / "facility.yml"
    document = {
        "listen": {"host": "127.0.0.1", "port": 0},
        "targets": targets,
        "racks": {"r1": ["n1"]},
    }
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    log = logger("test", stream=io.StringIO())
    exporter = FacilityExporter(load(path, FacilitySettings), log=log, version="1", path=path)
    exporter.start()
    return exporter


def scraping(port: int, processes: Processes, folder: Path) -> str:
    own = free_port()
    job = {"job_name": "facility", "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
    path = folder / "prometheus.yml"
    path.write_text(
        yaml.safe_dump({"global": {"scrape_interval": "500ms"}, "scrape_configs": [job]}),
        encoding="utf-8",
    )
    processes.start(
        "prometheus",
        (
            str(shutil.which("prometheus")),
            f"--config.file={path}",
            f"--storage.tsdb.path={folder / 'tsdb'}",
            f"--web.listen-address=127.0.0.1:{own}",
        ),
    )
    url = f"http://127.0.0.1:{own}"
    processes.wait_until_answers("prometheus", f"{url}/-/ready")
    return url


def test_every_panel_on_equipment_has_data(prometheus_url: str) -> None:
    waiting = {each.expr for each in panel_queries() if "forewarn_facility_" in each.expr}
    assert waiting
    deadline = time.monotonic() + PATIENCE_SECONDS
    while waiting and time.monotonic() < deadline:
        waiting = {expr for expr in waiting if not answered(prometheus_url, expr)}
        time.sleep(0.5)
    assert not waiting, "panels without data"


def answered(url: str, expr: str) -> bool:
    answer = requests.get(f"{url}/api/v1/query", params={"query": expr}, timeout=10)
    assert answer.ok, f"{expr}: {answer.text}"
    return bool(answer.json()["data"]["result"])
