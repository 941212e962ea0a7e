"""Jobs move whole: a gang leaves all its nodes at risk at once, a StatefulSet goes pod by pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from kubernetes import client

from tests.remediation.site import eventually
from tests.remediation.story.test_migrated import a_template, is_drained, running_on

if TYPE_CHECKING:
    from tests.remediation.site import Site

LONG_SECONDS = 60.0


def moving(**limits: Any) -> dict[str, Any]:
    wide = {"unavailable_percent": 100, "domains": [], "predicted_percent": 100, **limits}
    release = {"soak_seconds": 600, "interval_seconds": 0.1}
    return {"mode": "migrate", "limits": wide, "release": release}


def whole_nodes(template: dict[str, Any]) -> dict[str, Any]:
    """Let each pod take all eight GPUs of a node, so that each is on its own."""
    gpus = {"nvidia.com/gpu": "8"}
    template["spec"]["containers"][0]["resources"] = {"limits": gpus, "requests": gpus}
    return template


def add_gang(site: Site, name: str, pods: int) -> list[str]:
    """An indexed Job on as many nodes as it has pods; returns those nodes."""
    add_job(site, name, pods)
    eventually(lambda: len(running_on(site)) == pods)
    return sorted(running_on(site).values())


def add_job(site: Site, name: str, pods: int, *, owner: Any = None) -> None:
    """An indexed Job, made by `owner` where there is one."""
    template = whole_nodes(a_template(site, name, restartPolicy="Never"))
    client.BatchV1Api(site.api).create_namespaced_job(
        site.namespace,
        {
            "metadata": {"name": name, "ownerReferences": [] if owner is None else [_ref(owner)]},
            "spec": {
                "parallelism": pods,
                "completions": pods,
                "completionMode": "Indexed",
                "backoffLimit": 100,
                "template": _labelled(template, name),
            },
        },
    )


def _ref(owner: Any) -> dict[str, Any]:
    named = {"name": owner.metadata.name, "uid": owner.metadata.uid}
    return {"apiVersion": "v1", "kind": "ConfigMap", "controller": True, **named}


def test_jobs_of_one_owner_leave_in_one_wave(site: Site) -> None:
    site.add_nodes(5)
    body = {"metadata": {"name": "training"}}
    owner = site.core.create_namespaced_config_map(site.namespace, body)
    for name in ("one", "two"):
        add_job(site, name, 1, owner=owner)
    eventually(lambda: len(running_on(site)) == 2)
    sick = sorted(running_on(site).values())
    with site.run(policy=moving()) as running:
        running.post(*[site.monitoring.fire(name) for name in sick])
        eventually(lambda: all(is_drained(site, name) for name in sick), LONG_SECONDS)
        (wave,) = site.ledger().waves.values()
        assert wave.job == f"ConfigMap {site.namespace}/training"
        assert set(site.ledger().waves) == {owner.metadata.uid}
        assert running.metric("steps_total", decision="evict") == 1


def _labelled(template: dict[str, Any], name: str) -> dict[str, Any]:
    # The real controller sets these itself; the embedded one copies the template.
    labels = {"batch.kubernetes.io/job-name": name, "job-name": name}
    template["metadata"]["labels"] |= labels
    return template


def test_a_gang_leaves_all_its_nodes_at_risk_in_one_wave(site: Site) -> None:
    site.add_nodes(5)
    sick = add_gang(site, "train", 2)
    with site.run(policy=moving()) as running:
        running.post(*[site.monitoring.fire(name) for name in sick])
        eventually(lambda: site.cordoned() == sick)
        grants = site.ledger().grants
        assert len({grants[name].batch for name in sick}) == 1
        eventually(lambda: all(is_drained(site, name) for name in sick), LONG_SECONDS)
        eventually(lambda: len(running_on(site)) == 2, LONG_SECONDS)
        assert not set(running_on(site).values()) & set(sick)
        assert running.metric("steps_total", decision="evict") == 1
        (wave,) = site.ledger().waves.values()
        assert wave.ended_at is not None
        assert wave.nodes == tuple(sick)


def test_a_gang_that_spans_too_many_nodes_at_risk_stays_whole_and_says_so(site: Site) -> None:
    site.add_nodes(4)
    sick = add_gang(site, "train", 3)
    before = running_on(site)
    with site.run(policy=moving()) as running:
        running.post(*[site.monitoring.fire(name) for name in sick])
        eventually(lambda: running.reasons() == dict.fromkeys(sick, "wave_too_large"))
        assert running.metric("episodes", state="blocked") == 3
        assert site.cordoned() == []
        assert running_on(site) == before


@pytest.mark.cluster
def test_a_stateful_set_goes_one_pod_at_a_time_the_last_first(real_site: Site) -> None:
    site = real_site
    names = site.add_nodes(2)
    template = a_template(site, "db")
    client.AppsV1Api(site.api).create_namespaced_stateful_set(
        site.namespace,
        {
            "metadata": {"name": "db"},
            "spec": {
                "replicas": 3,
                "serviceName": "db",
                "podManagementPolicy": "Parallel",
                "selector": {"matchLabels": {"app": "db"}},
                "template": template,
            },
        },
    )
    eventually(lambda: len(running_on(site)) == 3)
    sick = max(names, key=list(running_on(site).values()).count)
    count = list(running_on(site).values()).count(sick)
    with site.run(policy=moving()) as running:
        running.post(site.monitoring.fire(sick))
        eventually(lambda: is_drained(site, sick), LONG_SECONDS)
        eventually(lambda: len(running_on(site)) == 3, LONG_SECONDS)
        assert running.metric("steps_total", decision="evict") == count
        assert running.metric("evictions_total", outcome="accepted") == count
