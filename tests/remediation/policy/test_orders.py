"""What people order is done at the next tick, survives every process, and undoes nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from remediation.policy.facts.ledger import Breaker, Ledger, Pause
from remediation.policy.facts.mark import MarkState
from remediation.policy.facts.refusal import Reason
from remediation.policy.orders import Order, Verb, give
from remediation.policy.plan import plan
from remediation.policy.steps import Decision, NodeWrite
from tests.remediation.builders import (
    NOW,
    a_ledger,
    a_mark,
    a_node,
    a_pool,
    a_snapshot,
    a_suspect_snapshot,
    an_alert,
    an_excluded_node,
    calm,
    finding_of,
)

ANN = Order(author="ann", reason="repaired")


def ordered(verb: Verb, ledger: Ledger | None = None, node: str = "n1") -> Ledger:
    return give(ledger or a_ledger(), verb, ANN, node=node, now=NOW)


def the_step(snapshot: Any) -> NodeWrite:
    (step,) = plan(snapshot).steps
    assert isinstance(step, NodeWrite)
    return step


def test_resuming_ends_the_pause_and_arms_the_breaker() -> None:
    stopped = Ledger(
        pause=Pause(author="x", reason="y", since=1.0), breaker=Breaker(tripped_at=1.0, reason="z")
    )
    assert ordered(Verb.RESUME, stopped) == Ledger()
    assert ordered(Verb.PAUSE, Ledger()).pause == Pause(author="ann", reason="repaired", since=NOW)


@pytest.mark.parametrize("verb", list(Verb))
def test_an_order_given_twice_is_given_once(verb: Verb) -> None:
    once = ordered(verb)
    assert ordered(verb, once) == once


def test_a_held_node_is_neither_taken_out_nor_given_back() -> None:
    alert = an_alert()
    suspect = a_suspect_snapshot(alert, ledger=ordered(Verb.HOLD, a_ledger(alert)))
    soaked = a_mark(state=MarkState.VERIFYING, since=NOW - 9000)
    back = a_snapshot(
        nodes=a_pool(10, an_excluded_node(mark=soaked)),
        evidence=calm("n1"),
        ledger=ordered(Verb.HOLD),
    )
    for snapshot in (suspect, back):
        decided = plan(snapshot)
        assert decided.steps == ()
        refusal = finding_of(decided).refusal
        assert refusal is not None
        assert (refusal.reason, refusal.words) == (Reason.HELD, "on hold: ann: repaired")


def test_a_hold_by_name_stays_after_the_alert_ended() -> None:
    decided = plan(a_snapshot(ledger=ordered(Verb.HOLD), evidence=calm("n1")))
    assert list(decided.ledger.holds) == ["n1"]


@pytest.mark.parametrize("state", list(MarkState))
def test_a_release_gives_the_node_back_from_every_state(state: MarkState) -> None:
    alert = an_alert()
    cordoned = state not in {MarkState.ELEVATED, MarkState.PROBATION}
    mark = a_mark(state=state, cordoned=cordoned, since=NOW)
    node = an_excluded_node(mark=mark) if cordoned else a_node(mark=mark)
    ledger = ordered(Verb.RELEASE, ordered(Verb.HOLD, a_ledger(alert)))
    step = the_step(a_suspect_snapshot(alert, nodes=a_pool(10, node), ledger=ledger))
    assert (step.decision, step.mark, step.taints) == (Decision.RELEASE, None, ())
    assert step.unschedulable is (False if cordoned else None)
    assert step.sentence == "n1 is released by ann: repaired"


def test_a_release_lifts_no_cordon_of_others() -> None:
    node = an_excluded_node(cordoned_by="kubectl-cordon")
    step = the_step(a_snapshot(nodes=a_pool(10, node), ledger=ordered(Verb.RELEASE)))
    assert (step.decision, step.unschedulable) == (Decision.STAND_DOWN, None)


def test_an_annotation_releases_as_well() -> None:
    node = an_excluded_node(released="tested")
    step = the_step(a_snapshot(nodes=a_pool(10, node), evidence=calm("n1")))
    assert step.sentence == "n1 is released by its annotation: tested"


def test_a_release_is_over_once_the_mark_is_gone() -> None:
    """Else it would undo the next exclusion before anybody asked."""
    alert = an_alert()
    ledger = ordered(Verb.RELEASE, a_ledger(alert))
    decided = plan(a_suspect_snapshot(alert, ledger=ledger))
    assert decided.ledger.releases == {}
    assert [step.decision for step in decided.steps] == [Decision.EXCLUDE]


def test_a_released_node_rests_before_it_is_taken_out_again() -> None:
    alert = an_alert()
    ledger = ordered(Verb.RELEASE, a_ledger(alert))
    nodes = a_pool(10, an_excluded_node())
    after = plan(a_suspect_snapshot(alert, nodes=nodes, ledger=ledger)).ledger
    decided = plan(a_suspect_snapshot(alert, ledger=after))
    assert decided.steps == ()
    refusal = finding_of(decided).refusal
    assert refusal is not None
    assert refusal.reason is Reason.NODE_COOLDOWN


@pytest.mark.parametrize("fields", [("", "x"), ("x", " "), ("x" * 201, "y")])
def test_an_order_needs_a_name_and_a_reason(fields: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="1 to 200 characters"):
        Order(*fields)
