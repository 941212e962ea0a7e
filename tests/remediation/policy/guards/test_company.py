"""Room for pods that mind their company, their devices, their volumes or their domain."""

from __future__ import annotations

from dataclasses import replace as copy
from typing import Any

from remediation.policy.facts.demand import Company, Requirement
from tests.remediation.builders import (
    a_pod,
)
from tests.remediation.policy.guards.test_capacity import a_target, has_room, wanting
from tests.remediation.policy.scene import GANG


def test_replicas_that_keep_apart_need_a_node_without_one_of_them() -> None:
    apart = Company("host", (Requirement("app", "In", ("s",)),))
    mine = {"labels": {"app": "s"}, "owner": "ReplicaSet", **wanting(1.0, apart=(apart,))}
    nodes = (a_target("n2", labels={"host": "n2"}),)
    other = a_pod("r", node="n2", labels={"app": "s"}, **wanting(1.0))
    assert has_room(a_pod(**mine), nodes=nodes)
    assert not has_room(a_pod(**mine), nodes=nodes, residents={"n2": (other,)})


def test_those_who_are_there_may_mind_too() -> None:
    apart = Company("host", (Requirement("app", "In", ("s",)),))
    nodes = (a_target("n2", labels={"host": "n2"}),)
    shy = a_pod("shy", node="n2", **wanting(1.0, apart=(apart,)))
    comer = a_pod(labels={"app": "s"}, **wanting(1.0))
    assert not has_room(comer, nodes=nodes, residents={"n2": (shy,)})


def test_company_that_is_required_must_be_there_but_for_the_first() -> None:
    near = Company("rack", (Requirement("app", "In", ("s",)),))
    comer = a_pod(owner="ReplicaSet", **wanting(1.0, near=(near,)))
    nodes = (a_target("n2", labels={"rack": "r1"}), a_target("n3", labels={"rack": "r1"}))
    friend = a_pod("f", node="n3", labels={"app": "s"}, **wanting(8.0))
    assert has_room(comer, nodes=nodes, residents={"n3": (friend,)})
    assert not has_room(comer, nodes=nodes)
    assert has_room(copy(comer, labels={"app": "s"}), nodes=nodes)


def test_rules_about_other_namespaces_are_more_than_is_known_here() -> None:
    far = Company("rack", (), elsewhere=True)
    assert not has_room(a_pod(**wanting(1.0, apart=(far,))))


def test_claims_of_devices_are_taken_to_need_a_whole_node() -> None:
    comer = a_pod(**wanting(0.0, devices=True))
    resident = a_pod("r", node="n2", **wanting(1.0))
    assert has_room(comer)
    assert not has_room(comer, residents={"n2": (resident,)})


def test_a_volume_goes_where_it_can_be_and_an_unknown_one_nowhere() -> None:
    comer = a_pod(claims=("data",), **wanting(1.0))
    here = ((Requirement("zone", "In", ("a",)),),)
    nodes = (a_target(labels={"zone": "a"}),)
    for volumes, expected in (
        ({("jobs", "data"): None}, True),
        ({("jobs", "data"): here}, True),
        ({("jobs", "data"): ((Requirement("metadata.name", "In", ("n1",)),),)}, False),
        ({}, False),
    ):
        assert has_room(comer, nodes=nodes, volumes=volumes) is expected


def in_blocks(*blocks: str) -> tuple[Any, ...]:
    return tuple(
        a_target(f"n{number}", labels={"block": block}) for number, block in enumerate(blocks, 2)
    )


def test_a_gang_that_must_share_a_domain_stays_with_its_others() -> None:
    notes = {**GANG["notes"], "kueue.x-k8s.io/podset-required-topology": "block"}
    comer, stays = a_pod(notes=notes, **wanting()), a_pod("s", node="n2", notes=notes, **wanting())
    residents = {"n2": (stays,)}
    assert not has_room(comer, nodes=in_blocks("b1", "b2"), residents=residents)
    assert has_room(comer, nodes=in_blocks("b1", "b1"), residents=residents)


def test_one_that_leaves_as_a_whole_may_share_any() -> None:
    notes = {**GANG["notes"], "forewarn.dev/topology": "block"}
    pair = (a_pod("a", notes=notes, **wanting()), a_pod("b", notes=notes, **wanting()))
    assert has_room(*pair, nodes=in_blocks("b1", "b2", "b2"))
    assert not has_room(*pair, nodes=in_blocks("b1", "b2", "b3"))
