"""R25: pods that a scheduler ties to an excluded node die there again and again."""

from __future__ import annotations

from dataclasses import replace as copy
from typing import Any

from msgspec.structs import replace

from remediation.policy.bounds.limits import Mode, Rung
from remediation.policy.facts.ledger import Wave
from remediation.policy.facts.mark import MarkState
from remediation.policy.facts.refusal import Reason
from remediation.policy.facts.taint import Effect
from remediation.policy.plan import plan
from remediation.policy.steps import Decision, EvictWave, NodeWrite
from tests.remediation.builders import (
    NOW,
    a_mark,
    a_node,
    a_pod,
    a_policy,
    a_pool,
    a_suspect_snapshot,
    an_excluded_node,
    only_finding,
)

TIED = {
    "node_selector": {"kubernetes.io/hostname": "n1"},
    "labels": {"batch.kubernetes.io/job-name": "llm-7"},
}
KEY = "jobs/Job/llm-7"
PENDING = (a_pod("again", ready=False, created_at=NOW - 12, **TIED),)


def excluded(rung: Rung, mode: Mode, *pods: Any, **changes: Any) -> Any:
    nodes = a_pool(10, an_excluded_node(mark=a_mark(rung=rung)))
    fields = {
        "nodes": nodes,
        "pods": {**dict.fromkeys(nodes, ()), "n1": pods},
        "pending": PENDING,
        "policy": a_policy(mode),
    }
    return a_suspect_snapshot(**{**fields, **changes})


def the_step(snapshot: Any) -> NodeWrite:
    (step,) = plan(snapshot).steps
    assert isinstance(step, NodeWrite)
    return step


def test_r25_before_excluding_a_node_with_tied_work_only_the_soft_taint_is_put() -> None:
    snapshot = a_suspect_snapshot()
    pods = {**snapshot.pods, "n1": (a_pod("one", node="n1", **TIED),)}
    step = the_step(copy(snapshot, pods=pods))
    assert (step.decision, step.effect) == (Decision.SOFTEN, Effect.PREFER)


def test_r25_a_node_that_only_keeps_new_work_out_gives_way_at_the_first_victim() -> None:
    snapshot = excluded(Rung.EXCLUDE, Mode.EXCLUDE)
    step = the_step(snapshot)
    assert step.decision is Decision.GIVE_WAY
    assert (step.effect, step.unschedulable) == (Effect.PREFER, False)
    assert step.mark is not None
    assert (step.mark.state, step.mark.cordoned) == (MarkState.ELEVATED, False)


def test_r25_where_work_may_be_moved_the_whole_job_moves_once() -> None:
    other = a_pod("other", node="n1", **TIED)
    (step,) = plan(excluded(Rung.MIGRATE, Mode.MIGRATE, other)).steps
    assert isinstance(step, EvictWave)
    assert [pod.name for pod in step.pods] == ["other"]


def moved(snapshot: Any) -> Any:
    wave = Wave(
        job="Job jobs/llm-7",
        namespace="jobs",
        nodes=("n1",),
        pods=(),
        began_at=NOW - 60,
        moved_at=NOW - 30,
        ended_at=NOW - 30,
    )
    return copy(snapshot, ledger=replace(snapshot.ledger, waves={KEY: wave}))


def test_r25_after_its_one_move_a_pod_put_back_makes_the_node_give_way() -> None:
    pending = moved(excluded(Rung.MIGRATE, Mode.MIGRATE))
    assert the_step(pending).decision is Decision.GIVE_WAY
    bound = excluded(Rung.MIGRATE, Mode.MIGRATE, a_pod("back", node="n1", **TIED), pending=())
    assert the_step(moved(bound)).decision is Decision.GIVE_WAY


def test_r25_a_node_that_gave_way_is_left_alone_and_keeps_its_soft_taint() -> None:
    first = plan(excluded(Rung.EXCLUDE, Mode.EXCLUDE))
    (step,) = first.steps
    assert isinstance(step, NodeWrite)
    softer = a_node(mark=step.mark, taints=step.taints)
    later = a_suspect_snapshot(
        nodes=a_pool(10, softer), ledger=first.ledger, now=NOW + 5, pending=()
    )
    assert plan(later).steps == ()
    refusal = only_finding(later).refusal
    assert refusal is not None
    assert refusal.reason is Reason.NODE_COOLDOWN
    assert plan(later).ledger.grants["n1"].rung is Rung.SOFTEN


def test_r25_pods_that_are_not_tied_or_that_a_queue_holds_back_change_nothing() -> None:
    free = (a_pod("free", ready=False), copy(PENDING[0], gated=True))
    assert plan(excluded(Rung.EXCLUDE, Mode.EXCLUDE, pending=free)).steps == ()
