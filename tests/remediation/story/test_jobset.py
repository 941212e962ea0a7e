"""A JobSet under its real controller: its pods at risk leave together, and it restarts once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from kubernetes import client

from tests.controlplane.jobset_controller import GROUP, PLURAL, VERSION
from tests.remediation.site import eventually
from tests.remediation.story.test_jobs_moved import LONG_SECONDS, moving, whole_nodes
from tests.remediation.story.test_migrated import a_template, is_drained, running_on

if TYPE_CHECKING:
    from tests.remediation.site import Site

pytestmark = pytest.mark.cluster
RESTARTS = 3


def add_jobset(site: Site, replicas: int) -> Any:
    """One replicated job of as many jobs, each with one pod that needs a whole node."""
    template = whole_nodes(a_template(site, "llm", restartPolicy="Never"))
    job = {"parallelism": 1, "completions": 1, "backoffLimit": 0, "template": template}
    return client.CustomObjectsApi(site.api).create_namespaced_custom_object(
        GROUP,
        VERSION,
        site.namespace,
        PLURAL,
        {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": "JobSet",
            "metadata": {"name": "llm"},
            "spec": {
                "failurePolicy": {"maxRestarts": RESTARTS},
                "replicatedJobs": [
                    {"name": "worker", "replicas": replicas, "template": {"spec": job}}
                ],
            },
        },
    )


def restarts(site: Site) -> int:
    found = client.CustomObjectsApi(site.api).get_namespaced_custom_object(
        GROUP, VERSION, site.namespace, PLURAL, "llm"
    )
    return int((found.get("status") or {}).get("restarts") or 0)


def test_a_jobset_leaves_its_nodes_at_risk_in_one_wave_and_restarts_once(
    real_site: Site, jobset_controller: object
) -> None:
    site = real_site
    site.add_nodes(6)
    made = add_jobset(site, 3)
    eventually(lambda: len(running_on(site)) == 3, LONG_SECONDS)
    before = running_on(site)
    *sick, well = sorted(before.values())
    with site.run(policy=moving()) as running:
        running.post(*[site.monitoring.fire(name) for name in sick])
        eventually(lambda: all(is_drained(site, name) for name in sick), LONG_SECONDS)
        (wave,) = site.ledger().waves.values()
        assert wave.job == f"JobSet {site.namespace}/llm"
        assert set(site.ledger().waves) == {made["metadata"]["uid"]}
        assert wave.nodes == tuple(sick)
        eventually(lambda: _runs_anew(site, before), LONG_SECONDS)
        assert not set(running_on(site).values()) & set(sick)
        assert running.metric("evictions_total", outcome="accepted") == 2
        assert restarts(site) == 1
        assert not site.node(well).spec.unschedulable


def _runs_anew(site: Site, before: dict[str, str]) -> bool:
    """Whether all three run again, the one on the well node too: the set restarted as a whole."""
    now = running_on(site)
    return len(now) == 3 and not set(now) & set(before)


def test_a_jobset_that_does_not_fit_elsewhere_stays_whole(
    real_site: Site, jobset_controller: object
) -> None:
    site = real_site
    site.add_nodes(3)
    add_jobset(site, 3)
    eventually(lambda: len(running_on(site)) == 3, LONG_SECONDS)
    before = running_on(site)
    sick = sorted(before.values())[:2]
    # Tokens for excluding both, and for asking whether the set can go after all.
    with site.run(policy=moving(token_burst=9, breaker_grants=9)) as running:
        running.post(*[site.monitoring.fire(name) for name in sick])
        eventually(lambda: set(running.reasons().values()) == {"no_capacity"}, LONG_SECONDS)
        assert running_on(site) == before
        assert restarts(site) == 0
