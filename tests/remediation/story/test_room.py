"""Work leaves when there is room for it, and not before; its node takes no new work meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from kubernetes import client

from remediation.policy.bounds.targets import COOL
from tests.remediation.site import eventually
from tests.remediation.story.test_jobs_moved import LONG_SECONDS, add_gang, moving, whole_nodes
from tests.remediation.story.test_migrated import a_template, add_replicas, is_drained, running_on

if TYPE_CHECKING:
    from tests.remediation.site import Site

TARGET = {"name": COOL.name, "query": COOL.query, "least": COOL.least}


def test_work_waits_for_room_on_an_excluded_node_and_leaves_when_some_comes(site: Site) -> None:
    site.add_nodes(1)
    (sick,) = add_gang(site, "train", 1)
    before = running_on(site)
    with site.run(policy=moving()) as running:
        running.post(site.monitoring.fire(sick))
        eventually(lambda: site.cordoned() == [sick])
        eventually(lambda: running.reasons() == {sick: "no_capacity"})
        assert running_on(site) == before
        site.add_machine(f"late-{site.id}", {"story": site.id})
        eventually(lambda: is_drained(site, sick), LONG_SECONDS)
        eventually(lambda: set(running_on(site).values()) == {f"late-{site.id}"}, LONG_SECONDS)


def test_a_volume_that_can_be_nowhere_else_keeps_its_pod(site: Site) -> None:
    names = site.add_nodes(2)
    bind_to(site, names[0])
    spec: dict[str, Any] = {
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
        "nodeName": names[0],
    }
    add_replicas(site, "db", 1, **spec)
    before = running_on(site)
    with site.run(policy=moving()) as running:
        running.post(site.monitoring.fire(names[0]))
        eventually(lambda: running.reasons() == {names[0]: "no_capacity"})
        assert site.cordoned() == [names[0]]
        assert running_on(site) == before


def bind_to(site: Site, node: str) -> None:
    """A claim whose volume is on one node only."""
    name, size = f"pv-{site.id}", {"storage": "1Gi"}
    here = [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]
    shape = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    site.core.create_persistent_volume(
        {
            "metadata": {"name": name},
            "spec": {
                **shape,
                "capacity": size,
                "local": {"path": "/nowhere"},
                "claimRef": {"namespace": site.namespace, "name": "data"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": here}]}},
            },
        }
    )
    claim = {**shape, "volumeName": name, "resources": {"requests": size}}
    site.core.create_namespaced_persistent_volume_claim(
        site.namespace, {"metadata": {"name": "data"}, "spec": claim}
    )


def test_work_goes_where_it_is_cool_and_stays_while_nobody_can_tell(site: Site) -> None:
    names = site.add_nodes(2)
    add_replicas(site, "serve", 1)
    (sick,) = running_on(site).values()
    (other,) = set(names) - {sick}
    with site.run(policy={**moving(), "targets": [TARGET]}) as running:
        running.post(site.monitoring.fire(sick))
        eventually(lambda: running.reasons() == {sick: "no_capacity"})
        site.monitoring.margins[other] = 2.0
        eventually(lambda: running.metric("tick_duration_seconds_count") > 5)
        assert running.reasons() == {sick: "no_capacity"}
        site.monitoring.margins[other] = 20.0
        eventually(lambda: is_drained(site, sick), LONG_SECONDS)


@pytest.mark.cluster
def test_replicas_that_must_be_spread_stay_where_their_like_would_wait_for_ever(
    real_site: Site,
) -> None:
    site = real_site
    site.add_nodes(2)
    rule = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "serve"}},
    }
    add_replicas(site, "serve", 2, topologySpreadConstraints=[rule])
    before = running_on(site)
    uid, sick = min(before.items())
    with site.run(policy=moving()) as running:
        running.post(site.monitoring.fire(sick))
        eventually(lambda: site.cordoned() == [sick])
        eventually(lambda: running.reasons() == {sick: "no_capacity"})
        assert running_on(site) == before
    # And it was right: the scheduler has no place for the replica that would come instead.
    pods = site.core.list_namespaced_pod(site.namespace).items
    (gone,) = [pod for pod in pods if pod.metadata.uid == uid]
    site.core.delete_namespaced_pod(gone.metadata.name, site.namespace)
    eventually(lambda: _waits_for_a_node(site))


def _waits_for_a_node(site: Site) -> bool:
    conditions = [
        condition
        for pod in site.core.list_namespaced_pod(site.namespace).items
        for condition in pod.status.conditions or ()
    ]
    return any(one.reason == "Unschedulable" and "topology" in one.message for one in conditions)


@pytest.mark.cluster
def test_work_of_high_priority_preempts_nobody_to_leave_its_node(real_site: Site) -> None:
    site = real_site
    site.add_nodes(2)
    high = f"high-{site.id}"
    client.SchedulingV1Api(site.api).create_priority_class(
        {"metadata": {"name": high}, "value": 1000}
    )
    add_whole_nodes(site, "important", priorityClassName=high)
    (sick,) = running_on(site).values()
    add_whole_nodes(site, "other")
    before = running_on(site)
    with site.run(policy=moving()) as running:
        running.post(site.monitoring.fire(sick))
        eventually(lambda: running.reasons() == {sick: "no_capacity"})
        told = running.get(f"/api/v1/episodes/{sick}").json()["finding"]["sentence"]
        assert "unless it preempts" in told
        assert running_on(site) == before
    # And it was right: evicted, the pod is given the room of the other.
    uid = next(uid for uid, node in before.items() if node == sick)
    pods = site.core.list_namespaced_pod(site.namespace).items
    (gone,) = [pod for pod in pods if pod.metadata.uid == uid]
    site.core.delete_namespaced_pod(gone.metadata.name, site.namespace)
    eventually(lambda: not set(running_on(site)) & set(before), LONG_SECONDS)


def add_whole_nodes(site: Site, app: str, **spec: Any) -> None:
    """One replica that takes all GPUs of a node."""
    count = len(running_on(site)) + 1
    template = whole_nodes(a_template(site, app, **spec))
    body = {
        "metadata": {"name": app},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": app}}, "template": template},
    }
    client.AppsV1Api(site.api).create_namespaced_replica_set(site.namespace, body)
    eventually(lambda: len(running_on(site)) == count)
