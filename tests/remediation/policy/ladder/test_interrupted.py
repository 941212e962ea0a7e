"""Killed between any two writes: the next tick finishes or forgets, and does nothing twice."""

from __future__ import annotations

from msgspec.structs import replace

from remediation.policy.facts.refusal import Reason
from remediation.policy.plan import plan
from remediation.policy.steps import Decision, NodeWrite
from tests.remediation.builders import (
    NOW,
    a_node,
    a_pool,
    a_snapshot,
    a_suspect_snapshot,
    an_alert,
    an_excluded_node,
    proof,
)
from tests.remediation.policy.guards.test_budget import limited


def test_a_grant_without_its_cordon_is_carried_out_and_not_granted_again() -> None:
    granted = plan(a_suspect_snapshot()).ledger
    again = plan(a_suspect_snapshot(ledger=granted, now=NOW + 1, epoch=2))
    (step,) = again.steps
    assert isinstance(step, NodeWrite)
    assert step.mark is not None
    assert step.mark.grant == granted.grants["n1"].id
    assert again.ledger.grants == granted.grants
    assert again.ledger.breaker == granted.breaker
    assert again.ledger.bucket == granted.bucket


def test_a_cordon_whose_answer_was_lost_is_found_on_the_node() -> None:
    decided = plan(a_suspect_snapshot())
    (step,) = decided.steps
    assert isinstance(step, NodeWrite)
    written = a_node(mark=step.mark, unschedulable=True, taints=step.taints)
    again = plan(a_suspect_snapshot(nodes=a_pool(10, written), ledger=decided.ledger))
    assert again.steps == ()
    assert again.ledger.grants["n1"].applied
    assert again.ledger.breaker == decided.ledger.breaker


def test_a_grant_that_was_never_carried_out_runs_out() -> None:
    granted = plan(a_suspect_snapshot()).ledger
    blind = a_snapshot(ledger=granted, now=NOW + 301)
    assert plan(blind).ledger.grants == {}


def test_a_grant_is_void_for_another_machine_of_the_same_name() -> None:
    granted = plan(a_suspect_snapshot()).ledger
    fresh = a_node(uid="another")
    decided = plan(a_suspect_snapshot(nodes=a_pool(10, fresh), ledger=granted, now=NOW + 1))
    assert decided.ledger.grants["n1"].node_uid == "another"
    assert decided.ledger.grants["n1"].id != granted.grants["n1"].id


def test_a_grant_whose_alert_ended_before_the_cordon_is_dropped() -> None:
    granted = plan(a_suspect_snapshot()).ledger
    decided = plan(a_snapshot(ledger=granted, evidence=proof()))
    assert decided.steps == ()
    assert decided.ledger.grants == {}


def test_a_lost_ledger_is_made_again_from_the_marks() -> None:
    decided = plan(a_snapshot(nodes=a_pool(10, an_excluded_node())))
    grant = decided.ledger.grants["n1"]
    assert (grant.id, grant.applied) == ("n1.g", True)
    assert decided.steps == ()


def test_a_pause_also_stops_a_grant_that_was_not_carried_out() -> None:
    from remediation.policy.facts.ledger import Pause

    granted = plan(a_suspect_snapshot()).ledger
    paused = replace(granted, pause=Pause(author="ana", reason="no", since=NOW))
    assert plan(a_suspect_snapshot(ledger=paused)).steps == ()


def test_a_release_that_was_recorded_but_not_written_is_done_later() -> None:
    from remediation.policy.facts.mark import MarkState
    from tests.remediation.builders import a_mark, calm

    mark = a_mark(state=MarkState.VERIFYING, since=NOW - 100_000)
    nodes = a_pool(10, an_excluded_node(mark=mark))
    first = plan(a_snapshot(nodes=nodes, evidence=calm("n1")))
    assert [step.decision for step in first.steps] == [Decision.TRUST]
    soon = plan(a_snapshot(nodes=nodes, evidence=calm("n1"), ledger=first.ledger))
    assert soon.steps == ()
    later = a_snapshot(nodes=nodes, evidence=calm("n1"), ledger=soon.ledger, now=NOW + 601)
    assert [step.decision for step in plan(later).steps] == [Decision.TRUST]


def test_a_plan_of_the_same_moment_is_the_same_plan() -> None:
    snapshot = a_suspect_snapshot()
    assert plan(snapshot) == plan(snapshot)


def test_limits_lowered_below_what_is_under_way_stop_what_is_new_and_undo_nothing() -> None:
    alerts = [an_alert(name) for name in ("n1", "n2", "n3")]
    both = plan(a_suspect_snapshot(*alerts, policy=limited(concurrency=2)))
    done = [step for step in both.steps if isinstance(step, NodeWrite)]
    assert [step.node.name for step in done] == ["n1", "n2"]
    first = a_node("n1", mark=done[0].mark, unschedulable=True, taints=done[0].taints)
    lowered = {"policy": limited(concurrency=1, unavailable_nodes=1), "ledger": both.ledger}
    after = plan(a_suspect_snapshot(*alerts, nodes=a_pool(10, first), **lowered))
    assert after.steps == ()
    assert set(after.ledger.grants) == {"n1", "n2"}
    waits = {finding.node: finding.refusal for finding in after.findings}
    told = {name: refusal.reason for name, refusal in waits.items() if refusal is not None}
    assert told == {
        "n1": Reason.STILL_FIRING,
        "n2": Reason.POOL_SHARE,
        "n3": Reason.CONCURRENCY,
    }
