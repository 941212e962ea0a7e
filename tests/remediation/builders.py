"""Builders: a test states only what matters to it."""

from __future__ import annotations

from typing import Any

from remediation.alert import Alert, Remedy, Severity, Status
from remediation.policy.bounds.limits import EvidenceBar, Limits, Mode, Policy, ReleaseBar, Rung
from remediation.policy.bounds.migration import MigrationBar
from remediation.policy.facts.evidence import Evidence, Prediction
from remediation.policy.facts.ledger import Bucket, Ledger
from remediation.policy.facts.mark import Mark, MarkState
from remediation.policy.facts.node import RISK_TAINT, Node
from remediation.policy.facts.pod import Pod
from remediation.policy.facts.snapshot import Snapshot
from remediation.policy.facts.suspects import hear
from remediation.policy.facts.taint import Taint
from remediation.policy.plan import plan
from remediation.policy.steps import Finding, Plan

NOW = 1_800_000_000.0
WIDE = Limits(
    concurrency=100,
    domains=(),
    waves=100,
    namespace_waves=100,
    unavailable_nodes=100,
    unavailable_percent=100,
    elevated_nodes=100,
    elevated_percent=100,
    predicted_percent=100,
    token_burst=100,
    breaker_grants=1000,
)


def an_alert(node: str = "n1", **changes: Any) -> Alert:
    fields: dict[str, Any] = {
        "name": "ForewarnNodeFailureLikely",
        "node": node,
        "severity": Severity.CRITICAL,
        "remedy": Remedy.MIGRATE,
        "status": Status.FIRING,
        "cause": "memory",
        "horizon": "24h",
        "started_at": NOW - 60,
    }
    return Alert(**{**fields, **changes})


def a_mark(node: str = "n1", **changes: Any) -> Mark:
    fields: dict[str, Any] = {
        "episode": f"{node}.e",
        "node_uid": f"uid-{node}",
        "state": MarkState.EXCLUDED,
        "rung": Rung.EXCLUDE,
        "grant": f"{node}.g",
        "since": NOW - 60,
        "reason": "critical",
        "cordoned": True,
        "epoch": 1,
        "horizon": "24h",
        "cause": "memory",
        "boot_id": "boot-1",
    }
    return Mark(**{**fields, **changes})


def a_node(name: str = "n1", **changes: Any) -> Node:
    fields: dict[str, Any] = {
        "name": name,
        "uid": f"uid-{name}",
        "resource_version": "1",
        "ready_since": NOW - 86400,
        "boot_id": "boot-1",
    }
    return Node(**{**fields, **changes})


def an_excluded_node(name: str = "n1", mark: Mark | None = None, **changes: Any) -> Node:
    """A node that we cordoned."""
    fields: dict[str, Any] = {
        "unschedulable": True,
        "taints": (Taint(RISK_TAINT, "NoSchedule"),),
        "mark": mark or a_mark(name),
    }
    return a_node(name, **{**fields, **changes})


def a_pool(size: int, *special: Node) -> dict[str, Node]:
    nodes = {f"n{number}": a_node(f"n{number}") for number in range(1, size + 1)}
    return {**nodes, **{node.name: node for node in special}}


def a_pod(name: str = "p1", **changes: Any) -> Pod:
    fields: dict[str, Any] = {
        "namespace": "jobs",
        "name": name,
        "uid": f"uid-{name}",
        "owner": "Job",
        "owner_name": "train",
        "owner_uid": "uid-train",
    }
    return Pod(**{**fields, **changes})


def a_prediction(probability: float = 0.9, **changes: Any) -> Prediction:
    fields: dict[str, Any] = {
        "age_seconds": 10.0,
        "state": "ok",
        "provenance": "fleet",
        "version": "1",
        "doubts": frozenset(),
        "probabilities": {("24h", "memory"): probability, ("24h", ""): probability},
    }
    return Prediction(**{**fields, **changes})


def proof(*alerts: Alert, **predictions: Prediction) -> Evidence:
    """Alertmanager shows `alerts`; Prometheus holds a high probability of their nodes."""
    held = {alert.node: a_prediction() for alert in alerts}
    return Evidence(alerts=alerts, polled_at=NOW - 1, predictions={**held, **predictions})


def calm(*nodes: str) -> Evidence:
    """Alertmanager shows nothing; the nodes' probabilities are low."""
    predictions = {node: a_prediction(0.001) for node in nodes}
    return Evidence(alerts=(), polled_at=NOW - 1, predictions=predictions)


def a_policy(mode: Mode = Mode.EXCLUDE, **changes: Any) -> Policy:
    fields: dict[str, Any] = {
        "mode": mode,
        "limits": WIDE,
        "evidence": EvidenceBar(),
        "release": ReleaseBar(jitter_seconds=0),
        "migrate": MigrationBar(),
        "targets": (),
    }
    return Policy(**{**fields, **changes})


def a_ledger(*alerts: Alert, **changes: Any) -> Ledger:
    """A ledger that heard `alerts`, with a full bucket."""
    ledger = Ledger(bucket=Bucket(tokens=100.0, refilled_at=NOW), **changes)
    return hear(ledger, alerts, now=NOW - 30, limits=Limits())


def a_snapshot(**changes: Any) -> Snapshot:
    fields: dict[str, Any] = {
        "now": NOW,
        "epoch": 1,
        "nodes": a_pool(10),
        "ledger": a_ledger(),
        "evidence": Evidence(),
        "policy": a_policy(),
    }
    fields |= changes
    fields.setdefault("pods", dict.fromkeys(fields["nodes"], ()))
    return Snapshot(**fields)


def a_suspect_snapshot(*alerts: Alert, **changes: Any) -> Snapshot:
    """Alerts heard and proven."""
    alerts = alerts or (an_alert(),)
    return a_snapshot(**{"ledger": a_ledger(*alerts), "evidence": proof(*alerts), **changes})


def finding_of(decided: Plan, node: str = "n1") -> Finding:
    return next(finding for finding in decided.findings if finding.node == node)


def only_finding(snapshot: Snapshot) -> Finding:
    (finding,) = plan(snapshot).findings
    return finding
