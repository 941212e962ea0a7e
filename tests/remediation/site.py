"""One site for a story: a cluster, its monitoring, and remediation between them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import requests
import yaml
from kubernetes import client

from daemon.clocks import system_clock
from daemon.logs import logger
from daemon.settings import load
from remediation.app import App
from remediation.policy.facts.ledger import Ledger, decode
from remediation.policy.facts.mark import EPISODE_ANNOTATION
from remediation.policy.facts.node import RISK_LABEL, RISK_TAINT
from remediation.settings import Settings
from tests.remediation.monitoring import Monitoring, a_post

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TOKEN = "let-me-in"
WAIT_SECONDS = 60.0
SOON_BACK = {
    "soak_seconds": 0.3,
    "interval_seconds": 0.1,
    "jitter_seconds": 0,
    "quiet_probation_seconds": 0.3,
}


@dataclass
class Site:
    """`id` keeps this story's nodes and objects apart from those of others in one cluster."""

    api: client.ApiClient
    kubeconfig: Path
    folder: Path
    monitoring: Monitoring
    add_machine: Callable[[str, dict[str, str]], None]
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:8])

    def __post_init__(self) -> None:
        self.core = client.CoreV1Api(self.api)
        self.core.create_namespace({"metadata": {"name": self.namespace}})
        (self.folder / "token").write_text(TOKEN, "utf-8")

    @property
    def namespace(self) -> str:
        return f"s-{self.id}"

    def add_nodes(self, count: int) -> list[str]:
        names = [f"n{number}-{self.id}" for number in range(count)]
        for name in names:
            self.add_machine(name, {"story": self.id})
        eventually(lambda: all(self.core.read_node(name).spec.taints is None for name in names))
        return names

    def settings(self, **changes: Any) -> Path:
        """Write a settings file with short waits; `changes` are merged into its sections."""
        document: dict[str, Any] = {
            "webhook": {"host": "127.0.0.1", "port": 0, "token_file": str(self.folder / "token")},
            "status": {"host": "127.0.0.1", "port": 0, "token_file": str(self.folder / "token")},
            "alertmanager": {"url": self.monitoring.url},
            "prometheus": {"url": self.monitoring.url},
            "kubernetes": {
                "kubeconfig": str(self.kubeconfig),
                "namespace": self.namespace,
                "request_timeout_seconds": 1,
            },
            "lease": {"duration_seconds": 3, "retry_seconds": 0.2},
            "pool": {"selector": f"story={self.id}"},
            "pace": {"tick_seconds": 0.1, "poll_seconds": 0.5},
            "policy": {
                "mode": "exclude",
                "limits": {"unavailable_percent": 100, "domains": []},
                "release": SOON_BACK,
            },
        }
        for section, fields in changes.items():
            document[section] = {**document.get(section, {}), **fields}
        # Nobody measures heat here, unless a story does.
        document["policy"].setdefault("targets", [])
        path = self.folder / f"{uuid.uuid4().hex[:6]}.yml"
        path.write_text(yaml.safe_dump(document), "utf-8")
        return path

    def run(self, **changes: Any) -> Running:
        """Run remediation inside this process."""
        return Running(self.settings(**changes))

    def node(self, name: str) -> Any:
        return self.core.read_node(name)

    def cordoned(self) -> list[str]:
        nodes = self.core.list_node(label_selector=f"story={self.id}").items
        return sorted(node.metadata.name for node in nodes if node.spec.unschedulable)

    def mark(self, name: str) -> dict[str, Any] | None:
        text = (self.node(name).metadata.annotations or {}).get(EPISODE_ANNOTATION)
        return None if text is None else json.loads(text)

    def our_taints(self, name: str) -> list[str]:
        taints = self.node(name).spec.taints or ()
        return [taint.effect for taint in taints if taint.key == RISK_TAINT]

    def risk(self, name: str) -> str | None:
        risk: str | None = (self.node(name).metadata.labels or {}).get(RISK_LABEL)
        return risk

    def ledger(self) -> Ledger:
        found = self.core.read_namespaced_config_map("forewarn-ledger", self.namespace)
        return decode(found.data["ledger.json"])

    def events(self, node: str) -> list[str]:
        found = self.core.list_namespaced_event(
            "default", field_selector=f"involvedObject.name={node}"
        )
        return [event.reason for event in found.items if event.reason.startswith("AtRisk")]


class Running:
    """Remediation in this process, as a context."""

    def __init__(self, path: Path) -> None:
        self.lines = io.StringIO()
        log = logger("remediation", style="json", stream=self.lines)  # type: ignore[arg-type]
        self.died: list[bool] = []
        self.path = path
        self.app = App(
            load(path, Settings),
            path=path,
            clock=system_clock(),
            log=log,
            die=lambda: self.died.append(True),
        )

    def __enter__(self) -> Self:
        self.app.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.app.close()
        assert not self.died

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines.getvalue().splitlines()]

    def post(
        self, *alerts: dict[str, str], status: str = "firing", token: str = TOKEN
    ) -> requests.Response:
        return requests.post(
            f"http://127.0.0.1:{self.app.webhook_port}/api/v1/alerts",
            json=a_post(*alerts, status=status),
            headers={"Authorization": f"Bearer {token}"},
            timeout=5,
        )

    def get(self, path: str) -> requests.Response:
        return requests.get(f"http://127.0.0.1:{self.app.status_port}{path}", timeout=5)

    def order(self, path: str, **fields: str) -> requests.Response:
        return requests.post(
            f"http://127.0.0.1:{self.app.status_port}{path}",
            json=fields,
            headers={"Authorization": f"Bearer {TOKEN}"},
            timeout=5,
        )

    def metric(self, name: str, **labels: str) -> float:
        return self.app.registry.get_sample_value(f"forewarn_remediation_{name}", labels) or 0.0

    def reasons(self) -> dict[str, str]:
        """The refusal of every episode, by node."""
        episodes = self.get("/api/v1/episodes").json()["episodes"]
        return {one["node"]: (one["refusal"] or {}).get("reason", "") for one in episodes}


class Process:
    """Remediation as a process of its own, to be killed."""

    def __init__(self, path: Path) -> None:
        self.log_path = path.with_suffix(f".{uuid.uuid4().hex[:6]}.log")
        with self.log_path.open("wb") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "remediation", "--config", str(path)], stderr=out
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """End it as a power cut would."""
        self._process.kill()
        self._process.wait(10)

    def done(self, decision: str) -> int:
        """Count the audit lines of one decision in this process's log."""
        lines = self.log_path.read_text("utf-8").splitlines()
        return sum(json.loads(line).get("decision") == decision for line in lines)


def eventually(holds: Callable[[], Any], seconds: float = WAIT_SECONDS) -> Any:
    """Wait until `holds` is true and return what it said."""
    end = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
    return found
