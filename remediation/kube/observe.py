"""The client's objects as the policy's values: nodes with marks, pods with reasons to stay."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any

from remediation.kube.errors import calling
from remediation.policy.snapshot import (
    EPISODE_ANNOTATION,
    FIELD_MANAGER,
    HOLD_ANNOTATION,
    MIGRATE_ANNOTATION,
    Mark,
    MarkUnreadable,
    Node,
    Pod,
    Taint,
    decode_mark,
)
from remediation.ports import Pods

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from remediation.kube.connection import Connection

_MIRROR = "kubernetes.io/config.mirror"
_FINISHED = frozenset({"Succeeded", "Failed"})


def list_pool(connection: Connection, selector: str) -> Mapping[str, Node]:
    """Return the nodes that `selector` matches, by name; raises `CallFailed`."""
    with calling("list nodes"):
        answer = connection.core.list_node(label_selector=selector, **connection.limits)
        return {item.metadata.name: _node(item) for item in answer.items}


def list_pods(connection: Connection, pool: frozenset[str], gpu_resources: tuple[str, ...]) -> Pods:
    """Return the pods of the nodes of `pool` and those that wait for one; raises `CallFailed`.

    A pod uses GPUs when it asks for a resource whose name starts with one of `gpu_resources`.
    """
    with calling("list pods"):
        answer = connection.core.list_pod_for_all_namespaces(**connection.limits)
        pods = [_pod(item, gpu_resources) for item in answer.items]
    on: dict[str, list[Pod]] = {name: [] for name in pool}
    for pod in pods:
        if pod.node in on:
            on[pod.node].append(pod)
    pending = tuple(pod for pod in pods if pod.gpus and not pod.node and not pod.finished)
    return Pods({name: tuple(found) for name, found in on.items()}, pending)


def _node(item: Any) -> Node:
    annotations = item.metadata.annotations or {}
    mark, fault = _mark(annotations.get(EPISODE_ANNOTATION))
    status = item.status
    ready = next((c for c in (status.conditions or ()) if c.type == "Ready"), None)
    return Node(
        name=item.metadata.name,
        uid=item.metadata.uid,
        resource_version=item.metadata.resource_version,
        ready=ready is not None and ready.status == "True",
        ready_since=_seconds(ready.last_transition_time) if ready is not None else None,
        unschedulable=bool(item.spec.unschedulable),
        cordoned_by=_cordon_writer(item.metadata.managed_fields or ()),
        taints=tuple(_taint(taint) for taint in item.spec.taints or ()),
        mark=mark,
        mark_fault=fault,
        held=HOLD_ANNOTATION in annotations,
        boot_id=(status.node_info.boot_id or "") if status.node_info else "",
        labels=item.metadata.labels or {},
    )


def _mark(text: str | None) -> tuple[Mark | None, str | None]:
    if text is None:
        return None, None
    try:
        return decode_mark(text), None
    except MarkUnreadable as error:
        return None, str(error)


def _taint(item: Any) -> Taint:
    added = item.time_added
    return Taint(
        key=item.key,
        effect=item.effect,
        value=item.value or "",
        time_added=_rfc3339(added) if added is not None else "",
    )


def _cordon_writer(managed: Any) -> str | None:
    """Return who owns `spec.unschedulable` by the server's own book, ours first, if it tells."""
    owners = [
        entry.manager
        for entry in managed
        if "f:unschedulable" in ((entry.fields_v1 or {}).get("f:spec") or {})
    ]
    if FIELD_MANAGER in owners:
        return FIELD_MANAGER
    return owners[0] if owners else None


def _pod(item: Any, gpu_resources: tuple[str, ...]) -> Pod:
    annotations = item.metadata.annotations or {}
    owners = item.metadata.owner_references or ()
    controller = next((owner for owner in owners if owner.controller), None)
    return Pod(
        namespace=item.metadata.namespace,
        name=item.metadata.name,
        uid=item.metadata.uid,
        node=item.spec.node_name or "",
        gpus=_uses_gpus(item.spec, gpu_resources),
        finished=item.status.phase in _FINISHED,
        ready=any(c.type == "Ready" and c.status == "True" for c in item.status.conditions or ()),
        gated=bool(item.spec.scheduling_gates),
        created_at=_seconds(item.metadata.creation_timestamp),
        owner=controller.kind if controller is not None else None,
        owner_name=controller.name if controller is not None else "",
        owner_uid=controller.uid if controller is not None else "",
        labels=item.metadata.labels or {},
        notes=annotations,
        mirror=_MIRROR in annotations,
        empty_dir=any(volume.empty_dir is not None for volume in item.spec.volumes or ()),
        wish=annotations.get(MIGRATE_ANNOTATION, ""),
        ends_at=_seconds(item.metadata.deletion_timestamp),
    )


def _uses_gpus(spec: Any, gpu_resources: tuple[str, ...]) -> bool:
    containers = [*(spec.containers or ()), *(spec.init_containers or ())]
    asked = [one.resources for one in containers if one.resources is not None]
    names = {name for one in asked for name in {**(one.limits or {}), **(one.requests or {})}}
    # Claims of dynamic resource allocation may be GPUs: a pod that holds one counts.
    return any(name.startswith(gpu_resources) for name in names) or bool(spec.resource_claims)


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()


def _rfc3339(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
