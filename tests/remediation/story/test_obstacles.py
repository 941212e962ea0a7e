"""What stands in the way of work that should leave, on the real server, and a node that dies."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from kubernetes import client

from simulator.controlplane.kubelet import LEASES
from tests.remediation.site import eventually
from tests.remediation.story.test_jobs_moved import LONG_SECONDS, moving
from tests.remediation.story.test_migrated import a_template, add_replicas, is_drained, running_on

if TYPE_CHECKING:
    from simulator.controlplane.kubelet import FakeKubelets
    from tests.remediation.site import Running, Site

pytestmark = pytest.mark.cluster


def one_replica(site: Site, **spec: Any) -> str:
    """Run one replica on one of two nodes; returns its node."""
    site.add_nodes(2)
    add_replicas(site, "serve", 1, **spec)
    (sick,) = running_on(site).values()
    return sick


def take_away(site: Site, kubelets: FakeKubelets, node: str) -> None:
    """Take a node away for good, as its administrator would."""
    kubelets.silence(node)
    site.core.delete_node(node)
    client.CoordinationV1Api(site.api).delete_namespaced_lease(node, LEASES)


def add_budget(site: Site, name: str, **spec: Any) -> None:
    selector = {"matchLabels": {"app": "serve"}}
    client.PolicyV1Api(site.api).create_namespaced_pod_disruption_budget(
        site.namespace, {"metadata": {"name": name}, "spec": {"selector": selector, **spec}}
    )


def said_of(running: Running, node: str) -> str:
    found: str = running.get(f"/api/v1/episodes/{node}").json()["finding"]["sentence"]
    return found


def test_two_budgets_over_one_pod_keep_it_and_are_named(real_site: Site) -> None:
    site = real_site
    sick = one_replica(site)
    for name in ("one", "two"):
        add_budget(site, name, minAvailable=0)
    before = running_on(site)
    with site.run(policy=moving()) as running:
        running.post(site.monitoring.fire(sick))
        eventually(lambda: running.reasons() == {sick: "eviction_refused"})
        assert "more than one disruption budget claims" in said_of(running, sick)
        assert running.metric("episodes", state="blocked") == 1
        assert running_on(site) == before


def test_a_pod_without_a_controller_stays_and_is_named(real_site: Site) -> None:
    site = real_site
    sick = site.add_nodes(2)[0]
    template = a_template(site, "lone", nodeName=sick)
    site.core.create_namespaced_pod(
        site.namespace, {**template, "metadata": {**template["metadata"], "name": "lone"}}
    )
    eventually(lambda: len(running_on(site)) == 1)
    with site.run(policy=moving()) as running:
        running.post(site.monitoring.fire(sick))
        eventually(lambda: running.reasons() == {sick: "pod_unmanaged"})
        assert "lone has no controller" in said_of(running, sick)
        assert len(running_on(site)) == 1


def test_a_pod_that_is_not_ready_below_its_budget_waits_until_the_budget_lets_it_go(
    real_site: Site,
) -> None:
    site = real_site
    sick = one_replica(site, readinessGates=[{"conditionType": "example.com/loaded"}])
    (pod,) = site.core.list_namespaced_pod(site.namespace).items
    unready = {"type": "Ready", "status": "False", "reason": "ReadinessGatesNotReady"}
    site.core.patch_namespaced_pod_status(
        pod.metadata.name, site.namespace, {"status": {"conditions": [unready]}}
    )
    add_budget(site, "all-stay", minAvailable=1)
    with site.run(policy=moving()) as running:
        running.post(site.monitoring.fire(sick))
        eventually(lambda: running.reasons() == {sick: "disruption_budget"})
        allow = {"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}}
        client.PolicyV1Api(site.api).patch_namespaced_pod_disruption_budget(
            "all-stay", site.namespace, allow
        )
        eventually(lambda: is_drained(site, sick), LONG_SECONDS)


def test_pods_that_never_end_on_a_dead_node_are_no_success_and_are_not_asked_again(
    real_site: Site, kubelets: FakeKubelets
) -> None:
    site = real_site
    sick = one_replica(site)
    kubelets.silence(sick)
    with site.run(policy={**moving(), "migrate": {"stuck_seconds": 0.5}}) as running:
        running.post(site.monitoring.fire(sick))
        eventually(lambda: running.reasons() == {sick: "pod_stuck"}, LONG_SECONDS)
        assert "it is not moved yet" in said_of(running, sick)
        condition = {"type": "Ready", "status": "Unknown"}
        site.core.patch_node_status(sick, {"status": {"conditions": [condition]}})
        eventually(lambda: running.reasons() == {sick: "node_lost"}, LONG_SECONDS)
        time.sleep(1.0)
        assert not is_drained(site, sick)
        assert running.metric("evictions_total", outcome="accepted") == 1
        assert running.metric("steps_total", decision="settle") == 0


def test_another_machine_under_the_name_is_not_the_one_that_was_sick(
    real_site: Site, kubelets: FakeKubelets
) -> None:
    site = real_site
    sick = site.add_nodes(3)[0]
    with site.run(policy={**moving(), "mode": "exclude"}) as running:
        running.post(site.monitoring.fire(sick))
        eventually(lambda: site.cordoned() == [sick])
        first = site.ledger().grants[sick]
        take_away(site, kubelets, sick)
        site.monitoring.quiet(sick)
        eventually(lambda: site.ledger().grants == {})
        kubelets.add_node(sick, labels={"story": site.id})
        eventually(lambda: site.node(sick).spec.taints is None)
        assert site.node(sick).metadata.uid != first.node_uid
        eventually(lambda: running.reasons() == {})
        assert site.cordoned() == []
        assert site.mark(sick) is None


def test_a_mark_that_was_copied_to_another_machine_is_not_believed(real_site: Site) -> None:
    site = real_site
    sick, other, *_ = site.add_nodes(3)
    with site.run(policy={**moving(), "mode": "exclude"}) as running:
        running.post(site.monitoring.fire(sick))
        eventually(lambda: site.cordoned() == [sick])
        mark = site.node(sick).metadata.annotations
        copied = {"metadata": {"annotations": {k: v for k, v in mark.items() if "forewarn" in k}}}
        site.core.patch_node(other, copied)
        eventually(lambda: running.reasons().get(other) == "uid_changed")
        assert site.cordoned() == [sick]
