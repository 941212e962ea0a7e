"""Whose cordon it is: we lift only what we put on, and a person's hand ends ours."""

from __future__ import annotations

import dataclasses

import pytest

from remediation.policy.facts.mark import MarkState
from remediation.policy.facts.node import RISK_TAINT, Node
from remediation.policy.facts.refusal import Reason
from remediation.policy.facts.taint import Taint
from remediation.policy.plan import plan
from remediation.policy.steps import Decision, EpisodeState, NodeWrite
from tests.remediation.builders import (
    NOW,
    a_mark,
    a_node,
    a_pool,
    a_snapshot,
    a_suspect_snapshot,
    an_excluded_node,
    calm,
    finding_of,
    only_finding,
)

LONG_AGO = NOW - 100_000
VERIFIED = a_mark(state=MarkState.VERIFYING, since=LONG_AGO)


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        pytest.param(a_node(unschedulable=True), Reason.FOREIGN_CORDON, id="cordoned"),
        pytest.param(a_node(ready=False), Reason.NODE_LOST, id="not-ready"),
        pytest.param(a_node(held=True), Reason.HELD, id="held"),
        pytest.param(
            a_node(taints=(Taint("karpenter.sh/disrupted", "NoSchedule"),)),
            Reason.OTHER_DRAINER,
            id="another-drains",
        ),
        pytest.param(a_node(mark_fault="not JSON"), Reason.MARK_UNREADABLE, id="mark-unreadable"),
        pytest.param(
            an_excluded_node(mark=a_mark(node_uid="another")), Reason.UID_CHANGED, id="other-uid"
        ),
        pytest.param(an_excluded_node(mark=a_mark(epoch=9)), Reason.SUPERSEDED, id="later-leader"),
    ],
)
def test_a_node_that_is_not_ours_to_touch_is_left_alone(node: Node, reason: Reason) -> None:
    snapshot = a_suspect_snapshot(nodes=a_pool(10, node))
    finding = only_finding(snapshot)
    assert finding.refusal is not None
    assert finding.refusal.reason is reason
    assert plan(snapshot).steps == ()


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"unschedulable": False}, id="uncordoned"),
        pytest.param({"cordoned_by": "kubectl-cordon"}, id="uncordoned-and-cordoned-again"),
    ],
)
def test_a_person_who_changes_our_cordon_takes_the_node_over(changed: dict[str, object]) -> None:
    node = an_excluded_node(**changed)
    first = plan(a_suspect_snapshot(nodes=a_pool(10, node)))
    (step,) = first.steps
    assert isinstance(step, NodeWrite)
    assert step.decision is Decision.STAND_DOWN
    assert (step.mark, step.taints, step.unschedulable) == (None, (), None)
    assert list(first.ledger.holds) == ["n1"]
    assert first.ledger.grants == {}

    after = dataclasses.replace(node, mark=None, taints=())
    second = plan(a_suspect_snapshot(nodes=a_pool(10, after), ledger=first.ledger))
    assert second.steps == ()
    assert finding_of(second).state is EpisodeState.HELD


def test_the_hold_ends_with_the_alert() -> None:
    node = an_excluded_node(unschedulable=False)
    held = plan(a_suspect_snapshot(nodes=a_pool(10, node))).ledger
    quiet = plan(a_snapshot(ledger=held, evidence=calm("n1")))
    assert quiet.ledger.holds == {}


def test_a_person_who_removes_our_mark_takes_the_node_over() -> None:
    marked = an_excluded_node()
    with_grant = plan(a_suspect_snapshot(nodes=a_pool(10, marked))).ledger
    assert with_grant.grants["n1"].applied
    bare = plan(a_suspect_snapshot(nodes=a_pool(10), ledger=with_grant))
    assert finding_of(bare).state is EpisodeState.HELD
    assert bare.steps == ()


def test_a_cordon_put_over_our_soft_taint_stays_when_we_leave() -> None:
    mark = a_mark(state=MarkState.VERIFYING, since=LONG_AGO, cordoned=False)
    node = a_node(unschedulable=True, mark=mark, taints=(Taint(RISK_TAINT, "PreferNoSchedule"),))
    (step,) = plan(a_snapshot(nodes=a_pool(10, node), evidence=calm("n1"))).steps
    assert isinstance(step, NodeWrite)
    assert (step.decision, step.unschedulable, step.mark) == (Decision.RELEASE, None, None)


def test_everybody_elses_taints_survive_ours() -> None:
    theirs = (
        Taint("nvidia.com/gpu", "NoSchedule", "present"),
        Taint("node.kubernetes.io/unreachable", "NoExecute", time_added="2026-11-30T12:00:00Z"),
    )
    (step,) = plan(a_suspect_snapshot(nodes=a_pool(10, a_node(taints=theirs)))).steps
    assert isinstance(step, NodeWrite)
    assert step.taints == (*theirs, Taint(RISK_TAINT, "NoSchedule"))


def test_a_held_node_is_not_even_released() -> None:
    node = an_excluded_node(mark=VERIFIED, held=True)
    decided = plan(a_snapshot(nodes=a_pool(10, node), evidence=calm("n1")))
    assert decided.steps == ()
    assert finding_of(decided).state is EpisodeState.HELD


def test_an_alert_about_a_node_outside_the_pool_does_nothing() -> None:
    from tests.remediation.builders import an_alert

    finding = only_finding(a_suspect_snapshot(an_alert("elsewhere")))
    assert finding.refusal is not None
    assert finding.refusal.reason is Reason.UNKNOWN_NODE
