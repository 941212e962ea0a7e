"""A rack in trouble is one event: no new work on any of its nodes, and none of them drained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.remediation.site import eventually
from tests.remediation.story.test_jobs_moved import moving
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
