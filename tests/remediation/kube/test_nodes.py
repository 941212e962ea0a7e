"""A node as the policy sees it, and the one PATCH that changes it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from kubernetes import client

from remediation.kube.nodes import body
from remediation.kube.observe import _node, _pod
from remediation.policy.plan import plan
from remediation.policy.snapshot import EPISODE_ANNOTATION, RISK_TAINT, Taint, decode_mark
from remediation.policy.steps import NodeWrite
from tests.remediation.builders import a_node, a_pool, a_suspect_snapshot

SINCE = datetime(2026, 11, 30, 12, tzinfo=UTC)


def a_v1_node(**changes: Any) -> Any:
    fields: dict[str, Any] = {
        "annotations": None,
        "unschedulable": None,
        "taints": None,
        "conditions": [
            client.V1NodeCondition(type="Ready", status="True", last_transition_time=SINCE)
        ],
        "managed_fields": None,
        **changes,
    }
    return client.V1Node(
        metadata=client.V1ObjectMeta(
            name="n1",
            uid="u",
            resource_version="7",
            annotations=fields["annotations"],
            managed_fields=fields["managed_fields"],
        ),
        spec=client.V1NodeSpec(unschedulable=fields["unschedulable"], taints=fields["taints"]),
        status=client.V1NodeStatus(conditions=fields["conditions"]),
    )


def owned_by(manager: str) -> Any:
    return client.V1ManagedFieldsEntry(
        manager=manager, operation="Update", fields_v1={"f:spec": {"f:unschedulable": {}}}
    )


def test_a_plain_node_is_ready_schedulable_and_unmarked() -> None:
    node = _node(a_v1_node())
    assert (node.ready, node.unschedulable, node.mark, node.held) == (True, False, None, False)
    assert node.ready_since == SINCE.timestamp()


def test_a_node_that_says_nothing_of_being_ready_is_not() -> None:
    assert not _node(a_v1_node(conditions=None)).ready


def test_an_unreadable_mark_is_a_fault_and_not_no_mark() -> None:
    node = _node(a_v1_node(annotations={EPISODE_ANNOTATION: "{"}))
    assert node.mark is None
    assert node.mark_fault is not None


def test_the_servers_book_tells_who_cordoned() -> None:
    theirs = _node(a_v1_node(unschedulable=True, managed_fields=[owned_by("kubectl-cordon")]))
    assert theirs.cordoned_by == "kubectl-cordon"
    both = [owned_by("kubectl-cordon"), owned_by("forewarn-remediation")]
    ours = _node(a_v1_node(unschedulable=True, managed_fields=both))
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


def a_v1_pod(*resources: dict[str, str], **spec: Any) -> Any:
    containers = [
        client.V1Container(name=f"c{number}", resources=client.V1ResourceRequirements(limits=asked))
        for number, asked in enumerate(resources)
    ]
    owner = client.V1OwnerReference(
        api_version="batch/v1", kind="Job", name="j", uid="x", controller=True
    )
    return client.V1Pod(
        metadata=client.V1ObjectMeta(namespace="jobs", name="p", uid="u", owner_references=[owner]),
        spec=client.V1PodSpec(containers=containers, **spec),
        status=client.V1PodStatus(phase="Running"),
    )


def test_a_pod_uses_gpus_whatever_kind_it_asks_for() -> None:
    prefixes = ("nvidia.com/gpu", "nvidia.com/mig-")
    asked = ({"nvidia.com/gpu": "8"}, {"nvidia.com/mig-1g.10gb": "1"}, {"cpu": "4"})
    assert [_pod(a_v1_pod(one), prefixes).gpus for one in asked] == [True, True, False]
    claim = client.V1PodResourceClaim(name="gpu")
    assert _pod(a_v1_pod({"cpu": "1"}, resource_claims=[claim]), prefixes).gpus


def test_a_pods_reasons_to_stay_are_read() -> None:
    volume = client.V1Volume(name="scratch", empty_dir=client.V1EmptyDirVolumeSource())
    pod = _pod(a_v1_pod({"nvidia.com/gpu": "1"}, volumes=[volume]), ("nvidia.com/gpu",))
    assert (pod.owner, pod.empty_dir, pod.mirror, pod.ends_at) == ("Job", True, False, None)
