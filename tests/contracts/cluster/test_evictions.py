from __future__ import annotations

import pytest

from tests.contracts.cluster.asking import eventually, evict, is_gone, refusal, run_pod

OTHER_UID = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
def pod(cluster, namespace, node):
    return run_pod(cluster, namespace, node, "work", {"app": "work"})


def _budget(cluster, namespace, name="budget", **spec):
    selector = {"matchLabels": {"app": "work"}}
    document = {"metadata": {"name": name}, "spec": {"selector": selector, **spec}}
    cluster.policy.create_namespaced_pod_disruption_budget(namespace, document)
    eventually(lambda: _observed(cluster, namespace, name))


def _observed(cluster, namespace, name):
    found = cluster.policy.read_namespaced_pod_disruption_budget(name, namespace)
    return found.status.observed_generation == found.metadata.generation


def test_an_accepted_eviction_says_why_and_the_pod_goes_after_its_grace(cluster, namespace, pod):
    evict(cluster, pod, uid=pod.metadata.uid)
    eventually(lambda: is_gone(cluster, namespace, "work"))


def test_a_pod_that_terminates_carries_the_reason_and_its_own_grace(cluster, namespace, node):
    pod = run_pod(cluster, namespace, node, "held", finalizers=["example.com/hold"])
    evict(cluster, pod)
    after = cluster.core.read_namespaced_pod("held", namespace)
    assert after.metadata.deletion_timestamp is not None
    reasons = {c.type: c.reason for c in after.status.conditions}
    assert reasons["DisruptionTarget"] == "EvictionByEvictionAPI"
    cluster.core.patch_namespaced_pod("held", namespace, {"metadata": {"finalizers": None}})
    eventually(lambda: is_gone(cluster, namespace, "held"))


def test_accepted_is_not_gone_a_finalizer_keeps_the_pod(cluster, namespace, node):
    pod = run_pod(cluster, namespace, node, "held", finalizers=["example.com/hold"])
    for _ in range(2):
        evict(cluster, pod, uid=pod.metadata.uid)
    eventually(
        lambda: (
            cluster.core.read_namespaced_pod(
                "held", namespace
            ).metadata.deletion_grace_period_seconds
            == 0
        )
    )
    assert cluster.core.read_namespaced_pod("held", namespace).metadata.uid == pod.metadata.uid
    cluster.core.patch_namespaced_pod("held", namespace, {"metadata": {"finalizers": None}})
    eventually(lambda: is_gone(cluster, namespace, "held"))


def test_another_uid_is_a_conflict_and_the_pod_stays(cluster, namespace, pod):
    answer = refusal(evict, cluster, pod, uid=OTHER_UID)
    assert (answer.code, answer.reason) == (409, "Conflict")
    assert cluster.core.read_namespaced_pod("work", namespace).metadata.deletion_timestamp is None


def test_a_pod_that_is_gone_is_not_found(cluster, namespace, pod):
    evict(cluster, pod, grace_period_seconds=0)
    eventually(lambda: is_gone(cluster, namespace, "work"))
    answer = refusal(evict, cluster, pod)
    assert (answer.code, answer.reason) == (404, "NotFound")


def test_no_grace_removes_the_pod_at_once_whatever_still_runs(cluster, namespace, pod):
    evict(cluster, pod, grace_period_seconds=0)
    assert is_gone(cluster, namespace, "work")


def test_a_dry_run_is_accepted_and_touches_nothing(cluster, namespace, pod):
    evict(cluster, pod, dry_run=["All"])
    body = {"metadata": {"name": "work"}}
    cluster.core.create_namespaced_pod_eviction("work", namespace, body, dry_run="All")
    after = cluster.core.read_namespaced_pod("work", namespace)
    assert after.metadata.resource_version == pod.metadata.resource_version


def test_an_exhausted_budget_refuses_and_names_itself_as_the_cause(cluster, namespace, pod):
    _budget(cluster, namespace, minAvailable=1)
    answer = refusal(evict, cluster, pod)
    assert (answer.code, answer.reason) == (429, "TooManyRequests")
    assert answer.causes == ("DisruptionBudget",)
    assert answer.retry_after is None
    assert refusal(evict, cluster, pod, dry_run=["All"]).code == 429


def test_a_budget_pays_once_and_a_dry_run_costs_nothing(cluster, namespace, node, pod):
    run_pod(cluster, namespace, node, "second", {"app": "work"}, finalizers=["example.com/hold"])
    _budget(cluster, namespace, minAvailable=1)
    second = cluster.core.read_namespaced_pod("second", namespace)
    read = cluster.policy.read_namespaced_pod_disruption_budget
    eventually(lambda: read("budget", namespace).status.disruptions_allowed == 1)
    evict(cluster, second, dry_run=["All"])
    evict(cluster, second)
    assert refusal(evict, cluster, pod).causes == ("DisruptionBudget",)
    evict(cluster, second)  # already terminating: accepted again, and not charged
    cluster.core.patch_namespaced_pod("second", namespace, {"metadata": {"finalizers": None}})


def test_two_budgets_on_one_pod_are_a_server_error_without_a_reason(cluster, namespace, pod):
    _budget(cluster, namespace, "one", minAvailable=0)
    _budget(cluster, namespace, "two", minAvailable=0)
    answer = refusal(evict, cluster, pod)
    assert (answer.code, answer.reason) == (500, None)


def test_the_name_in_the_body_must_be_the_one_in_the_address(cluster, namespace, pod):
    body = {"metadata": {"name": "another"}}
    create = cluster.core.create_namespaced_pod_eviction
    assert refusal(create, "work", namespace, body).code == 400


def test_budgets_are_listed_with_what_they_allow(cluster, namespace, pod):
    _budget(cluster, namespace, maxUnavailable=1)
    (budget,) = cluster.policy.list_namespaced_pod_disruption_budget(namespace).items
    assert budget.status.expected_pods is not None
    everywhere = cluster.policy.list_pod_disruption_budget_for_all_namespaces().items
    assert namespace in {found.metadata.namespace for found in everywhere}
