"""The example in a real Alertmanager: who is told what, and with which credentials."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import requests
import yaml

if TYPE_CHECKING:
    from tests.monitoring.fixtures import Programs

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "alerts" / "alertmanager.example.yml"
TOKEN = "not-a-real-token"
pytestmark = pytest.mark.services

Post = tuple[str, dict[str, Any]]


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[Post]]]:
    """A webhook receiver on loopback: its address, and the posts it got (header, body)."""
    posts: list[Post] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            posts.append((self.headers.get("Authorization", ""), json.loads(body)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/api/v1/alerts", posts
    server.shutdown()
    server.server_close()
    thread.join()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.1)
    return condition()


def answers(url: str) -> bool:
    try:
        return requests.get(url, timeout=1).ok
    except requests.ConnectionError:
        return False


def aimed_at(url: str, folder: Path) -> Path:
    """Write a copy of the example that posts to `url` with a token of its own and waits less."""
    document = yaml.safe_load(EXAMPLE.read_text())
    (webhook,) = document["receivers"][1]["webhook_configs"]
    webhook["url"] = url
    (folder / "token").write_text(TOKEN)
    webhook["http_config"]["authorization"]["credentials_file"] = str(folder / "token")
    document["route"]["routes"][0]["group_interval"] = "2s"
    path = folder / "alertmanager.yml"
    path.write_text(yaml.safe_dump(document))
    return path


@pytest.fixture
def alertmanager(
    receiver: tuple[str, list[Post]], tmp_path: Path, monitoring_programs: Programs
) -> Iterator[str]:
    program = monitoring_programs.find("alertmanager")
    address = f"127.0.0.1:{free_port()}"
    process = subprocess.Popen(
        [
            program,
            f"--config.file={aimed_at(receiver[0], tmp_path)}",
            f"--storage.path={tmp_path / 'data'}",
            f"--web.listen-address={address}",
            "--cluster.listen-address=",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert wait_for(lambda: answers(f"http://{address}/-/ready"), 10)
        yield f"http://{address}/api/v2/alerts"
    finally:
        process.terminate()
        process.wait(10)


def alert(node: str, severity: str, **labels: str) -> dict[str, Any]:
    shared = {"alertname": "ForewarnNodeFailureLikely", "cluster": "example", "cause": "thermal"}
    return {"labels": {**shared, "node": node, "severity": severity, "horizon": "24h", **labels}}


def severities(posts: list[Post], node: str) -> set[str]:
    return {
        sent["labels"]["severity"]
        for _, body in posts
        if body["groupLabels"]["node"] == node
        for sent in body["alerts"]
    }


def test_the_webhook_gets_one_message_per_node_with_the_token_and_no_inhibited_warning(
    alertmanager: str, receiver: tuple[str, list[Post]]
) -> None:
    posts = receiver[1]
    fired = [
        alert("n1", "critical", remediation="migrate"),
        alert("n1", "warning", remediation="exclude"),
        alert("n2", "warning", remediation="exclude"),
        alert("n3", "warning"),  # no remediation label: for people only
    ]
    requests.post(alertmanager, json=fired, timeout=5).raise_for_status()
    assert wait_for(lambda: len(posts) >= 2, 10)

    assert {body["groupLabels"]["node"] for _, body in posts} == {"n1", "n2"}
    assert severities(posts, "n1") == {"critical"}
    assert severities(posts, "n2") == {"warning"}
    assert {header for header, _ in posts} == {f"Bearer {TOKEN}"}
    assert {body["truncatedAlerts"] for _, body in posts} == {0}
    assert {body["groupLabels"]["cluster"] for _, body in posts} == {"example"}


def test_the_end_of_an_alert_is_sent_too(
    alertmanager: str, receiver: tuple[str, list[Post]]
) -> None:
    posts = receiver[1]
    firing = alert("n1", "critical", remediation="migrate")
    requests.post(alertmanager, json=[firing], timeout=5).raise_for_status()
    assert wait_for(lambda: len(posts) == 1, 10)
    ended = {**firing, "startsAt": "2020-01-01T00:00:00Z", "endsAt": "2020-01-01T01:00:00Z"}
    requests.post(alertmanager, json=[ended], timeout=5).raise_for_status()
    assert wait_for(lambda: posts[-1][1]["status"] == "resolved", 10)
