"""Which metrics exist, with which labels: what the services publish and the rules record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from prometheus_client import CollectorRegistry

from exporter.page import catalog as exporter_catalog
from remediation.catalog import Catalog
from tests.contracts.promql import reads

ROOT = Path(__file__).resolve().parents[2]
RULES = sorted((ROOT / "alerts").glob("*.rules.yml"))
TARGET_LABELS = frozenset({"job", "instance", "domain"})
"""Labels that Prometheus puts on every series of a target, in the example configuration."""
OF_PROMETHEUS = {"ALERTS": {"alertname", "alertstate", "severity", "node", "domain", "cause"}}


def rules_of(path: Path) -> list[dict[str, Any]]:
    """All rules of one file, in order."""
    return [rule for group in yaml.safe_load(path.read_text())["groups"] for rule in group["rules"]]


def every_alert() -> list[dict[str, Any]]:
    """All alerting rules of all files."""
    return [rule for path in RULES for rule in rules_of(path) if "alert" in rule]


def published() -> dict[str, set[str]]:
    """Metric name → its own labels, for every series that a query may ask for."""
    known = {name: set(labels) for name, labels in OF_PROMETHEUS.items()}
    known |= {metric.name: set(metric.labels) for metric in exporter_catalog.METRICS}
    known |= _of_remediation()
    for path in RULES:
        for rule in rules_of(path):
            if "record" in rule:
                labels = {*rule.get("labels", {}), *reads(str(rule["expr"])).grouped_by}
                known.setdefault(rule["record"], set()).update(labels)
    return known


def _of_remediation() -> dict[str, set[str]]:
    """Its catalogue is live: closed labels start at zero, so that samples tell the labels."""
    registry = CollectorRegistry()
    Catalog(registry)
    known: dict[str, set[str]] = {}
    for family in registry.collect():
        for sample in family.samples:
            known.setdefault(sample.name, set()).update(sample.labels)
    return known
