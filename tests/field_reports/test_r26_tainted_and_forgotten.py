"""R26: another owner's mark to drain a node is respected, and called forgotten when it is old."""

from __future__ import annotations

from typing import Any

import pytest

from remediation.policy.bounds.limits import Mode, Rung
from remediation.policy.facts.refusal import Reason
from remediation.policy.facts.taint import Taint
from remediation.policy.guards import use
from remediation.policy.plan import plan
from tests.remediation.builders import (
    NOW,
    a_mark,
    a_node,
    a_policy,
    a_pool,
    a_suspect_snapshot,
    an_excluded_node,
    only_finding,
)

AUTOSCALER = "ToBeDeletedByClusterAutoscaler"
OLD = Taint(AUTOSCALER, "NoSchedule", value=str(int(NOW - 9 * 3600)))
YOUNG = Taint("karpenter.sh/disrupted", "NoSchedule")
GARBLED = Taint(AUTOSCALER, "NoSchedule", value="soon")
AHEAD = Taint(AUTOSCALER, "NoSchedule", value=str(int(NOW + 9 * 3600)))


def drained_by(taint: Taint, **changes: Any) -> Any:
    return a_suspect_snapshot(nodes=a_pool(10, a_node(taints=(taint,))), **changes)


@pytest.mark.parametrize(
    ("taint", "reason"),
    [
        pytest.param(OLD, Reason.OTHER_DRAINER_STALE, id="nine-hours-old"),
        pytest.param(YOUNG, Reason.OTHER_DRAINER, id="of-now"),
        pytest.param(GARBLED, Reason.OTHER_DRAINER, id="not-a-number"),
        pytest.param(AHEAD, Reason.OTHER_DRAINER, id="in-the-future"),
    ],
)
def test_r26_another_owners_drain_is_left_alone_and_takes_nothing_of_ours(
    taint: Taint, reason: Reason
) -> None:
    snapshot = drained_by(taint)
    decided = plan(snapshot)
    refusal = only_finding(snapshot).refusal
    assert refusal is not None
    assert refusal.reason is reason
    assert decided.steps == ()
    assert decided.ledger.grants == {}
    assert decided.ledger.bucket == snapshot.ledger.bucket


def test_r26_an_old_mark_is_said_aloud_with_its_time() -> None:
    refusal = only_finding(drained_by(OLD)).refusal
    assert refusal is not None
    assert "since 2027-01-14 23:00 UTC" in refusal.words
    assert "a person decides" in refusal.words


@pytest.mark.parametrize("taint", [YOUNG, GARBLED])
def test_r26_a_mark_without_a_time_ages_from_when_we_first_saw_it(taint: Taint) -> None:
    first = plan(drained_by(taint)).ledger
    later = drained_by(taint, ledger=first, now=NOW + 3601)
    refusal = only_finding(later).refusal
    assert refusal is not None
    assert refusal.reason is Reason.OTHER_DRAINER_STALE


def test_r26_what_we_had_begun_there_gives_its_place_back() -> None:
    node = an_excluded_node(mark=a_mark(rung=Rung.MIGRATE), taints=(YOUNG,))
    nodes = a_pool(10, node)
    ledger = plan(a_suspect_snapshot(nodes=nodes, policy=a_policy(Mode.MIGRATE))).ledger
    assert use.in_flight(nodes, ledger) == frozenset()


@pytest.mark.parametrize("taint", [OLD, YOUNG, GARBLED])
def test_r26_the_node_counts_as_unavailable(taint: Taint) -> None:
    nodes = a_pool(10, a_node(taints=(taint,)))
    assert use.unavailable(nodes, plan(drained_by(taint)).ledger) == {"n1"}


def test_r26_the_memory_ends_with_the_mark() -> None:
    seen = plan(drained_by(YOUNG)).ledger
    assert seen.strangers == {"n1": NOW}
    assert plan(a_suspect_snapshot(ledger=seen)).ledger.strangers == {}
