"""What budgets make of an eviction in the odd cases, asked of the real API server alone.

Without controllers nobody writes a budget's status but the test.
"""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from kubernetes import client, config

from remediation.kube.eviction import classify
from remediation.ports import EvictionOutcome
from simulator.controlplane.plane import ControlPlane
from tests.contracts.cluster.asking import eventually, evict, refusal

pytestmark = pytest.mark.cluster
READY = {"type": "Ready", "status": "True"}
UNREADY = {"type": "Ready", "status": "False"}


@pytest.fixture(scope="module")
def plane(control_plane_programs, tmp_path_factory):
    with ControlPlane(tmp_path_factory.mktemp("plane"), controllers=False) as plane:
        yield plane


@pytest.fixture(scope="module")
def cluster(plane):
    found = Quiet(plane)
    yield found
    found.api.close()


@pytest.fixture
def namespace(cluster):
    name = f"t-{uuid.uuid4().hex[:8]}"
    cluster.core.create_namespace({"metadata": {"name": name}})
    return name


class Quiet:
    """A server where nothing moves by itself."""

    def __init__(self, plane: ControlPlane) -> None:
        self.api = config.new_client_from_config(str(plane.kubeconfig))
        self.core = client.CoreV1Api(self.api)
        self.policy = client.PolicyV1Api(self.api)

    def pod(self, namespace: str, phase: str = "Running", ready: dict[str, str] = READY) -> Any:
        """A pod of `phase`, as its kubelet would say."""
        container = {"name": "work", "image": "test"}
        spec = {"nodeName": "n1", "containers": [container]}
        body = {"metadata": {"name": "work", "labels": {"app": "work"}}, "spec": spec}
        self.core.create_namespaced_pod(namespace, body)
        status = {"phase": phase, "conditions": [ready]}
        return self.core.patch_namespaced_pod_status("work", namespace, {"status": status})

    def budget(self, namespace: str, *, status: dict[str, Any], **spec: Any) -> None:
        """A budget over that pod, with what its controller would have seen in it."""
        selector = {"matchLabels": {"app": "work"}}
        body = {"metadata": {"name": "budget"}, "spec": {"selector": selector, **spec}}
        self.policy.create_namespaced_pod_disruption_budget(namespace, body)
        if status:
            self.say(namespace, **status)

    def say(self, namespace: str, **status: Any) -> None:
        """Write the status of the budget."""
        body = {"status": {"observedGeneration": 1, "expectedPods": 1, **status}}
        self.policy.patch_namespaced_pod_disruption_budget_status("budget", namespace, body)


SPENT = {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1}
BELOW = {"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 1}


def test_a_budget_that_was_not_looked_at_yet_says_when_to_come_again(cluster, namespace):
    pod = cluster.pod(namespace)
    cluster.budget(namespace, status={}, minAvailable=0)
    answer = refusal(evict, cluster, pod)
    assert (answer.code, answer.causes, answer.retry_after) == (429, ("DisruptionBudget",), "10")


def test_a_stale_budget_lets_go_what_it_last_allowed(cluster, namespace):
    pod = cluster.pod(namespace)
    cluster.budget(namespace, status={**BELOW, "disruptionsAllowed": 1}, minAvailable=1)
    evict(cluster, pod)


def test_a_pod_that_is_not_ready_below_its_budget_is_kept_for_ever(cluster, namespace):
    pod = cluster.pod(namespace, ready=UNREADY)
    cluster.budget(namespace, status=BELOW, minAvailable=1)
    assert refusal(evict, cluster, pod).causes == ("DisruptionBudget",)


def test_unless_the_budget_always_allows_it(cluster, namespace):
    pod = cluster.pod(namespace, ready=UNREADY)
    always = {"unhealthyPodEvictionPolicy": "AlwaysAllow"}
    cluster.budget(namespace, status=BELOW, minAvailable=1, **always)
    evict(cluster, pod)


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
def test_what_does_not_run_needs_no_budget(cluster, namespace, phase):
    pod = cluster.pod(namespace, phase, UNREADY)
    cluster.budget(namespace, status=SPENT, minAvailable=1)
    evict(cluster, pod)


def test_too_many_evictions_that_nobody_confirmed_are_forbidden_in_the_budgets_name(
    cluster, namespace
):
    pod = cluster.pod(namespace)
    gone = {f"gone-{number}": "2026-01-01T00:00:00Z" for number in range(2001)}
    cluster.budget(
        namespace, status={**SPENT, "disruptionsAllowed": 1, "disruptedPods": gone}, minAvailable=0
    )
    answer = refusal(evict, cluster, pod)
    assert (answer.code, answer.causes) == (403, ("DisruptionBudget",))
    with pytest.raises(client.ApiException) as caught:
        evict(cluster, pod)
    assert classify(caught.value).outcome is EvictionOutcome.BUDGET


def test_a_budget_below_zero_cannot_be(cluster, namespace):
    cluster.budget(namespace, status={}, minAvailable=0)
    assert refusal(cluster.say, namespace, disruptionsAllowed=-1).code == 422


def test_a_crowd_is_refused_without_a_cause_and_told_when_to_come_again(plane, cluster, namespace):
    pod = cluster.pod(namespace)
    _allow_one_at_a_time(cluster, "crowd")
    crowd = config.new_client_from_config(str(plane.kubeconfig))
    crowd.set_default_header("Impersonate-User", "crowd")
    core = client.CoreV1Api(crowd)
    refused: list[client.ApiException] = []

    def ask(_: int) -> None:
        try:
            core.create_namespaced_pod_eviction(
                "work", namespace, {"metadata": {"name": "work"}}, dry_run="All"
            )
        except client.ApiException as error:
            if error.status == 429:
                refused.append(error)

    def crowd_in() -> bool:
        with ThreadPoolExecutor(24) as lanes:
            list(lanes.map(ask, range(72)))
        return bool(refused)

    # Nobody is refused who finds the server idle: it takes two at the same moment.
    eventually(crowd_in, 60.0)
    busy = refused[0]
    answer = classify(busy)
    assert answer.outcome is EvictionOutcome.OVERLOADED
    assert answer.retry_seconds is not None
    crowd.close()
    assert pod.metadata.deletion_timestamp is None


def _allow_one_at_a_time(cluster: Quiet, user: str) -> None:
    flows = client.FlowcontrolApiserverV1Api(cluster.api)
    limited = {"nominalConcurrencyShares": 0, "limitResponse": {"type": "Reject"}}
    flows.create_priority_level_configuration(
        {
            "metadata": {"name": user},
            "spec": {"type": "Limited", "limited": {**limited, "borrowingLimitPercent": 0}},
        }
    )
    everything = {
        "verbs": ["*"],
        "apiGroups": ["*"],
        "resources": ["*"],
        "namespaces": ["*"],
        "clusterScope": True,
    }
    subject = {"kind": "User", "user": {"name": user}}
    flows.create_flow_schema(
        {
            "metadata": {"name": user},
            "spec": {
                "priorityLevelConfiguration": {"name": user},
                "matchingPrecedence": 10,
                "rules": [{"subjects": [subject], "resourceRules": [everything]}],
            },
        }
    )
