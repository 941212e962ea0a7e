"""Simulated workloads: Job and ReplicaSet objects, and the pods they keep in being.

Each workload has as many slots as it wants pods. A pod that ends or is being
deleted leaves its slot open, and the slot gets a new pod under a new name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.cluster.kinds import JOBS, REPLICA_SETS
from simulator.cluster.scheduling import GPU

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from simulator.cluster.kinds import Kind, Obj

SLOT = "batch.kubernetes.io/job-completion-index"
"""Label of the pods of an indexed Job; simulated ReplicaSets number their pods alike."""


def gang_job(
    name: str,
    namespace: str,
    *,
    nodes: int,
    gpus_per_node: int,
    grace_seconds: int,
    annotations: Mapping[str, str],
) -> Obj:
    """An indexed Job that trains on `nodes` nodes at once; no pod is of use without the others."""
    labels = {"batch.kubernetes.io/job-name": name, "job-name": name}
    template = _template(labels, gpus_per_node, grace_seconds, annotations)
    spec = {
        "parallelism": nodes,
        "completions": nodes,
        "completionMode": "Indexed",
        "template": template,
    }
    return {"metadata": {"name": name, "namespace": namespace}, "spec": spec}


def missing_pods(workload: Obj, kind: Kind, pods: Iterable[Obj]) -> list[Obj]:
    """Return the pods to create so that every slot of the workload has one that lives. Pure."""
    spec = workload["spec"]
    wanted = int(spec["parallelism"] if kind is JOBS else spec["replicas"])
    taken = {slot_of(pod) for pod in pods if is_owned(pod, workload) and _lives(pod)}
    return [_pod(workload, kind, slot) for slot in range(wanted) if str(slot) not in taken]


def is_owned(pod: Obj, workload: Obj) -> bool:
    """Tell whether the workload is among the pod's owners."""
    owners = pod["metadata"].get("ownerReferences") or ()
    return any(owner["uid"] == workload["metadata"]["uid"] for owner in owners)


def slot_of(pod: Obj) -> str:
    """The pod's place in its workload."""
    return str((pod["metadata"].get("labels") or {}).get(SLOT, ""))


def _lives(pod: Obj) -> bool:
    ended = pod["status"]["phase"] in ("Succeeded", "Failed")
    return not ended and "deletionTimestamp" not in pod["metadata"]


def _pod(workload: Obj, kind: Kind, slot: int) -> Obj:
    owner, template = workload["metadata"], workload["spec"]["template"]
    told = template.get("metadata") or {}
    reference = {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "name": owner["name"],
        "uid": owner["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    metadata = {
        "generateName": f"{owner['name']}-{slot}-",
        "namespace": owner["namespace"],
        "labels": {**(told.get("labels") or {}), SLOT: str(slot)},
        "annotations": told.get("annotations") or {},
        "ownerReferences": [reference],
    }
    return {"metadata": metadata, "spec": template["spec"]}


def _template(
    labels: Mapping[str, str],
    gpus: int,
    grace_seconds: int,
    annotations: Mapping[str, str],
) -> Obj:
    limits = {GPU: str(gpus)}
    container: dict[str, Any] = {
        "name": "work",
        "image": "simulated",
        "resources": {"limits": limits, "requests": limits},
    }
    spec = {
        "containers": [container],
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": grace_seconds,
    }
    return {"metadata": {"labels": dict(labels), "annotations": dict(annotations)}, "spec": spec}


WORKLOADS = (JOBS, REPLICA_SETS)
