"""Work moves off an excluded node through the Eviction API, never by force."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from kubernetes import client

from tests.remediation.site import SOON_BACK, eventually

if TYPE_CHECKING:
    from tests.remediation.site import Running, Site

MIGRATE = {
    "mode": "migrate",
    "limits": {"unavailable_percent": 100},
    "release": SOON_BACK,
}


def a_template(site: Site, app: str, **spec: Any) -> dict[str, Any]:
    gpus = {"nvidia.com/gpu": "1"}
    return {
        "metadata": {"labels": {"app": app}, "annotations": {}},
        "spec": {
            "nodeSelector": {"story": site.id},
            "terminationGracePeriodSeconds": 1,
            "containers": [
                {"name": "work", "image": "none", "resources": {"limits": gpus, "requests": gpus}}
            ],
            **spec,
        },
    }


def add_replicas(site: Site, app: str, count: int, **spec: Any) -> None:
    client.AppsV1Api(site.api).create_namespaced_replica_set(
        site.namespace,
        {
            "metadata": {"name": app},
            "spec": {
                "replicas": count,
                "selector": {"matchLabels": {"app": app}},
                "template": a_template(site, app, **spec),
            },
        },
    )
    eventually(lambda: len(running_on(site)) == count)


def running_on(site: Site) -> dict[str, str]:
    """The nodes of the pods that run and stay, by uid."""
    pods = site.core.list_namespaced_pod(site.namespace).items
    return {
        pod.metadata.uid: pod.spec.node_name
        for pod in pods
        if pod.status.phase == "Running" and pod.metadata.deletion_timestamp is None
    }


def is_drained(site: Site, name: str) -> bool:
    mark = site.mark(name)
    return mark is not None and mark["state"] == "drained"


def evicted(running: Running, outcome: str) -> float:
    return running.metric("evictions_total", outcome=outcome)


def test_the_pods_of_a_failing_node_run_elsewhere_before_it_fails(site: Site) -> None:
    names = site.add_nodes(3)
    add_replicas(site, "serve", 6)
    before = running_on(site)
    sick = max(names, key=list(before.values()).count)
    with site.run(policy=MIGRATE) as running:
        site.monitoring.fire(sick)
        eventually(lambda: is_drained(site, sick))
        eventually(lambda: len(running_on(site)) == 6)
        after = running_on(site)
        assert sick not in after.values()
        stayed = {uid for uid, node in before.items() if node != sick}
        assert stayed <= set(after)
        assert evicted(running, "accepted") == list(before.values()).count(sick)
        assert running.metric("steps_total", decision="evict") == 1


@pytest.mark.cluster
def test_a_deployment_in_the_middle_of_a_roll_out_moves_as_one(real_site: Site) -> None:
    site = real_site
    (sick,) = site.add_nodes(1)
    apps, changed = client.AppsV1Api(site.api), a_template(site, "serve")
    selector = {"matchLabels": {"app": "serve"}}
    rolling = {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}
    spec = {"replicas": 3, "selector": selector, "strategy": rolling}
    body = {"metadata": {"name": "serve"}, "spec": {**spec, "template": changed}}
    apps.create_namespaced_deployment(site.namespace, body)
    eventually(lambda: len(running_on(site)) == 3)
    # The new pods never get ready, so that both ReplicaSets have some.
    changed["metadata"]["annotations"]["version"] = "2"
    changed["spec"]["schedulingGates"] = [{"name": "example.com/not-yet"}]
    apps.patch_namespaced_deployment("serve", site.namespace, {"spec": {"template": changed}})
    eventually(lambda: len(apps.list_namespaced_replica_set(site.namespace).items) == 2)
    site.add_machine(f"well-{site.id}", {"story": site.id})
    with site.run(policy=MIGRATE) as running:
        site.monitoring.fire(sick)
        eventually(lambda: is_drained(site, sick))
        (wave,) = site.ledger().waves.values()
        assert wave.job == f"Deployment {site.namespace}/serve"
        eventually(lambda: set(running_on(site).values()) == {f"well-{site.id}"})
        assert evicted(running, "accepted") == 3
        assert running.metric("steps_total", decision="evict") == 1


def test_a_disruption_budget_is_waited_for(site: Site) -> None:
    names = site.add_nodes(3)
    add_replicas(site, "guarded", 3)
    policies = client.PolicyV1Api(site.api)
    policies.create_namespaced_pod_disruption_budget(
        site.namespace,
        {
            "metadata": {"name": "all-stay"},
            "spec": {"minAvailable": 3, "selector": {"matchLabels": {"app": "guarded"}}},
        },
    )
    before = running_on(site)
    sick = next(name for name in names if name in before.values())
    with site.run(policy=MIGRATE) as running:
        site.monitoring.fire(sick)
        eventually(lambda: running.reasons() == {sick: "disruption_budget"})
        assert running.metric("episodes", state="blocked") == 1
        assert running_on(site) == before
        policies.delete_namespaced_pod_disruption_budget("all-stay", site.namespace)
        eventually(lambda: is_drained(site, sick))


def test_one_pod_with_local_data_keeps_the_whole_wave_where_it_is(site: Site) -> None:
    names = site.add_nodes(2)
    add_replicas(site, "scratch", 2, volumes=[{"name": "scratch", "emptyDir": {}}])
    before = running_on(site)
    sick = next(name for name in names if name in before.values())
    with site.run(policy=MIGRATE) as running:
        site.monitoring.fire(sick)
        eventually(lambda: running.reasons() == {sick: "pod_has_local_data"})
        assert site.cordoned() == [sick]
        assert running_on(site) == before
