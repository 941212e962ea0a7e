"""Nodes and pods that the benchmarks of remediation register, with as much in them as real ones."""

from __future__ import annotations

from typing import Any

GRACE_SECONDS = 30
SINCE = "2026-01-01T00:00:00Z"


def a_node(name: str) -> dict[str, Any]:
    """A Ready node as its kubelet would register it, with as much in it as a real one's."""
    resources = {"cpu": "128", "memory": "2Ti", "pods": "110", "nvidia.com/gpu": "8"}
    condition = {"lastHeartbeatTime": SINCE, "lastTransitionTime": SINCE, "reason": "Kubelet"}
    pressures = ("MemoryPressure", "DiskPressure", "PIDPressure")
    return {
        "metadata": {
            "name": name,
            "labels": {"nvidia.com/gpu.present": "true", "kubernetes.io/hostname": name},
        },
        "spec": {"podCIDR": "10.0.0.0/24", "providerID": f"sim://{name}"},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": [
                {"type": "Ready", "status": "True", **condition},
                *({"type": kind, "status": "False", **condition} for kind in pressures),
            ],
            "images": [
                {"names": [f"registry.example/image-{number}:1"], "sizeBytes": 1 << 30}
                for number in range(20)
            ],
        },
    }


def a_pod(node: str, number: int) -> dict[str, Any]:
    """A running pod of the node's own job, bound to it."""
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": f"job-{node}", "uid": f"job-{node}"}
    return {
        "metadata": {
            "name": f"{node}-{number}",
            "labels": {"batch.kubernetes.io/job-name": f"job-{node}"},
            "ownerReferences": [{**owner, "controller": True}],
        },
        "spec": {
            "nodeName": node,
            "terminationGracePeriodSeconds": GRACE_SECONDS,
            "containers": [
                {
                    "name": "work",
                    "image": "work",
                    "resources": {"limits": {"nvidia.com/gpu": "1"}},
                }
            ],
        },
    }
