"""A real Prometheus beside the exporters of a test."""

from __future__ import annotations

import json
import socket
import subprocess
import urllib.parse
from typing import TYPE_CHECKING

from tests.exporter.app.bench import eventually, get

if TYPE_CHECKING:
    from pathlib import Path


class Prometheus:
    """One server that scrapes named targets, each within `interval`."""

    def __init__(self, folder: Path, targets: dict[str, int], *, interval: str = "500ms") -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        static = [
            {"targets": [f"127.0.0.1:{port}"], "labels": {"read": name}}
            for name, port in targets.items()
        ]
        job = {"job_name": "forewarn-exporter", "static_configs": static}
        config = {"global": {"scrape_interval": interval, "scrape_timeout": interval}}
        (folder / "prometheus.yml").write_text(json.dumps(config | {"scrape_configs": [job]}))
        self._process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'tsdb'}",
                f"--web.listen-address=127.0.0.1:{self.port}",
                "--log.level=error",
            ]
        )
        eventually(self._ready, "Prometheus is ready", 30.0)

    def _ready(self) -> bool:
        try:
            return get(self.port, "/-/ready")[0] == 200
        except OSError:
            return False

    def query(self, expression: str) -> list[tuple[dict[str, str], float]]:
        path = "/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        answer = json.loads(get(self.port, path)[1])
        assert answer["status"] == "success", answer
        return [(item["metric"], float(item["value"][1])) for item in answer["data"]["result"]]

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(20)
