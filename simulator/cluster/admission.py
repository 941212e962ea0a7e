"""What the server fills in, keeps and refuses when an object is written. Pure.

Only rules that have bitten a client of this product stand here; the contract
tests hold each of them against the real API server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.cluster import refusals
from simulator.cluster.kinds import (
    BUDGETS,
    EVENTS,
    JOBS,
    NAMESPACES,
    NODES,
    PODS,
    REPLICA_SETS,
    VOLUME_SNAPSHOTS,
)

if TYPE_CHECKING:
    from simulator.cluster.kinds import Kind, Obj

WITH_STATUS = (NAMESPACES, NODES, PODS, BUDGETS, JOBS, REPLICA_SETS, VOLUME_SNAPSHOTS)
"""Kinds whose `status` is written through the subresource only."""

_SERVER_OWNED = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
)
_DROPPED_WHEN_EMPTY = ("annotations", "labels", "finalizers", "ownerReferences")


def admit_new(kind: Kind, obj: Obj, namespace: str) -> Obj:
    """Return the object as it will be stored, or refuse it; `namespace` is the request's."""
    metadata = dict(obj.get("metadata") or {})
    metadata.pop("managedFields", None)
    if not metadata.get("name") and not metadata.get("generateName"):
        raise refusals.invalid(
            kind, "", "metadata.name", "Required value: name or generateName is required"
        )
    if kind.namespaced:
        if metadata.setdefault("namespace", namespace) != namespace:
            raise refusals.bad_request(
                "the namespace of the provided object does not match the namespace sent on"
                " the request"
            )
    else:
        metadata.pop("namespace", None)
    admitted = {**obj, "apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}
    if kind is PODS:
        admitted = _new_pod(admitted)
    if kind is BUDGETS:
        admitted["status"] = {}
        metadata["generation"] = 1
    return _checked(kind, _compact(kind, admitted))


def admit_change(kind: Kind, before: Obj, after: Obj, subresource: str) -> Obj:
    """Return what a PUT or PATCH leaves: the server's own fields and the other half kept."""
    metadata = dict(after.get("metadata") or {})
    if metadata.get("uid", before["metadata"]["uid"]) != before["metadata"]["uid"]:
        name = before["metadata"]["name"]
        raise refusals.invalid(kind, name, "metadata.uid", "field is immutable")
    metadata["resourceVersion"] = before["metadata"]["resourceVersion"]
    for key in ("name", "namespace", *_SERVER_OWNED):
        metadata.pop(key, None)
        if key in before["metadata"]:
            metadata[key] = before["metadata"][key]
    changed = {**after, "apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}
    if subresource == "status":
        changed = {**before, "status": after.get("status") or {}}
    elif kind in WITH_STATUS:
        changed.pop("status", None)
        if "status" in before:
            changed["status"] = before["status"]
    if kind is BUDGETS and changed.get("spec") != before.get("spec"):
        changed["metadata"]["generation"] = before["metadata"]["generation"] + 1
    return _checked(kind, _compact(kind, changed))


def _new_pod(pod: Obj) -> Obj:
    spec = dict(pod.get("spec") or {})
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("schedulerName", "default-scheduler")
    spec.setdefault("restartPolicy", "Always")
    return {**pod, "spec": spec, "status": {"phase": "Pending"}}


def _compact(kind: Kind, obj: Obj) -> Obj:
    """Leave out what the server's encoder leaves out: empty maps, empty lists, false."""
    metadata = {
        key: value
        for key, value in obj["metadata"].items()
        if value or key not in _DROPPED_WHEN_EMPTY
    }
    compact = {**obj, "metadata": metadata}
    if kind is NODES:
        spec = obj.get("spec") or {}
        compact["spec"] = {key: value for key, value in spec.items() if value}
    return compact


def _checked(kind: Kind, obj: Obj) -> Obj:
    if kind is NODES:
        _check_taints(obj)
    if kind is EVENTS:
        _check_event(obj)
    return obj


def _check_taints(node: Obj) -> None:
    seen: set[tuple[str, str]] = set()
    name = node["metadata"]["name"]
    for position, taint in enumerate(node["spec"].get("taints") or []):
        field = f"spec.taints[{position}]"
        if taint.get("effect") not in ("NoSchedule", "PreferNoSchedule", "NoExecute"):
            raise refusals.invalid(NODES, name, f"{field}.effect", "Unsupported value")
        identity = (taint["key"], taint["effect"])
        if identity in seen:
            raise refusals.invalid(
                NODES,
                name,
                field,
                f"Duplicate value: taints must be unique by key and effect: {identity}",
            )
        seen.add(identity)


def _check_event(event: Obj) -> None:
    """An event about a cluster-scoped object belongs to the namespace `default`."""
    about = (event.get("involvedObject") or {}).get("namespace") or "default"
    if event["metadata"]["namespace"] != about:
        raise refusals.invalid(
            EVENTS,
            event["metadata"].get("name", ""),
            "involvedObject.namespace",
            "does not match event.namespace",
        )
