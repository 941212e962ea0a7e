"""The request to save, noted on the pod; its answer comes back with the pods that are watched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remediation.kube.errors import calling
from remediation.policy.facts.node import FIELD_MANAGER
from remediation.policy.facts.snapshot import Part
from remediation.policy.moving.preparing import REQUESTED_ANNOTATION
from remediation.ports import CallFailed, Conflict, FailureReason

if TYPE_CHECKING:
    from remediation.kube.connection import Connection
    from remediation.policy.facts.pod import Pod


def note(connection: Connection, pod: Pod, name: str) -> Part:
    """Note the request `name` on `pod`; one that is gone or another by now has nothing to save."""
    body: dict[str, Any] = {
        "metadata": {"uid": pod.uid, "annotations": {REQUESTED_ANNOTATION: name}}
    }
    try:
        with calling(f"patch pod {pod}"):
            connection.core.patch_namespaced_pod(
                name=pod.name,
                namespace=pod.namespace,
                body=body,
                field_manager=FIELD_MANAGER,
                _content_type="application/merge-patch+json",
                **connection.limits,
            )
    except Conflict:
        return Part.DONE
    except CallFailed as failed:
        gone = failed.reason is FailureReason.NOT_FOUND
        return Part.DONE if gone else Part.FAILED
    return Part.HEARD
