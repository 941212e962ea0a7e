"""The remediation process of the trial, on a compressed copy of its example settings."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simulator.demo import shipped
from simulator.demo.monitoring import CLUSTER_NAME
from simulator.demo.plan import OWN_NAMESPACE
from simulator.processes import free_port

if TYPE_CHECKING:
    from pathlib import Path

    from simulator.demo.monitoring import Monitoring
    from simulator.demo.plan import Plan
    from simulator.processes import Processes

NAME = "remediation"


@dataclass(frozen=True, slots=True)
class Hands:
    """Where remediation listens, and the token that lets Alertmanager in."""

    webhook_port: int
    status_port: int
    token_file: Path

    @property
    def webhook_url(self) -> str:
        """Where Alertmanager posts."""
        return f"http://127.0.0.1:{self.webhook_port}/api/v1/alerts"

    @property
    def status_url(self) -> str:
        """The page for people."""
        return f"http://127.0.0.1:{self.status_port}/"


def prepare(folder: Path) -> Hands:
    """Choose ports and make up a token."""
    token = folder / "webhook-token"
    token.touch(mode=0o600)
    token.write_text(secrets.token_urlsafe(24), encoding="utf-8")
    return Hands(free_port(), free_port(), token)


def start(
    hands: Hands, plan: Plan, site: Monitoring, kubeconfig: Path, processes: Processes
) -> None:
    """Start remediation in the mode of the plan and wait until it answers."""
    settings = shipped.compressed(
        "deploy/config/remediation.example.yml", plan.scale, _changes(hands, plan, site, kubeconfig)
    )
    path = shipped.write(plan.folder / "remediation.yml", settings)
    processes.start_module(NAME, "remediation", "--config", str(path))
    processes.wait_until_answers(NAME, f"{hands.status_url}healthz")


def _changes(hands: Hands, plan: Plan, site: Monitoring, kubeconfig: Path) -> dict[str, Any]:
    return {
        "cluster": CLUSTER_NAME,
        "webhook": {
            "host": "127.0.0.1",
            "port": hands.webhook_port,
            "token_file": str(hands.token_file),
        },
        "status": {
            "host": "127.0.0.1",
            "port": hands.status_port,
            "token_file": str(hands.token_file),
        },
        "alertmanager": {"url": site.alertmanager_url},
        "prometheus": {"url": site.prometheus_url},
        "kubernetes": {"kubeconfig": str(kubeconfig), "namespace": OWN_NAMESPACE},
        "policy": {"mode": plan.mode},
    }
