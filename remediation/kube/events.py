"""An Event on the node for every step: what `kubectl describe node` shows to people."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from remediation.kube.errors import calling
from remediation.policy.facts.node import FIELD_MANAGER
from remediation.policy.steps import Decision

if TYPE_CHECKING:
    from remediation.kube.connection import Connection
    from remediation.policy.facts.node import Node

# Nodes have no namespace; the API server accepts their events only here.
NAMESPACE = "default"
_REASONS = {
    Decision.SOFTEN: "AtRiskTainted",
    Decision.EXCLUDE: "AtRiskExcluded",
    Decision.TAINT_GPU: "AtRiskGpuTainted",
    Decision.LIFT_GPU: "AtRiskGpuReturned",
    Decision.CHECKPOINT: "AtRiskCheckpoint",
    Decision.SNAPSHOT: "AtRiskSnapshot",
    Decision.EVICT: "AtRiskEvicting",
    Decision.SETTLE: "AtRiskDrained",
    Decision.OFFER: "AtRiskOffered",
    Decision.HAND_OVER: "AtRiskHandedOver",
    Decision.VERIFY: "AtRiskVerifying",
    Decision.RELAPSE: "AtRiskRelapsed",
    Decision.TRUST: "AtRiskOnProbation",
    Decision.RELEASE: "AtRiskReleased",
    Decision.STAND_DOWN: "AtRiskHeld",
    Decision.GIVE_WAY: "AtRiskGivesWay",
}
_MESSAGE_CHARACTERS = 1000


def leave(
    connection: Connection, node: Node, decision: Decision, sentence: str, *, now: float
) -> None:
    """Create the Event (`now` in Unix seconds); raises `CallFailed`."""
    moment = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    body = {
        "metadata": {"generateName": f"{node.name}.", "namespace": NAMESPACE},
        "involvedObject": {
            "apiVersion": "v1",
            "kind": "Node",
            "name": node.name,
            "uid": node.uid,
        },
        "reason": _REASONS[decision],
        "message": sentence[:_MESSAGE_CHARACTERS],
        "type": "Normal",
        "count": 1,
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "source": {"component": FIELD_MANAGER},
    }
    with calling(f"create event on {node.name}"):
        created = connection.core.create_namespaced_event(
            namespace=NAMESPACE, body=body, **connection.raw
        )
        created.drain_conn()
