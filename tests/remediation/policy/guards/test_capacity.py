"""Work leaves only when it has somewhere to go; when in doubt, it has not."""

from __future__ import annotations

import math
from dataclasses import replace as copy
from typing import Any

import pytest
from msgspec.structs import replace

from remediation.policy.bounds.limits import Rung
from remediation.policy.bounds.targets import TargetCondition
from remediation.policy.facts.demand import Company, Demand, Requirement, Toleration
from remediation.policy.facts.jobs import job_of
from remediation.policy.facts.ledger import Wave
from remediation.policy.facts.refusal import Reason
from remediation.policy.facts.taint import Taint
from remediation.policy.guards.capacity import room
from remediation.policy.guards.floor import Floor
from remediation.policy.plan import plan
from remediation.policy.steps import Decision, EvictWave, NodeWrite
from tests.remediation.builders import (
    NOW,
    a_node,
    a_pod,
    a_policy,
    a_snapshot,
    a_suspect_snapshot,
    an_alert,
    finding_of,
    proof,
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
    return fits(pods, snapshot)


def fits(pods: Any, snapshot: Any) -> bool:
    return room({job_of(pods[0]): pods}, snapshot, Floor(snapshot)) is None


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
    assert not fits(pods["n1"], snapshot)


def test_a_node_whose_pods_were_not_read_is_none() -> None:
    pods = (a_pod(**wanting()),)
    nodes = {"n1": a_target("n1"), "n2": a_target()}
    snapshot = a_snapshot(nodes=nodes, pods={"n1": pods})
    assert not fits(pods, snapshot)


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


def test_behind_a_long_queue_nobody_has_room() -> None:
    queue = tuple(a_pod(f"w{n}", ready=False, **wanting(0.0)) for n in range(101))
    assert has_room(a_pod(**wanting(1.0)), pending=queue[:100])
    assert not has_room(a_pod(**wanting(1.0)), pending=queue)


def test_what_is_tried_is_taken_back() -> None:
    apart = Company("host", (Requirement("app", "In", ("s",)),))
    pods = (a_pod(labels={"app": "s"}, **wanting(apart=(apart,))),)
    nodes = {"n1": a_target("n1"), "n2": a_target("n2", labels={"host": "n2"})}
    snapshot = a_suspect_snapshot(nodes=nodes, pods={"n1": pods, "n2": ()})
    floor = Floor(snapshot)
    moves = {job_of(pods[0]): pods}
    assert [room(moves, snapshot, floor) for _ in range(3)] == [None] * 3


def test_a_node_that_this_tick_granted_is_no_place_any_more() -> None:
    pods = (a_pod(**wanting()),)
    nodes = {"n1": a_target("n1"), "n2": a_target("n2")}
    snapshot = a_suspect_snapshot(nodes=nodes, pods={"n1": pods, "n2": ()})
    granted = replace(
        snapshot.ledger, grants={"n2": plan(a_suspect_snapshot()).ledger.grants["n1"]}
    )
    assert room({job_of(pods[0]): pods}, copy(snapshot, ledger=granted), Floor(snapshot))


def test_so_do_the_pods_of_other_waves() -> None:
    moving = a_pod("m", node="n9", owner_uid="other", **wanting())
    wave = a_wave(job="other", nodes=("n9",), pods=("uid-m",))
    pods = {"n1": (a_pod(**wanting()),), "n2": (), "n9": (moving,)}
    nodes = {name: a_target(name) for name in pods}
    snapshot = a_suspect_snapshot(an_alert("n1"), an_alert("n9"), nodes=nodes, pods=pods)
    held = replace(snapshot.ledger, waves={"other": wave})
    assert fits(pods["n1"], snapshot)
    assert not fits(pods["n1"], copy(snapshot, ledger=held))


@pytest.mark.parametrize(
    ("demands", "labels", "expected"),
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
    demands: dict[str, Any], labels: dict[str, str], expected: bool
) -> None:
    assert has_room(a_pod(**demands), nodes=(a_target(labels=labels),)) is expected


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


def test_an_elastic_job_shrinks_when_nothing_has_room() -> None:
    notes = {**GANG["notes"], "forewarn.dev/shrink": "true"}
    snapshot = a_scene(a_gang("n1", **{**wanting(), "notes": notes}), excluded=("n1",))
    (step,) = plan(snapshot).steps
    assert isinstance(step, EvictWave)


HOT = TargetCondition(name="heat", query="q", least=5.0)


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        pytest.param({"heat": {"n2": 5.0}}, True, id="cool-enough"),
        pytest.param({"heat": {"n2": 4.9}}, False, id="too-hot"),
        pytest.param({"heat": {"n2": math.nan}}, False, id="not-a-number"),
        pytest.param({"heat": {"n9": 50.0}}, False, id="not-measured"),
        pytest.param({"heat": None}, False, id="unread"),
        pytest.param({}, False, id="never-asked"),
    ],
)
def test_a_node_that_is_not_known_to_be_cool_is_no_place_to_go(
    measured: dict[str, Any], expected: bool
) -> None:
    evidence = copy(proof(an_alert()), targets=measured)
    policy = a_policy(targets=(HOT,))
    assert has_room(a_pod(**wanting()), evidence=evidence, policy=policy) is expected
