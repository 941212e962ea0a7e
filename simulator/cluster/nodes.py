"""Simulated nodes, and the part of the node lifecycle that a client notices. Pure."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from simulator.cluster.scheduling import GPU, is_ready

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from simulator.cluster.kinds import Obj

RACK = "forewarn.dev/rack"
UNSCHEDULABLE: Obj = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
UNREACHABLE: tuple[Obj, ...] = (
    {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"},
)

_NODE_INFO = {
    "systemUUID": "",
    "kernelVersion": "6.8.0",
    "osImage": "simulated",
    "operatingSystem": "linux",
    "architecture": "amd64",
    "containerRuntimeVersion": "simulated://1.0.0",
    "kubeletVersion": "v1.37.2",
    "kubeProxyVersion": "",
}


def gpu_node(name: str, rack: str, gpus: int, labels: Mapping[str, str], now: str) -> Obj:
    """A Ready node with its rack as a label and its GPUs as a label and as capacity."""
    resources = {"cpu": "192", "memory": "2113929216Ki", "pods": "110", GPU: str(gpus)}
    own = {"kubernetes.io/hostname": name, RACK: rack, "nvidia.com/gpu.count": str(gpus)}
    status = {
        "capacity": resources,
        "allocatable": resources,
        "conditions": [_ready("True", "KubeletReady", now)],
        "nodeInfo": {**_NODE_INFO, "bootID": str(uuid.uuid4()), "machineID": name},
    }
    return {"metadata": {"name": name, "labels": {**own, **labels}}, "spec": {}, "status": status}


def with_lifecycle_taints(node: Obj) -> Obj:
    """Set the taints that the cluster itself keeps on a node, leaving everyone else's alone."""
    spec = node["spec"]
    owned: list[Obj] = [UNSCHEDULABLE] if spec.get("unschedulable") else []
    owned += [] if is_ready(node) else UNREACHABLE
    keys = {UNSCHEDULABLE["key"], UNREACHABLE[0]["key"]}
    taints = spec.get("taints", [])
    if _identities(t for t in taints if t["key"] in keys) == _identities(owned):
        return node
    others = [taint for taint in taints if taint["key"] not in keys]
    rest = {key: value for key, value in spec.items() if key != "taints"}
    wanted = [*others, *owned]
    return {**node, "spec": {**rest, "taints": wanted} if wanted else rest}


def _identities(taints: Iterable[Obj]) -> set[tuple[str, str]]:
    return {(taint["key"], taint["effect"]) for taint in taints}


def _ready(status: str, reason: str, now: str) -> Obj:
    return {
        "type": "Ready",
        "status": status,
        "reason": reason,
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }
