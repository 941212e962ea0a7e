"""People and remediation on one node: theirs stays theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.remediation.site import eventually

if TYPE_CHECKING:
    from tests.remediation.site import Site


def test_a_node_that_somebody_cordoned_is_neither_claimed_nor_freed(site: Site) -> None:
    theirs = site.add_nodes(3)[0]
    site.core.patch_node(theirs, {"spec": {"unschedulable": True}})
    site.monitoring.fire(theirs)
    with site.run() as running:
        eventually(lambda: running.reasons() == {theirs: "foreign_cordon"})
        site.monitoring.quiet(theirs)
        eventually(lambda: running.reasons() == {})
    assert site.cordoned() == [theirs]
    assert site.mark(theirs) is None


def test_a_person_who_uncordons_keeps_the_node(site: Site) -> None:
    sick = site.add_nodes(3)[0]
    site.monitoring.fire(sick)
    with site.run() as running:
        eventually(lambda: site.cordoned() == [sick])
        site.core.patch_node(sick, {"spec": {"unschedulable": None}})
        eventually(lambda: running.reasons() == {sick: "held"})
        assert site.cordoned() == []
        assert site.mark(sick) is None
        assert site.our_taints(sick) == []


@pytest.mark.cluster
def test_a_person_who_cordons_anew_keeps_the_cordon(real_site: Site) -> None:
    sick = real_site.add_nodes(3)[0]
    real_site.monitoring.fire(sick)
    with real_site.run():
        eventually(lambda: real_site.cordoned() == [sick])
    # Nobody watches while a person takes the cordon off and puts on their own.
    real_site.core.patch_node(sick, {"spec": {"unschedulable": None}})
    real_site.core.patch_node(sick, {"spec": {"unschedulable": True}})
    real_site.monitoring.quiet(sick)
    with real_site.run():
        eventually(lambda: real_site.mark(sick) is None)
    assert real_site.cordoned() == [sick]


def test_a_pause_stops_new_harm_until_somebody_resumes(site: Site) -> None:
    sick = site.add_nodes(2)[0]
    with site.run() as running:
        eventually(lambda: running.metric("leader"))
        assert running.order("/api/v1/pause", author="ana", reason="firmware").status_code == 200
        site.monitoring.fire(sick)
        eventually(lambda: running.reasons() == {sick: "paused"})
        assert running.metric("paused") == 1
        assert "paused by ana: firmware" in running.get("/readyz").text
        assert site.cordoned() == []
        assert running.order("/api/v1/resume", author="ana", reason="done").status_code == 200
        eventually(lambda: site.cordoned() == [sick])


def test_a_node_held_by_name_is_left_alone_until_it_is_released(site: Site) -> None:
    node = site.add_nodes(3)[0]
    with site.run() as running:
        eventually(lambda: running.metric("leader"))
        order = {"author": "ann", "reason": "I have it"}
        assert running.order(f"/api/v1/episodes/{node}/hold", **order).status_code == 200
        running.post(site.monitoring.fire(node))
        eventually(lambda: running.reasons() == {node: "held"})
        assert site.cordoned() == []
        assert running.order(f"/api/v1/episodes/{node}/release", **order).status_code == 200
        eventually(lambda: site.cordoned() == [node])


def test_an_annotation_gives_a_node_back_at_once_and_only_once(site: Site) -> None:
    node = site.add_nodes(3)[0]
    with site.run() as running:
        eventually(lambda: running.metric("leader"))
        running.post(site.monitoring.fire(node))
        eventually(lambda: site.cordoned() == [node])
        wanted = {"metadata": {"annotations": {"forewarn.dev/release": "tested"}}}
        site.core.patch_node(node, wanted)
        eventually(lambda: site.cordoned() == [] and site.mark(node) is None)
        assert "forewarn.dev/release" not in (site.node(node).metadata.annotations or {})
        eventually(lambda: running.reasons() == {node: "node_cooldown"})
