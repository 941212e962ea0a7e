"""A drained node is handed to whoever repairs it, by an object, and taken back before work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from kubernetes import client

from remediation.policy.facts.mark import EPISODE_ANNOTATION
from tests.remediation.proxy import Fate, Proxy
from tests.remediation.site import SOON_BACK, Process, eventually
from tests.remediation.story.test_jobs_moved import LONG_SECONDS

if TYPE_CHECKING:
    from tests.remediation.site import Site


def a_repair_job(site: Site) -> dict[str, Any]:
    """A template of a Job that starts nothing here."""
    container = {"name": "fix", "image": "fix", "args": ["{node}", "{cause}"]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "fix-{node}", "namespace": site.namespace},
        "spec": {
            "parallelism": 0,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }


def moving(template: dict[str, Any], **changes: Any) -> dict[str, Any]:
    limits = {"unavailable_percent": 100, "domains": [], "predicted_percent": 100}
    fields = {"mode": "migrate", "limits": limits, "handover": {"object": template}}
    return {**fields, "release": SOON_BACK, **changes}


def jobs(site: Site) -> dict[str, Any]:
    found = client.BatchV1Api(site.api).list_namespaced_job(site.namespace).items
    return {job.metadata.name: job for job in found if job.metadata.deletion_timestamp is None}


def handed(site: Site, node: str) -> Any:
    return (site.mark(node) or {}).get("handed")


def test_a_drained_node_is_handed_over_and_taken_back_before_work_returns(site: Site) -> None:
    sick, *_ = site.add_nodes(2)
    with site.run(policy=moving(a_repair_job(site))) as running:
        running.post(site.monitoring.fire(sick))
        eventually(lambda: (handed(site, sick) or {}).get("made"))
        eventually(lambda: running.metric("episodes", state="handed_over") == 1)
        (job,) = jobs(site).values()
        assert job.metadata.name == f"fix-{sick}"
        assert job.spec.template.spec.containers[0].args == [sick, "memory"]
        assert EPISODE_ANNOTATION in job.metadata.annotations
        assert running.reasons() == {sick: "in_repair"}
        assert "AtRiskHandedOver" in site.events(sick)
        site.monitoring.quiet(sick)
        eventually(lambda: site.mark(sick) is None, LONG_SECONDS)
        assert jobs(site) == {}
        assert site.cordoned() == []


def test_somebody_elses_object_of_that_name_is_left_alone(site: Site) -> None:
    sick, *_ = site.add_nodes(2)
    theirs = a_repair_job(site)
    theirs["metadata"]["name"] = f"fix-{sick}"
    client.BatchV1Api(site.api).create_namespaced_job(site.namespace, theirs)
    with site.run(policy=moving(a_repair_job(site))) as running:
        running.post(site.monitoring.fire(sick))
        failing = {"source": "kubernetes", "reason": "unexpected_answer"}
        eventually(lambda: running.metric("errors_total", **failing))
        assert "not of this episode" in str(running.log())
        assert not handed(site, sick)["made"]
        site.monitoring.quiet(sick)
        eventually(lambda: site.mark(sick) is None, LONG_SECONDS)
        assert set(jobs(site)) == {f"fix-{sick}"}


@pytest.mark.cluster
def test_it_may_be_of_any_kind_that_the_cluster_knows_by_then(real_site: Site) -> None:
    site = real_site
    sick, *_ = site.add_nodes(2)
    group = f"repair-{site.id}.example.com"
    template = {
        "apiVersion": f"{group}/v1",
        "kind": "Repair",
        "metadata": {"name": "{node}"},
        "spec": {"why": "{reason}"},
    }
    custom = client.CustomObjectsApi(site.api)
    with site.run(policy=moving(template)) as running:
        running.post(site.monitoring.fire(sick))
        failing = {"source": "kubernetes", "reason": "not_found"}
        eventually(lambda: running.metric("errors_total", **failing))
        define(site, group)
        eventually(lambda: (handed(site, sick) or {}).get("made"), LONG_SECONDS)
        made = custom.get_cluster_custom_object(group, "v1", "repairs", sick)
        assert made["spec"]["why"].startswith("critical ForewarnNodeFailureLikely")
        assert running.order(f"/api/v1/episodes/{sick}/release", author="a", reason="r").ok
        eventually(lambda: site.mark(sick) is None, LONG_SECONDS)
        found = custom.list_cluster_custom_object(group, "v1", "repairs")["items"]
        assert [one for one in found if one["metadata"]["name"] == sick] == []


def define(site: Site, group: str) -> None:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    client.ApiextensionsV1Api(site.api).create_custom_resource_definition(
        {
            "metadata": {"name": f"repairs.{group}"},
            "spec": {
                "group": group,
                "scope": "Cluster",
                "names": {"plural": "repairs", "kind": "Repair"},
                "versions": [version],
            },
        }
    )


# The mark names the object; the object is there and the mark does not say so yet.
POINTS = [
    pytest.param("POST", "/jobs", id="the-mark-names-it-and-nothing-is-made"),
    pytest.param("PATCH", "/nodes/", id="it-is-made-and-the-mark-does-not-say-so"),
]


@pytest.mark.scenario
@pytest.mark.parametrize(("method", "path"), POINTS)
def test_killed_while_it_hands_over_there_is_one_object_and_it_is_taken_back(
    site: Site, method: str, path: str
) -> None:
    sick, *_ = site.add_nodes(2)
    held = _once_made(site, sick, method, path)
    with Proxy(site.kubeconfig, held) as proxy:
        kubeconfig = str(proxy.write_kubeconfig(site.folder / "proxied"))
        kubernetes = {"kubeconfig": kubeconfig, "namespace": site.namespace}
        config = site.settings(kubernetes=kubernetes, policy=moving(a_repair_job(site)))
        site.monitoring.fire(sick)
        with Process(config) as first:
            assert proxy.held.wait(LONG_SECONDS)
            assert not handed(site, sick)["made"]
            with Process(config):
                first.kill()
                eventually(lambda: (handed(site, sick) or {}).get("made"), LONG_SECONDS)
                assert set(jobs(site)) == {f"fix-{sick}"}
                site.monitoring.quiet(sick)
                eventually(lambda: site.mark(sick) is None, LONG_SECONDS)
                assert jobs(site) == {}


@pytest.mark.scenario
def test_killed_between_taking_back_and_release_the_other_releases(site: Site) -> None:
    sick, *_ = site.add_nodes(2)
    gone: list[bool] = []

    def held(method: str, path: str) -> Fate:
        if method == "DELETE" and "/jobs/" in path:
            gone.append(True)
        if method == "PATCH" and "/nodes/" in path and len(gone) == 1:
            gone.append(True)
            return Fate.IS_HELD
        return Fate.PASSES

    with Proxy(site.kubeconfig, held) as proxy:
        kubeconfig = str(proxy.write_kubeconfig(site.folder / "proxied"))
        kubernetes = {"kubeconfig": kubeconfig, "namespace": site.namespace}
        config = site.settings(kubernetes=kubernetes, policy=moving(a_repair_job(site)))
        site.monitoring.fire(sick)
        with Process(config) as first:
            eventually(lambda: (handed(site, sick) or {}).get("made"), LONG_SECONDS)
            site.monitoring.quiet(sick)
            assert proxy.held.wait(LONG_SECONDS)
            with Process(config):
                first.kill()
                eventually(lambda: site.mark(sick) is None, LONG_SECONDS)
                assert jobs(site) == {}
                assert site.cordoned() == []


def _once_made(site: Site, node: str, method: str, path: str) -> Any:
    """Hold the first request of a kind that comes once the mark names the object."""
    seen: list[str] = []

    def fate(asked: str, where: str) -> Fate:
        if asked != method or path not in where or seen or handed(site, node) is None:
            return Fate.PASSES
        seen.append(where)
        return Fate.IS_HELD

    return fate
