"""Volume snapshots: created under a name that a second try finds again, good when ready to use.

The cluster need not know the kind: without its definition there is nothing to take.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from remediation.kube.errors import calling
from remediation.policy.facts.snapshot import Part
from remediation.ports import CallFailed, Conflict, FailureReason

if TYPE_CHECKING:
    from remediation.kube.connection import Connection

_LABEL = "forewarn.dev/preparation"
_NAME_CHARACTERS = 200


class _Reference(msgspec.Struct, frozen=True):
    uid: str = ""


class _ContentSpec(msgspec.Struct, frozen=True, rename="camel"):
    volume_snapshot_ref: _Reference = _Reference()


class _Content(msgspec.Struct, frozen=True):
    spec: _ContentSpec = _ContentSpec()


class _Status(msgspec.Struct, frozen=True, rename="camel"):
    ready_to_use: bool = False
    bound_volume_snapshot_content_name: str = ""
    error: dict[str, Any] | None = None


class _Metadata(msgspec.Struct, frozen=True):
    uid: str = ""


class _Snapshot(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()
    status: _Status | None = None


def take(
    connection: Connection, namespace: str, claim: str, *, name: str, snapshot_class: str
) -> Part:
    """Return how the snapshot of one claim stands, creating it when it is not there."""
    called = snapshot_name(claim, name)
    try:
        found = _read(connection, namespace, called)
        if found is None:
            _create(connection, namespace, called, claim, name, snapshot_class)
            return Part.WORKING
        return _standing(connection, found)
    except Conflict:
        return Part.WORKING
    except CallFailed as failed:
        # The kind itself is not there, as against one object of it.
        unknown = failed.reason is FailureReason.NOT_FOUND
        return Part.UNSUPPORTED if unknown else Part.FAILED


def snapshot_name(claim: str, name: str) -> str:
    """Return a name that the same preparation of the same claim always has."""
    plain = re.sub(r"[^a-z0-9.-]+", "-", f"{claim}-{name}".lower())[-_NAME_CHARACTERS:]
    return plain.strip("-.")


def _read(connection: Connection, namespace: str, called: str) -> _Snapshot | None:
    try:
        with calling(f"read volume snapshot {namespace}/{called}"):
            found = connection.custom.get_namespaced_custom_object(
                group="snapshot.storage.k8s.io",
                version="v1",
                namespace=namespace,
                plural="volumesnapshots",
                name=called,
                **connection.limits,
            )
            return msgspec.convert(found, _Snapshot)
    except CallFailed as failed:
        if failed.reason is FailureReason.NOT_FOUND:
            return None
        raise


def _create(
    connection: Connection,
    namespace: str,
    called: str,
    claim: str,
    name: str,
    snapshot_class: str,
) -> None:
    spec: dict[str, Any] = {"source": {"persistentVolumeClaimName": claim}}
    if snapshot_class:
        spec["volumeSnapshotClassName"] = snapshot_class
    body = {
        "apiVersion": "snapshot.storage.k8s.io/v1",
        "kind": "VolumeSnapshot",
        "metadata": {"name": called, "labels": {_LABEL: name[-63:].strip("-.")}},
        "spec": spec,
    }
    with calling(f"create volume snapshot {namespace}/{called}"):
        connection.custom.create_namespaced_custom_object(
            group="snapshot.storage.k8s.io",
            version="v1",
            namespace=namespace,
            plural="volumesnapshots",
            body=body,
            **connection.limits,
        )


def _standing(connection: Connection, found: _Snapshot) -> Part:
    status = found.status
    if status is None or not status.bound_volume_snapshot_content_name:
        return Part.FAILED if status is not None and status.error else Part.WORKING
    if not status.ready_to_use:
        return Part.FAILED if status.error else Part.WORKING
    return _bound(connection, found, status.bound_volume_snapshot_content_name)


def _bound(connection: Connection, found: _Snapshot, content: str) -> Part:
    """A snapshot names its content, and the content must name it back: either can be stale."""
    try:
        with calling(f"read volume snapshot content {content}"):
            answer = connection.custom.get_cluster_custom_object(
                group="snapshot.storage.k8s.io",
                version="v1",
                plural="volumesnapshotcontents",
                name=content,
                **connection.limits,
            )
            back = msgspec.convert(answer, _Content).spec.volume_snapshot_ref.uid
    except CallFailed as failed:
        if failed.reason is FailureReason.NOT_FOUND:
            return Part.WORKING
        raise
    return Part.DONE if back == found.metadata.uid else Part.FAILED
