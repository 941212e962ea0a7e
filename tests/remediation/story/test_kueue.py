"""Work that Kueue admits: what its controller writes on jobs and pods is written by the test.

Its manager is not built here; the labels, gates and finalizers are those that
it puts on pods of a group, the suspension is how it holds jobs back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from kubernetes import client

from tests.remediation.site import eventually
from tests.remediation.story.test_jobs_moved import LONG_SECONDS, add_job, moving, whole_nodes
from tests.remediation.story.test_migrated import a_template, is_drained, running_on

if TYPE_CHECKING:
    from tests.remediation.site import Running, Site

pytestmark = pytest.mark.cluster
GATE = "kueue.x-k8s.io/admission"
FINALIZER = "kueue.x-k8s.io/managed"


def add_pod_group(site: Site, name: str, pods: int) -> None:
    """Replicas that their webhook gates and marks, as each comes to be."""
    template = whole_nodes(a_template(site, name, schedulingGates=[{"name": GATE}]))
    template["metadata"]["labels"] |= {
        "kueue.x-k8s.io/queue-name": "gpus",
        "kueue.x-k8s.io/managed": "true",
        "kueue.x-k8s.io/pod-group-name": name,
    }
    template["metadata"]["annotations"] |= {"kueue.x-k8s.io/pod-group-total-count": str(pods)}
    template["metadata"]["finalizers"] = [FINALIZER]
    spec = {
        "replicas": pods,
        "selector": {"matchLabels": {"app": name}},
        "template": template,
    }
    body = {"metadata": {"name": name}, "spec": spec}
    client.AppsV1Api(site.api).create_namespaced_replica_set(site.namespace, body)
    eventually(lambda: len(gated(site)) == pods)


def gated(site: Site) -> list[str]:
    """The pods that wait to be admitted."""
    pods = site.core.list_namespaced_pod(site.namespace).items
    return [pod.metadata.name for pod in pods if pod.spec.scheduling_gates]


def admit(site: Site) -> None:
    """Let everything that waits be scheduled."""
    for name in gated(site):
        site.core.patch_namespaced_pod(name, site.namespace, {"spec": {"schedulingGates": None}})


def let_go(site: Site) -> None:
    """Take the finalizer off what was replaced, as is done once the replacement is there."""
    for pod in site.core.list_namespaced_pod(site.namespace).items:
        # One without a finalizer may be gone before it is asked for.
        if pod.metadata.deletion_timestamp is not None and pod.metadata.finalizers:
            site.core.patch_namespaced_pod(
                pod.metadata.name, site.namespace, {"metadata": {"finalizers": None}}
            )


def accepted(running: Running) -> float:
    return running.metric("evictions_total", outcome="accepted")


def test_a_pod_group_leaves_in_one_wave_and_its_gated_successors_are_no_failure(
    real_site: Site,
) -> None:
    site = real_site
    site.add_nodes(5)
    add_pod_group(site, "train", 2)
    admit(site)
    eventually(lambda: len(running_on(site)) == 2, LONG_SECONDS)
    sick = sorted(running_on(site).values())
    policy = {**moving(), "distress": {"pending_pods": 0, "pending_seconds": 0}}
    with site.run(policy=policy) as running:
        running.post(*[site.monitoring.fire(name) for name in sick])
        eventually(lambda: accepted(running) == 2, LONG_SECONDS)
        (wave,) = site.ledger().waves.values()
        assert wave.job == f"PodGroup {site.namespace}/train"
        # Its successors are there and gated, and what they replace is held by its finalizer.
        eventually(lambda: len(gated(site)) == 2, LONG_SECONDS)
        told = {"pods_ending", "wave_elsewhere"}
        eventually(lambda: set(running.reasons().values()) == told, LONG_SECONDS)
        assert running.metric("episodes", state="migrating") == 2
        let_go(site)
        eventually(lambda: all(is_drained(site, name) for name in sick), LONG_SECONDS)
        assert len(gated(site)) == 2
        admit(site)
        eventually(lambda: len(running_on(site)) == 2, LONG_SECONDS)
        assert not set(running_on(site).values()) & set(sick)
        assert accepted(running) == 2
        assert running.metric("steps_total", decision="evict") == 1
    clean_up(site)


def clean_up(site: Site) -> None:
    """Leave nothing behind that a finalizer would hold for ever."""
    client.AppsV1Api(site.api).delete_namespaced_replica_set("train", site.namespace)
    eventually(lambda: not _still_there(site), LONG_SECONDS)


def _still_there(site: Site) -> list[Any]:
    let_go(site)
    found: list[Any] = site.core.list_namespaced_pod(site.namespace).items
    return found


def test_a_job_that_is_suspended_while_it_moves_has_moved_and_is_not_asked_again(
    real_site: Site,
) -> None:
    site = real_site
    site.add_nodes(5)
    add_job(site, "train", 2)
    eventually(lambda: len(running_on(site)) == 2, LONG_SECONDS)
    sick = sorted(running_on(site).values())
    jobs = client.BatchV1Api(site.api)
    with site.run(policy=moving()) as running:
        running.post(*[site.monitoring.fire(name) for name in sick])
        eventually(lambda: accepted(running) == 2, LONG_SECONDS)
        jobs.patch_namespaced_job("train", site.namespace, {"spec": {"suspend": True}})
        eventually(lambda: all(is_drained(site, name) for name in sick), LONG_SECONDS)
        eventually(lambda: running_on(site) == {}, LONG_SECONDS)
        jobs.patch_namespaced_job("train", site.namespace, {"spec": {"suspend": False}})
        eventually(lambda: len(running_on(site)) == 2, LONG_SECONDS)
        assert not set(running_on(site).values()) & set(sick)
        assert accepted(running) == 2
        (wave,) = site.ledger().waves.values()
        assert wave.ended_at is not None
