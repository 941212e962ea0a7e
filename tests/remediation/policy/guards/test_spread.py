"""A pod that must be spread has room only where the scheduler would put it."""

from __future__ import annotations

from typing import Any

import pytest

from remediation.policy.facts.demand import Demand, Requirement, Spread
from remediation.policy.facts.taint import Taint
from remediation.policy.guards.eligibility import HOSTNAME
from tests.remediation.builders import a_node, a_pod
from tests.remediation.policy.guards.test_capacity import EIGHT, has_room

ALIKE = (Requirement("app", "In", ("serve",)),)


def spread(topology: str = "zone", most: int = 1, **changes: Any) -> Spread:
    return Spread(topology=topology, most=most, selector=changes.pop("selector", ALIKE), **changes)


def a_replica(name: str, *rules: Spread, **changes: Any) -> Any:
    demand = Demand(requests={"nvidia.com/gpu": 1.0}, spread=rules)
    fields = {"labels": {"app": "serve"}, "owner": "ReplicaSet", "demand": demand}
    return a_pod(name, **{**fields, **changes})


def a_place(name: str, zone: str, **changes: Any) -> Any:
    labels = {"zone": zone, HOSTNAME: name, "gpu": "yes"}
    return a_node(name, **{"allocatable": EIGHT, "labels": labels, **changes})


def is_room(rule: Spread, nodes: Any, there: dict[str, int], **pod: Any) -> bool:
    """Whether one replica can leave n1 (zone a), with so many others on each node."""
    residents = {
        name: tuple(a_replica(f"{name}-{number}", node=name) for number in range(count))
        for name, count in there.items()
    }
    leaving = a_replica("leaving", rule, node="n1", **pod)
    return has_room(leaving, nodes=(a_place("n1", "a"), *nodes), residents={**residents})


@pytest.mark.parametrize(
    ("there", "most", "expected"),
    [
        pytest.param({"n2": 0, "n3": 0}, 1, True, id="the-first-anywhere"),
        pytest.param({"n2": 0, "n3": 1}, 1, True, id="where-there-are-fewest"),
        pytest.param({"n2": 1, "n3": 1}, 1, False, id="its-own-zone-is-empty-and-closed"),
        pytest.param({"n2": 1, "n3": 1}, 2, True, id="unless-more-is-allowed"),
    ],
)
def test_no_zone_gets_too_far_ahead_of_the_one_that_is_left(
    there: dict[str, int], most: int, expected: bool
) -> None:
    nodes = a_place("n2", "b"), a_place("n3", "c")
    assert is_room(spread(most=most), nodes, there) is expected


def test_another_node_of_its_own_zone_is_always_as_good() -> None:
    nodes = a_place("n2", "b"), a_place("n4", "a")
    assert is_room(spread(), nodes, {"n2": 1})


def test_a_node_without_the_label_is_no_place() -> None:
    assert not is_room(spread(), (a_node("n2", allocatable=EIGHT),), {})


def test_a_cordoned_node_is_part_of_its_zone_unless_the_rule_heeds_taints() -> None:
    shut = a_place("n3", "c", unschedulable=True, taints=(Taint("x", "NoSchedule"),))
    nodes = a_place("n2", "b"), shut
    assert not is_room(spread(), nodes, {"n2": 1})
    # n1 itself is not tainted in this scene: its zone counts, and is empty.
    heeding = spread(heeds_taints=True, most=2)
    assert is_room(heeding, nodes, {"n2": 1})


def test_nodes_that_the_pod_cannot_choose_are_no_domains_of_it() -> None:
    nodes = a_place("n2", "b"), a_node("n3", allocatable=EIGHT, labels={"zone": "c"})
    chosen = {"node_selector": {"gpu": "yes"}}
    assert is_room(spread(most=2), nodes, {"n2": 1}, **chosen)
    few = spread(least_domains=4, most=2)
    assert is_room(few, nodes, {"n2": 1}, **chosen)
    assert not is_room(few, nodes, {"n2": 2}, **chosen)


def test_replicas_of_another_template_do_not_count_where_the_rule_says_so() -> None:
    nodes = (a_place("n2", "b"),)
    hashed = {"labels": {"app": "serve", "pod-template-hash": "new"}}
    rule = spread(keys=("pod-template-hash",))
    assert is_room(rule, nodes, {"n2": 1}, **hashed)


def test_by_machine_the_rest_of_the_cluster_counts_as_empty_unless_the_pod_cannot_go_there() -> (
    None
):
    nodes = a_place("n2", "b"), a_place("n3", "c")
    by_machine = spread(HOSTNAME, most=1)
    assert not is_room(by_machine, nodes, {"n2": 1, "n3": 1})
    assert is_room(spread(HOSTNAME, most=2), nodes, {"n2": 1, "n3": 1})


def test_pods_of_one_wave_count_for_one_another() -> None:
    rule = spread(most=1)
    leaving = [a_replica(name, rule, node="n1", owner_uid="one") for name in ("x", "y")]
    nodes = a_place("n1", "a"), a_place("n2", "b"), a_place("n3", "c")
    assert has_room(*leaving, nodes=nodes)
    assert not has_room(*leaving, nodes=nodes[:2])
