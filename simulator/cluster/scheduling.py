"""Where a pod may run: filter, then prefer. Pure, and the whole of the scheduler."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from simulator.cluster.kinds import Obj

GPU = "nvidia.com/gpu"
_KEEPS_OUT = ("NoSchedule", "NoExecute")


def place(pod: Obj, nodes: Iterable[Obj], pods: Sequence[Obj]) -> str | None:
    """Return the node the pod should go to, or None while nothing fits.

    Fewest unwanted PreferNoSchedule taints first, then the most free GPUs,
    then the name, so that the same cluster always places alike.
    """
    used = gpus_used(pods)
    fitting = [node for node in nodes if _fits(pod, node, used)]
    if not fitting:
        return None

    def rank(node: Obj) -> tuple[int, int, str]:
        name = node["metadata"]["name"]
        return _unwanted(pod, node), -_free(node, used), name

    return str(min(fitting, key=rank)["metadata"]["name"])


def binding(node: str) -> Callable[[Obj], Obj]:
    """Return the change that binds a pod to the node."""
    return lambda pod: {**pod, "spec": {**pod["spec"], "nodeName": node}}


def gpus_used(pods: Iterable[Obj]) -> dict[str, int]:
    """GPUs taken per node by every pod that has not ended; terminating ones still hold theirs."""
    used: dict[str, int] = {}
    for pod in pods:
        name = pod["spec"].get("nodeName")
        if name and pod["status"]["phase"] not in ("Succeeded", "Failed"):
            used[name] = used.get(name, 0) + gpus_wanted(pod)
    return used


def gpus_wanted(pod: Obj) -> int:
    """GPUs that the pod's containers ask for together."""
    asked = (c.get("resources", {}).get("limits", {}) for c in pod["spec"].get("containers", ()))
    return sum(int(limits.get(GPU, 0)) for limits in asked)


def is_ready(node: Obj) -> bool:
    """Read the node's Ready condition; Unknown and absent are not ready."""
    conditions = node.get("status", {}).get("conditions", ())
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def _fits(pod: Obj, node: Obj, used: dict[str, int]) -> bool:
    labels = node["metadata"].get("labels", {})
    selector = pod["spec"].get("nodeSelector") or {}
    return (
        is_ready(node)
        and not any(_repels(pod, taint) for taint in _taints(node))
        and all(labels.get(key) == value for key, value in selector.items())
        and gpus_wanted(pod) <= _free(node, used)
    )


def _taints(node: Obj) -> list[Obj]:
    """The node's taints, and the one that an unschedulable node is about to get."""
    taints = list(node["spec"].get("taints", ()))
    if node["spec"].get("unschedulable"):
        taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    return taints


def _repels(pod: Obj, taint: Obj) -> bool:
    return taint["effect"] in _KEEPS_OUT and not _tolerates(pod, taint)


def _unwanted(pod: Obj, node: Obj) -> int:
    return sum(
        taint["effect"] == "PreferNoSchedule" and not _tolerates(pod, taint)
        for taint in _taints(node)
    )


def _tolerates(pod: Obj, taint: Obj) -> bool:
    return any(_covers(toleration, taint) for toleration in pod["spec"].get("tolerations") or ())


def _covers(toleration: Obj, taint: Obj) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("operator") == "Exists":
        return toleration.get("key") in (None, "", taint["key"])
    same_value = toleration.get("value", "") == taint.get("value", "")
    return bool(same_value and toleration.get("key") == taint["key"])


def _free(node: Obj, used: dict[str, int]) -> int:
    total = int(node.get("status", {}).get("allocatable", {}).get(GPU, 0))
    return total - used.get(node["metadata"]["name"], 0)
