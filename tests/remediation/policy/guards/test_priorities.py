"""Priorities: nobody is preempted for work that moves, nor is it moved to where it would be."""

from __future__ import annotations

from dataclasses import replace as copy
from typing import Any

from remediation.policy.facts.jobs import job_of
from remediation.policy.facts.refusal import Reason
from remediation.policy.guards.capacity import room
from remediation.policy.guards.floor import Floor
from remediation.policy.plan import plan
from remediation.policy.steps import EvictWave
from tests.remediation.builders import a_pod, a_suspect_snapshot
from tests.remediation.policy.guards.test_capacity import a_target, wanting
from tests.remediation.policy.scene import GANG, a_gang, a_scene, reasons


def refusal(pod: Any, *, residents: tuple[Any, ...] = (), pending: tuple[Any, ...] = ()) -> str:
    """Why `pod` may not leave n1 for n2, which has eight GPUs; "" when it may."""
    snapshot = a_suspect_snapshot(
        nodes={"n1": a_target("n1"), "n2": a_target()},
        pods={"n1": (pod,), "n2": residents},
        pending=pending,
    )
    no = room({job_of(pod): (pod,)}, snapshot, Floor(snapshot))
    assert no is None or no.reason is Reason.NO_CAPACITY
    return "" if no is None else no.words


def test_room_that_the_scheduler_would_have_to_make_is_none_and_says_at_whose_cost() -> None:
    low = a_pod("low", node="n2", **wanting(8.0, priority=-10))
    high = a_pod(**wanting(8.0, priority=1000))
    assert refusal(high, residents=(low,)).endswith("can take jobs/p1 of Job jobs/train unless"
                                                    " it preempts jobs/low")  # fmt: skip


def test_a_pod_that_preempts_nobody_just_has_no_room() -> None:
    low = a_pod("low", node="n2", **wanting(8.0))
    for polite in (wanting(8.0, priority=1000, preempts=False), wanting(8.0)):
        assert refusal(a_pod(**polite), residents=(low,)).endswith("jobs/p1 of Job jobs/train")


def test_an_elastic_job_does_not_shrink_where_its_successor_would_preempt() -> None:
    notes = {**GANG["notes"], "forewarn.dev/shrink": "true"}
    high = {**wanting(8.0, priority=1000), "notes": notes}
    scene = a_scene(a_gang("n1", **high), excluded=("n1",))
    (step,) = plan(scene).steps
    assert isinstance(step, EvictWave)
    low = a_pod("low", node="n9", **wanting(8.0))
    nodes = {**scene.nodes, "n9": a_target("n9")}
    at_their_cost = copy(scene, nodes=nodes, pods={**scene.pods, "n9": (low,)})
    assert reasons(at_their_cost) == {"n1": Reason.NO_CAPACITY}


def test_nor_where_only_some_of_them_find_room() -> None:
    notes = {"forewarn.dev/shrink": "true"}
    pods = tuple(a_pod(name, notes=notes, **wanting(4.0, priority=9)) for name in ("a", "b"))
    low = a_pod("low", node="n2", **wanting(4.0))

    def told(*residents: Any) -> Any:
        snapshot = a_suspect_snapshot(
            nodes={"n1": a_target("n1"), "n2": a_target()}, pods={"n1": pods, "n2": residents}
        )
        return room({job_of(pods[0]): pods}, snapshot, Floor(snapshot))

    assert told() is None
    assert told(a_pod("equal", node="n2", **wanting(4.0, priority=9))) is None
    no = told(low)
    assert no is not None
    assert no.words.endswith("unless it preempts jobs/low")


def test_work_does_not_go_where_somebody_who_waits_would_preempt_it() -> None:
    waits = a_pod("big", **wanting(8.0, priority=1000))
    taken = a_pod("low", node="n2", **wanting(1.0))
    small = a_pod(**wanting(1.0))
    assert refusal(small, residents=(taken,)) == ""
    said = refusal(small, residents=(taken,), pending=(waits,))
    assert said.startswith("jobs/big waits for room with a higher priority")


def test_who_waits_with_no_higher_priority_or_preempts_nobody_is_no_rival() -> None:
    taken = a_pod("low", node="n2", **wanting(1.0))
    for demand in (wanting(8.0), wanting(8.0, priority=1000, preempts=False)):
        assert (
            refusal(a_pod(**wanting(1.0)), residents=(taken,), pending=(a_pod("w", **demand),))
            == ""
        )


def test_nor_is_one_that_could_run_there_over_nobodys_work() -> None:
    taken = a_pod("same", node="n2", **wanting(1.0, priority=1000))
    waits = a_pod("big", **wanting(8.0, priority=1000))
    assert refusal(a_pod(**wanting(1.0)), residents=(taken,), pending=(waits,)) == ""


def test_those_who_wait_are_placed_by_priority_before_size() -> None:
    large = a_pod("large", **wanting(8.0))
    first = a_pod("first", **wanting(2.0, priority=5))
    # The first takes two, the large one fits no more, and six are left.
    assert refusal(a_pod(**wanting(6.0)), pending=(large, first)) == ""
    assert refusal(a_pod(**wanting(7.0)), pending=(large, first)) != ""
