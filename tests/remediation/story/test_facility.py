"""A rack in trouble is one event: no new work on any of its nodes, and none of them drained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.remediation.site import eventually
from tests.remediation.story.test_jobs_moved import LONG_SECONDS, moving
from tests.remediation.story.test_migrated import add_replicas, running_on

if TYPE_CHECKING:
    from tests.remediation.site import Site


def test_a_rack_in_trouble_takes_no_new_work_and_keeps_what_it_has(site: Site) -> None:
    names = [f"r{number}-{site.id}" for number in range(5)]
    for number, name in enumerate(names):
        rack = "a" if number < 4 else "b"
        site.add_machine(name, {"story": site.id, "topology.kubernetes.io/rack": rack})
    eventually(lambda: all(site.core.read_node(name).spec.taints is None for name in names))
    add_replicas(site, "serve", 5)
    before = running_on(site)
    policy = moving(domains=[{"label": "topology.kubernetes.io/rack", "concurrency": 4}])
    policy["facility"] = {"calm_seconds": 0.5}
    with site.run(policy=policy) as running:
        running.post(*[site.monitoring.fire(name) for name in names[:3]])
        softly = ["PreferNoSchedule"]
        eventually(lambda: all(site.our_taints(name) == softly for name in names[:4]))
        assert site.our_taints(names[4]) == []
        assert site.cordoned() == []
        assert running.metric("facility_events") == 1
        assert running.metric("episodes", state="facility") == 4
        assert running_on(site) == before
        (event,) = site.ledger().facilities.values()
        assert {(site.mark(name) or {}).get("episode") for name in names[:4]} == {event.id}
        for name in names[:4]:
            site.monitoring.quiet(name)
        eventually(lambda: running.metric("facility_events") == 0)
        eventually(lambda: (site.mark(names[3]) or {}).get("state") == "verifying")


def test_a_rack_is_left_node_by_node_for_another_rack_where_the_policy_says_so(
    site: Site,
) -> None:
    label = "topology.kubernetes.io/rack"
    racks = {f"{rack}{number}-{site.id}": rack for rack in "ab" for number in range(3)}
    for name, rack in racks.items():
        site.add_machine(name, {"story": site.id, label: rack})
    eventually(lambda: all(site.core.read_node(name).spec.taints is None for name in racks))
    others = [name for name, rack in racks.items() if rack == "b"]
    for name in others:
        site.core.patch_node(name, {"spec": {"unschedulable": True}})
    add_replicas(site, "serve", 6)
    for name in others:
        site.core.patch_node(name, {"spec": {"unschedulable": False}})
    ailing = sorted(set(running_on(site).values()))
    policy = moving(domains=[{"label": label, "concurrency": 1}], token_burst=10, breaker_grants=9)
    policy["facility"] = {"evacuate": True, "nodes": 2}
    with site.run(policy=policy) as running:
        running.post(*[site.monitoring.fire(name) for name in ailing])
        eventually(lambda: set(running_on(site).values()) <= set(others), LONG_SECONDS)
        eventually(lambda: len(running_on(site)) == 6, LONG_SECONDS)
        assert set(site.cordoned()) <= set(ailing)
        assert running.metric("facility_events") == 1
        told = [one for one in running.log() if one.get("decision") == "exclude"]
        assert {one["node"] for one in told} == set(ailing)
        assert all("evacuated in its turn" in one["sentence"] for one in told)
