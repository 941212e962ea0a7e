"""Work leaves only when it has somewhere to go; when in doubt, it has not."""

from __future__ import annotations

from dataclasses import replace as copy
from typing import Any

import pytest
from msgspec.structs import replace

from remediation.policy.capacity import room
from remediation.policy.demand import Company, Demand, Requirement, Toleration, any_holds
from remediation.policy.jobs import job_of
from remediation.policy.ledger import Wave
from remediation.policy.limits import Rung
from remediation.policy.plan import plan
from remediation.policy.refusal import Reason
from remediation.policy.snapshot import Taint
from remediation.policy.steps import Decision, EvictWave, NodeWrite
from tests.remediation.builders import (
    NOW,
    a_node,
    a_pod,
    a_snapshot,
    a_suspect_snapshot,
    an_alert,
    finding_of,
)
from tests.remediation.policy.scene import GANG, a_gang, a_scene, a_wave, reasons

GPU = "nvidia.com/gpu"
EIGHT = {GPU: 8.0, "cpu": 64.0, "pods": 110.0}


def wanting(gpus: float = 8.0, **changes: Any) -> Any:
    demand = Demand(requests={GPU: gpus, **changes.pop("requests", {})}, **changes)
    return {"demand": demand}


def a_target(name: str = "n2", **changes: Any) -> Any:
    return a_node(name, **{"allocatable": EIGHT, **changes})


def has_room(*pods: Any, nodes: tuple[Any, ...] | None = None, **changes: Any) -> bool:
    """Whether pods of one gang can leave n1 for the other nodes."""
    targets = {node.name: node for node in (a_target(),) if nodes is None} or {
        node.name: node for node in nodes or ()
    }
    residents = changes.pop("residents", {})
    snapshot = a_suspect_snapshot(
        **{
            "nodes": {"n1": a_target("n1"), **targets},
            "pods": {"n1": pods, **{name: residents.get(name, ()) for name in targets}},
            **changes,
        }
    )
    return room({job_of(pods[0]): pods}, snapshot) is None


def test_a_free_healthy_node_is_room() -> None:
    assert has_room(a_pod(**wanting()))


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(a_target(allocatable={GPU: 4.0}), id="too-small"),
        pytest.param(a_target(allocatable={"cpu": 64.0}), id="without-the-resource"),
        pytest.param(a_target(allocatable={**EIGHT, "pods": 0.0}), id="no-pod-more"),
        pytest.param(a_target(ready=False), id="not-ready"),
        pytest.param(a_target(unschedulable=True), id="cordoned"),
        pytest.param(a_target(taints=(Taint("gpu", "NoSchedule"),)), id="tainted"),
        pytest.param(a_target(mark_fault="?"), id="with-a-mark-nobody-can-read"),
    ],
)
def test_a_node_that_cannot_take_it_is_none(target: Any) -> None:
    assert not has_room(a_pod(**wanting()), nodes=(target,))


def test_a_node_that_is_suspect_itself_is_none() -> None:
    pods = {"n1": (a_pod(**wanting()),), "n2": ()}
    nodes = {"n1": a_target("n1"), "n2": a_target()}
    snapshot = a_suspect_snapshot(an_alert("n1"), an_alert("n2"), nodes=nodes, pods=pods)
    assert room({job_of(pods["n1"][0]): pods["n1"]}, snapshot) is not None


def test_a_node_whose_pods_were_not_read_is_none() -> None:
    pods = (a_pod(**wanting()),)
    nodes = {"n1": a_target("n1"), "n2": a_target()}
    snapshot = a_snapshot(nodes=nodes, pods={"n1": pods})
    assert room({job_of(pods[0]): pods}, snapshot) is not None


def test_what_runs_there_takes_its_room_until_it_has_finished() -> None:
    resident = a_pod("r", node="n2", **wanting(1.0))
    assert not has_room(a_pod(**wanting()), residents={"n2": (resident,)})
    assert has_room(a_pod(**wanting()), residents={"n2": (copy(resident, finished=True),)})


def test_a_taint_that_is_tolerated_keeps_nobody_out() -> None:
    target = a_target(taints=(Taint("gpu", "NoSchedule", value="yes"),))
    bearing = Toleration(key="gpu", operator="Equal", value="yes")
    assert has_room(a_pod(**wanting(tolerations=(bearing,))), nodes=(target,))
    other = Toleration(key="gpu", operator="Equal", value="no")
    assert not has_room(a_pod(**wanting(tolerations=(other,))), nodes=(target,))


def test_pods_of_one_job_need_room_at_once() -> None:
    pair = (a_pod("a", **wanting()), a_pod("b", **wanting()))
    assert not has_room(*pair)
    assert has_room(*pair, nodes=(a_target("n2"), a_target("n3")))


def test_small_pods_are_packed_behind_large_ones() -> None:
    pods = [a_pod(f"s{n}", **wanting(2.0)) for n in range(4)] + [a_pod("big", **wanting())]
    assert has_room(*pods, nodes=(a_target("n2"), a_target("n3")))


def test_who_waits_for_a_node_already_goes_first() -> None:
    waiting = a_pod("w", ready=False, **wanting())
    assert not has_room(a_pod(**wanting()), pending=(waiting,))
    assert has_room(a_pod(**wanting()), pending=(copy(waiting, gated=True),))


def test_so_do_the_pods_of_other_waves() -> None:
    moving = a_pod("m", node="n9", owner_uid="other", **wanting())
    wave = a_wave(job="other", nodes=("n9",), pods=("uid-m",))
    pods = {"n1": (a_pod(**wanting()),), "n2": (), "n9": (moving,)}
    nodes = {name: a_target(name) for name in pods}
    snapshot = a_suspect_snapshot(an_alert("n1"), an_alert("n9"), nodes=nodes, pods=pods)
    held = replace(snapshot.ledger, waves={"other": wave})
    assert room({job_of(pods["n1"][0]): pods["n1"]}, snapshot) is None
    assert room({job_of(pods["n1"][0]): pods["n1"]}, copy(snapshot, ledger=held)) is not None


@pytest.mark.parametrize(
    ("demands", "labels", "fits"),
    [
        ({"node_selector": {"gpu": "h200"}}, {"gpu": "h200"}, True),
        ({"node_selector": {"gpu": "h200"}}, {}, False),
        (wanting(terms=((Requirement("zone", "In", ("a", "b")),),)), {"zone": "b"}, True),
        (wanting(terms=((Requirement("zone", "In", ("a",)),),)), {"zone": "b"}, False),
        (wanting(terms=((Requirement("metadata.name", "In", ("n2",)),),)), {}, True),
        (wanting(terms=((Requirement("metadata.name", "In", ("n1",)),),)), {}, False),
    ],
)
def test_selectors_and_affinity_are_minded(
    demands: dict[str, Any], labels: dict[str, str], fits: bool
) -> None:
    assert has_room(a_pod(**demands), nodes=(a_target(labels=labels),)) is fits


@pytest.mark.parametrize(
    ("operator", "values", "label", "holds"),
    [
        ("In", ("a",), "a", True),
        ("NotIn", ("a",), "a", False),
        ("NotIn", ("a",), None, True),
        ("Exists", (), "a", True),
        ("Exists", (), None, False),
        ("DoesNotExist", (), None, True),
        ("Gt", ("3",), "4", True),
        ("Gt", ("3",), "3", False),
        ("Lt", ("3",), "2", True),
        ("Lt", ("3",), "x", False),
        ("Lt", (), "2", False),
        ("Whatever", ("a",), "a", False),
    ],
)
def test_a_requirement_is_read_as_the_scheduler_does(
    operator: str, values: tuple[str, ...], label: str | None, holds: bool
) -> None:
    labels = {} if label is None else {"k": label}
    assert Requirement("k", operator, values).holds(labels) is holds


def test_no_term_is_anywhere_and_an_empty_list_nowhere() -> None:
    assert any_holds(None, {})
    assert not any_holds((), {})
    assert not any_holds(((),), {})


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
    for volumes, fits in (
        ({("jobs", "data"): None}, True),
        ({("jobs", "data"): here}, True),
        ({("jobs", "data"): ((Requirement("metadata.name", "In", ("n1",)),),)}, False),
        ({}, False),
    ):
        assert has_room(comer, nodes=nodes, volumes=volumes) is fits


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


def crowded(*, excluded: tuple[str, ...] = (), **changes: Any) -> Any:
    """A gang that needs what no other node has."""
    return a_scene(a_gang("n1", **wanting()), excluded=excluded, **changes)


def test_without_room_new_work_is_kept_out_and_the_old_stays() -> None:
    decided = plan(crowded())
    (step,) = decided.steps
    assert isinstance(step, NodeWrite)
    assert step.mark is not None
    assert (step.decision, step.mark.rung) == (Decision.EXCLUDE, Rung.EXCLUDE)
    assert decided.ledger.grants["n1"].rung is Rung.EXCLUDE
    assert "its work stays: no healthy node can take jobs/g-n1" in finding_of(decided).sentence
    assert len(decided.ledger.breaker.window) == 1


def test_room_that_went_away_before_the_wave_stops_it() -> None:
    snapshot = crowded(excluded=("n1",))
    assert reasons(snapshot) == {"n1": Reason.NO_CAPACITY}
    assert plan(snapshot).ledger.waves == {}


def test_room_is_looked_for_again_until_something_has_moved() -> None:
    snapshot = crowded(excluded=("n1",))
    begun = a_wave(nodes=("n1",), pods=("uid-g-n1", "uid-x"), began_at=NOW - 60)
    held: Wave = replace(begun, pods=("uid-g-n1",), moved_at=NOW - 60)
    unmoved = copy(snapshot, ledger=replace(snapshot.ledger, waves={"jobs/group/llm": held}))
    assert reasons(unmoved) == {"n1": Reason.NO_CAPACITY}
    moved = replace(held, moved_at=NOW - 30)
    going = copy(snapshot, ledger=replace(snapshot.ledger, waves={"jobs/group/llm": moved}))
    (step,) = plan(going).steps
    assert isinstance(step, EvictWave)
