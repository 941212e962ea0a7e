"""Prometheus and Alertmanager of the trial: the shipped files, compressed, with its addresses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simulator.demo import shipped
from simulator.demo.plan import RACK
from simulator.processes import free_port

if TYPE_CHECKING:
    from pathlib import Path

    from simulator.demo.plan import Plan
    from simulator.demo.programs import Programs
    from simulator.processes import Processes

CLUSTER_NAME = "trial"
DOMAIN_LABEL = "forewarn.dev/rack"
LOOKBACK_SECONDS = 300.0
RESEND_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Monitoring:
    """Where the two answer, and where their files are."""

    prometheus_port: int
    alertmanager_port: int
    folder: Path

    @property
    def prometheus_url(self) -> str:
        """Prometheus' base address."""
        return f"http://127.0.0.1:{self.prometheus_port}"

    @property
    def alertmanager_url(self) -> str:
        """Alertmanager's base address."""
        return f"http://127.0.0.1:{self.alertmanager_port}"


def choose_ports(folder: Path) -> Monitoring:
    """Pick free ports for both."""
    return Monitoring(free_port(), free_port(), folder)


def write(
    site: Monitoring,
    plan: Plan,
    *,
    exporters: dict[str, int],
    remediation_port: int,
    webhook_url: str,
    token_file: Path,
) -> None:
    """Write both configurations and the rules into the trial's folder."""
    for path in sorted((shipped.CHECKOUT / "alerts").glob("*.rules.yml")):
        rules = shipped.compressed(f"alerts/{path.name}", plan.scale, {})
        shipped.write(site.folder / path.name, rules)
    shipped.write(
        site.folder / "prometheus.yml", _prometheus(site, plan, exporters, remediation_port)
    )
    shipped.write(site.folder / "alertmanager.yml", _alertmanager(plan, webhook_url, token_file))


def start(site: Monitoring, plan: Plan, programs: Programs, processes: Processes) -> None:
    """Start both and wait until they answer."""
    processes.start(
        "alertmanager",
        (
            programs.alertmanager,
            f"--config.file={site.folder / 'alertmanager.yml'}",
            f"--storage.path={site.folder / 'alertmanager'}",
            f"--web.listen-address=127.0.0.1:{site.alertmanager_port}",
            "--cluster.listen-address=",
        ),
    )
    processes.start(
        "prometheus",
        (
            programs.prometheus,
            f"--config.file={site.folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={site.folder / 'tsdb'}",
            f"--web.listen-address=127.0.0.1:{site.prometheus_port}",
            f"--query.lookback-delta={_milliseconds(LOOKBACK_SECONDS / plan.scale)}",
            f"--rules.alert.resend-delay={_milliseconds(RESEND_SECONDS / plan.scale)}",
        ),
    )
    processes.wait_until_answers("alertmanager", f"{site.alertmanager_url}/-/ready")
    processes.wait_until_answers("prometheus", f"{site.prometheus_url}/-/ready")


def _prometheus(
    site: Monitoring, plan: Plan, exporters: dict[str, int], remediation_port: int
) -> Any:
    document = shipped.compressed("alerts/prometheus.example.yml", plan.scale, {})
    domain = {"domain": f"{DOMAIN_LABEL}/{RACK}"}
    targets = {
        "forewarn-exporter": (list(exporters.values()), domain),
        "forewarn-remediation": ([remediation_port], {}),
    }
    # Nothing imitates cooling and power equipment here, so nobody is scraped for it.
    jobs = [job for job in document["scrape_configs"] if job["job_name"] in targets]
    for job in jobs:
        ports, labels = targets[job["job_name"]]
        for discovery in [key for key in job if key.endswith("_sd_configs")]:
            del job[discovery]
        job["static_configs"] = [
            {"targets": [f"127.0.0.1:{port}" for port in ports], "labels": labels}
        ]
    changes = {
        "scrape_configs": jobs,
        "global": {"external_labels": {"cluster": CLUSTER_NAME}},
        "rule_files": [str(site.folder / "*.rules.yml")],
        "alerting": {
            "alertmanagers": [
                {"static_configs": [{"targets": [f"127.0.0.1:{site.alertmanager_port}"]}]}
            ]
        },
    }
    return shipped.merged(document, changes)


def _alertmanager(plan: Plan, webhook_url: str, token_file: Path) -> Any:
    document = shipped.compressed("alerts/alertmanager.example.yml", plan.scale, {})
    for receiver in document["receivers"]:
        for webhook in receiver.get("webhook_configs", ()):
            webhook["url"] = webhook_url
            webhook["http_config"]["authorization"]["credentials_file"] = str(token_file)
    return document


def _milliseconds(seconds: float) -> str:
    return f"{max(1, round(seconds * 1_000))}ms"
