"""A node as the policy sees it, and the one PATCH that changes it."""

from __future__ import annotations

import json
from typing import Any

from remediation.kube.nodes import body
from remediation.kube.observe import read_node, read_pod
from remediation.policy.facts.mark import EPISODE_ANNOTATION, decode_mark
from remediation.policy.facts.node import RISK_TAINT, Node
from remediation.policy.facts.pod import Pod
from remediation.policy.facts.taint import Taint
from remediation.policy.plan import plan
from remediation.policy.steps import NodeWrite
from tests.remediation.builders import a_node, a_pool, a_suspect_snapshot

SINCE = "2026-11-30T12:00:00Z"
READY = {"type": "Ready", "status": "True", "lastTransitionTime": SINCE}


def told(
    *,
    annotations: dict[str, str] | None = None,
    managed: list[Any] | None = None,
    conditions: list[Any] | None = None,
    **spec: Any,
) -> Node:
    """Read a node as the server tells it."""
    document = {
        "kind": "Node",
        "metadata": {
            "name": "n1",
            "uid": "u",
            "resourceVersion": "7",
            "creationTimestamp": None,
            "annotations": annotations,
            "managedFields": managed,
        },
        "spec": spec,
        "status": {
            "conditions": [READY] if conditions is None else conditions,
            "nodeInfo": {"bootID": "b", "kernelVersion": "6"},
        },
    }
    name, held = read_node(json.dumps(document).encode())
    assert (name, held.version) == ("n1", "7")
    return held.value


def owned_by(manager: str) -> Any:
    return {
        "manager": manager,
        "operation": "Update",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {"f:unschedulable": {}}},
    }


def test_a_plain_node_is_ready_schedulable_and_unmarked() -> None:
    node = told()
    assert (node.ready, node.unschedulable, node.mark, node.held) == (True, False, None, False)
    assert (node.ready_since, node.boot_id, node.resource_version) == (1_796_040_000.0, "b", "7")


def test_a_node_that_says_nothing_of_being_ready_is_not() -> None:
    assert not told(conditions=[]).ready


def test_an_unreadable_mark_is_a_fault_and_not_no_mark() -> None:
    node = told(annotations={EPISODE_ANNOTATION: "{"})
    assert node.mark is None
    assert node.mark_fault is not None


def test_the_servers_book_tells_who_cordoned() -> None:
    theirs = told(unschedulable=True, managed=[owned_by("kubectl-cordon")])
    assert theirs.cordoned_by == "kubectl-cordon"
    both = [owned_by("kubectl-cordon"), owned_by("forewarn-remediation")]
    ours = told(unschedulable=True, managed=both)
    assert ours.cordoned_by == "forewarn-remediation"


def test_one_patch_carries_version_uid_mark_taints_and_cordon() -> None:
    theirs = Taint("node.kubernetes.io/x", "NoExecute", time_added="2026-11-30T12:00:00Z")
    snapshot = a_suspect_snapshot(nodes=a_pool(3, a_node(resource_version="7", taints=(theirs,))))
    (step,) = plan(snapshot).steps
    assert isinstance(step, NodeWrite)
    sent = body(step)
    assert sent["metadata"]["resourceVersion"] == "7"
    assert sent["metadata"]["uid"] == "uid-n1"
    assert decode_mark(sent["metadata"]["annotations"][EPISODE_ANNOTATION]) == step.mark
    assert sent["spec"] == {
        "unschedulable": True,
        "taints": [
            {
                "key": "node.kubernetes.io/x",
                "effect": "NoExecute",
                "timeAdded": "2026-11-30T12:00:00Z",
            },
            {"key": RISK_TAINT, "effect": "NoSchedule"},
        ],
    }


def a_told_pod(*asked: dict[str, str], **spec: Any) -> Pod:
    """Read a pod as the server tells it."""
    containers = [
        {"name": f"c{number}", "resources": {"limits": limits}}
        for number, limits in enumerate(asked)
    ]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "x", "controller": True}
    document = {
        "metadata": {"namespace": "jobs", "name": "p", "uid": "u", "ownerReferences": [owner]},
        "spec": {"containers": containers, **spec},
        "status": {"phase": "Running"},
    }
    uid, held = read_pod(json.dumps(document).encode(), ("nvidia.com/gpu", "nvidia.com/mig-"))
    assert uid == "u"
    return held.value


def test_a_pod_uses_gpus_whatever_kind_it_asks_for() -> None:
    asked = ({"nvidia.com/gpu": "8"}, {"nvidia.com/mig-1g.10gb": "1"}, {"cpu": "4"})
    assert [a_told_pod(one).gpus for one in asked] == [True, True, False]
    assert a_told_pod({"cpu": "1"}, resourceClaims=[{"name": "gpu"}]).gpus


def test_a_pods_reasons_to_stay_are_read() -> None:
    pod = a_told_pod({"nvidia.com/gpu": "1"}, volumes=[{"name": "scratch", "emptyDir": {}}])
    assert (pod.owner, pod.empty_dir, pod.mirror, pod.ends_at) == ("Job", True, False, None)
