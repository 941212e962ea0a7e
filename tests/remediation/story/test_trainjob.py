"""A TrainJob under the real Kubeflow Trainer: its ranks at risk leave together, and it goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from kubernetes import client

from tests.controlplane.kubeflow_trainer import GROUP, VERSION
from tests.remediation.site import eventually
from tests.remediation.story.test_jobs_moved import LONG_SECONDS, moving, whole_nodes
from tests.remediation.story.test_migrated import a_template, is_drained, running_on

if TYPE_CHECKING:
    from tests.remediation.site import Site

pytestmark = pytest.mark.cluster


def add_trainjob(site: Site, ranks: int) -> None:
    """A runtime whose ranks need a whole node each, and one job of it."""
    template = whole_nodes(a_template(site, "llm", restartPolicy="Never"))
    template["spec"]["containers"][0]["name"] = "node"
    trainer = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    job = {"metadata": {"labels": trainer}, "spec": {"template": template}}
    runtime = {
        "mlPolicy": {"numNodes": ranks},
        "template": {"spec": {"replicatedJobs": [{"name": "node", "template": job}]}},
    }
    create(site, "TrainingRuntime", "trainingruntimes", "plain", runtime)
    spec = {"runtimeRef": {"kind": "TrainingRuntime", "name": "plain"}}
    create(site, "TrainJob", "trainjobs", "llm", spec)


def create(site: Site, kind: str, plural: str, name: str, spec: dict[str, Any]) -> None:
    body = {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }
    custom = client.CustomObjectsApi(site.api)
    custom.create_namespaced_custom_object(GROUP, VERSION, site.namespace, plural, body)


def conditions(site: Site) -> set[str]:
    """What is true of the job."""
    found = client.CustomObjectsApi(site.api).get_namespaced_custom_object(
        GROUP, VERSION, site.namespace, "trainjobs", "llm"
    )
    told = (found.get("status") or {}).get("conditions") or ()
    return {one["type"] for one in told if one["status"] == "True"}


def test_a_trainjob_leaves_its_nodes_at_risk_in_one_wave_and_goes_on(
    real_site: Site, trainer: object
) -> None:
    site = real_site
    site.add_nodes(5)
    add_trainjob(site, 3)
    eventually(lambda: len(running_on(site)) == 3, LONG_SECONDS)
    *sick, well = sorted(running_on(site).values())
    with site.run(policy=moving()) as running:
        running.post(*[site.monitoring.fire(name) for name in sick])
        eventually(lambda: all(is_drained(site, name) for name in sick), LONG_SECONDS)
        (wave,) = site.ledger().waves.values()
        assert wave.job == f"JobSet {site.namespace}/llm"
        assert wave.nodes == tuple(sick)
        eventually(lambda: len(running_on(site)) == 3, LONG_SECONDS)
        assert not set(running_on(site).values()) & set(sick)
        assert running.metric("evictions_total", outcome="accepted") == 2
        assert running.metric("steps_total", decision="evict") == 1
        assert not site.node(well).spec.unschedulable
    assert conditions(site) & {"Failed", "Complete"} == set()
