"""The server's objects as the policy's values: nodes with marks, pods with reasons to stay."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any

import msgspec

from remediation.kube import wire, wire_pods
from remediation.kube.demands import amounts, read_demand
from remediation.kube.mirror import PAGE_ITEMS, Feed, Held
from remediation.policy.facts.mark import EPISODE_ANNOTATION, Mark, MarkUnreadable, decode_mark
from remediation.policy.facts.node import FIELD_MANAGER, HOLD_ANNOTATION, RELEASE_ANNOTATION, Node
from remediation.policy.facts.pod import MIGRATE_ANNOTATION, Pod
from remediation.policy.facts.taint import Taint

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from remediation.kube.connection import Connection

_MIRROR = "kubernetes.io/config.mirror"
_FINISHED = frozenset({"Succeeded", "Failed"})
# What a pod is asked for in its annotations is short; others keep whole manifests there.
_NOTE_CHARACTERS = 1024
_NODES = msgspec.json.Decoder(wire.Node)
_PODS = msgspec.json.Decoder(wire_pods.Pod)


def pool_feed(connection: Connection, selector: str) -> Feed[str, Node]:
    """Return how to follow the nodes that `selector` matches, by name."""

    def page(more: str) -> Any:
        place = {"_continue": more} if more else {}
        return connection.core.list_node(
            label_selector=selector, limit=PAGE_ITEMS, **place, **connection.raw
        )

    def watch(version: str, seconds: int) -> Any:
        return connection.core.list_node(
            watch=True, label_selector=selector, **connection.stream(version, seconds)
        )

    return Feed(what="nodes", page=page, watch=watch, read=read_node)


def pod_feed(connection: Connection, gpu_resources: tuple[str, ...]) -> Feed[str, Pod]:
    """Return how to follow the pods that have not finished, by uid.

    A pod uses GPUs when it asks for a resource whose name starts with one of `gpu_resources`.
    """
    chosen = ",".join(f"status.phase!={phase}" for phase in sorted(_FINISHED))

    def page(more: str) -> Any:
        place = {"_continue": more} if more else {}
        return connection.core.list_pod_for_all_namespaces(
            field_selector=chosen, limit=PAGE_ITEMS, **place, **connection.raw
        )

    def watch(version: str, seconds: int) -> Any:
        return connection.core.list_pod_for_all_namespaces(
            watch=True, field_selector=chosen, **connection.stream(version, seconds)
        )

    return Feed(
        what="pods",
        page=page,
        watch=watch,
        read=lambda document: read_pod(document, gpu_resources),
    )


def read_node(document: bytes | msgspec.Raw) -> tuple[str, Held[Node]]:
    """Read one node and its version."""
    item = _NODES.decode(document)
    metadata, status = item.metadata, item.status
    annotations = metadata.annotations or {}
    mark, fault = _mark(annotations.get(EPISODE_ANNOTATION))
    ready = next((c for c in status.conditions or () if c.type == "Ready"), None)
    node = Node(
        name=metadata.name,
        uid=metadata.uid,
        resource_version=metadata.resource_version,
        ready=ready is not None and ready.status == "True",
        ready_since=_seconds(ready.last_transition_time) if ready is not None else None,
        unschedulable=item.spec.unschedulable,
        cordoned_by=_cordon_writer(metadata.managed_fields or ()),
        taints=tuple(
            Taint(taint.key, taint.effect, taint.value, taint.time_added or "")
            for taint in item.spec.taints or ()
        ),
        mark=mark,
        mark_fault=fault,
        held=HOLD_ANNOTATION in annotations,
        released=annotations.get(RELEASE_ANNOTATION),
        boot_id=status.node_info.boot_id if status.node_info is not None else "",
        labels=metadata.labels or {},
        allocatable=amounts(status.allocatable),
    )
    return node.name, Held(node, node.resource_version)


def read_pod(
    document: bytes | msgspec.Raw, gpu_resources: tuple[str, ...]
) -> tuple[str, Held[Pod]]:
    """Read one pod and its version."""
    item = _PODS.decode(document)
    metadata, status = item.metadata, item.status
    annotations = metadata.annotations or {}
    owners = metadata.owner_references or ()
    owner = next((owner for owner in owners if owner.controller), None)
    pod = Pod(
        namespace=metadata.namespace,
        name=metadata.name,
        uid=metadata.uid,
        node=item.spec.node_name,
        gpus=_uses_gpus(item.spec, gpu_resources),
        finished=status.phase in _FINISHED,
        ready=any(c.type == "Ready" and c.status == "True" for c in status.conditions or ()),
        gated=bool(item.spec.scheduling_gates),
        created_at=_seconds(metadata.creation_timestamp),
        owner=owner.kind if owner is not None else None,
        owner_name=owner.name if owner is not None else "",
        owner_uid=owner.uid if owner is not None else "",
        pod_group=item.spec.scheduling_group.pod_group_name if item.spec.scheduling_group else "",
        node_selector=item.spec.node_selector or {},
        labels=metadata.labels or {},
        notes={name: text for name, text in annotations.items() if len(text) <= _NOTE_CHARACTERS},
        mirror=_MIRROR in annotations,
        empty_dir=any(volume.empty_dir is not None for volume in item.spec.volumes or ()),
        wish=annotations.get(MIGRATE_ANNOTATION, ""),
        ends_at=_seconds(metadata.deletion_timestamp),
        address=status.pod_ip,
        host_network=item.spec.host_network,
        claims=tuple(
            volume.persistent_volume_claim.claim_name
            for volume in item.spec.volumes or ()
            if volume.persistent_volume_claim is not None
        ),
        device_claims=_device_claims(item),
        demand=read_demand(item.spec, item.status),
    )
    return pod.uid, Held(pod, metadata.resource_version)


def _mark(text: str | None) -> tuple[Mark | None, str | None]:
    if text is None:
        return None, None
    try:
        return decode_mark(text), None
    except MarkUnreadable as error:
        return None, str(error)


def _cordon_writer(managed: Iterable[wire.ManagedFields]) -> str | None:
    """Return who owns `spec.unschedulable` by the server's own book, ours first, if it tells."""
    owners = [entry.manager for entry in managed if entry.owns_cordon]
    if FIELD_MANAGER in owners:
        return FIELD_MANAGER
    return owners[0] if owners else None


def _device_claims(item: wire_pods.Pod) -> tuple[str, ...]:
    """Return the names of the pod's claims; one that is to be made for it has none yet."""
    named = (*(item.spec.resource_claims or ()), *(item.status.resource_claim_statuses or ()))
    extended = item.status.extended_resource_claim_status
    every = (*named, *([extended] if extended is not None else []))
    names = (one.resource_claim_name for one in every)
    return tuple(dict.fromkeys(name for name in names if name))


def _uses_gpus(spec: wire_pods.PodSpec, gpu_resources: tuple[str, ...]) -> bool:
    containers = [*(spec.containers or ()), *(spec.init_containers or ())]
    asked = [one.resources for one in containers if one.resources is not None]
    names = {name for one in asked for name in {**(one.limits or {}), **(one.requests or {})}}
    # Claims of dynamic resource allocation may be GPUs: a pod that holds one counts.
    return any(name.startswith(gpu_resources) for name in names) or bool(spec.resource_claims)


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
