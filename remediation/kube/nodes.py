"""One PATCH of one node: mark, taints and cordon together, bound to the version that was read.

`spec.taints` is replaced as a whole by the server: sending only our taint would
delete everybody else's, so the full list goes along with the resource version,
and a node that changed in between answers 409 and stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remediation.kube.errors import calling
from remediation.policy.facts.mark import EPISODE_ANNOTATION, encode_mark
from remediation.policy.facts.node import FIELD_MANAGER, RELEASE_ANNOTATION, RISK_LABEL
from remediation.ports import CallFailed, FailureReason

if TYPE_CHECKING:
    from remediation.kube.connection import Connection
    from remediation.policy.facts.taint import Taint
    from remediation.policy.steps import NodeWrite


def read(connection: Connection, name: str) -> bytes | None:
    """Return one node as it is now, None when there is none; raises `CallFailed`."""
    try:
        with calling(f"read node {name}"):
            answer = connection.core.read_node(name=name, **connection.raw)
            document: bytes = answer.data
    except CallFailed as failed:
        if failed.reason is FailureReason.NOT_FOUND:
            return None
        raise
    return document


def patch(connection: Connection, write: NodeWrite) -> bytes:
    """Send `write` and return the node as it is then.

    Raises `Conflict` when the node changed since it was read.
    """
    with calling(f"patch node {write.node.name}"):
        answer = connection.core.patch_node(
            name=write.node.name,
            body=body(write),
            field_manager=FIELD_MANAGER,
            _content_type="application/merge-patch+json",
            **connection.raw,
        )
        document: bytes = answer.data
    return document


def body(write: NodeWrite) -> dict[str, Any]:
    """Return the merge patch; a null removes annotation or label."""
    annotation = encode_mark(write.mark) if write.mark is not None else None
    spec: dict[str, Any] = {"taints": [_taint(taint) for taint in write.taints]}
    if write.unschedulable is not None:
        spec["unschedulable"] = write.unschedulable
    return {
        "metadata": {
            "uid": write.node.uid,
            "resourceVersion": write.node.resource_version,
            # An order to release is for what it found: it must not undo what comes next.
            "annotations": {EPISODE_ANNOTATION: annotation, RELEASE_ANNOTATION: None},
            "labels": {RISK_LABEL: write.risk},
        },
        "spec": spec,
    }


def _taint(taint: Taint) -> dict[str, str]:
    fields = {
        "key": taint.key,
        "effect": str(taint.effect),
        "value": taint.value,
        "timeAdded": taint.time_added,
    }
    return {name: value for name, value in fields.items() if value}
