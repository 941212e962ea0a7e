"""Limits: arithmetic, what counts against them, and what stops everything."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from remediation.alert import Severity
from remediation.policy.bounds.limits import Limits
from remediation.policy.facts.ledger import Breaker, Bucket, Ledger, Pause
from remediation.policy.facts.refusal import Reason
from remediation.policy.guards import budget, use
from remediation.policy.plan import plan
from tests.remediation.builders import (
    NOW,
    WIDE,
    a_ledger,
    a_node,
    a_policy,
    a_pool,
    a_snapshot,
    a_suspect_snapshot,
    an_alert,
    an_excluded_node,
    proof,
)


def limited(**changes: Any) -> Any:
    return a_policy(limits=replace(WIDE, **changes))


def reasons(snapshot: Any) -> list[Reason | None]:
    return [f.refusal.reason if f.refusal else None for f in plan(snapshot).findings]


@pytest.mark.parametrize(
    ("absolute", "percent", "pool", "allowed"),
    [
        pytest.param(5, 10, 300, 5, id="absolute-bound"),
        pytest.param(5, 10, 30, 3, id="percent-bound"),
        pytest.param(5, 10, 39, 3, id="rounds-down"),
        pytest.param(5, 10, 4, 1, id="small-pool-may-lose-one"),
        pytest.param(5, 10, 1, 1, id="pool-of-one"),
        pytest.param(5, 100, 0, 0, id="empty-pool-allows-nothing"),
    ],
)
def test_a_share_is_the_smaller_bound_and_at_least_one(
    absolute: int, percent: float, pool: int, allowed: int
) -> None:
    assert use.share(absolute, percent, pool) == allowed


def test_grants_of_one_tick_count_against_each_other() -> None:
    alerts = [an_alert(f"n{number}") for number in range(1, 5)]
    snapshot = a_suspect_snapshot(*alerts, policy=limited(concurrency=2))
    assert reasons(snapshot) == [None, None, Reason.CONCURRENCY, Reason.CONCURRENCY]


@pytest.mark.parametrize(
    "gone",
    [
        pytest.param(a_node("n9", unschedulable=True), id="cordoned-by-somebody"),
        pytest.param(a_node("n9", ready=False), id="not-ready"),
        pytest.param(an_excluded_node("n9"), id="excluded-by-us"),
    ],
)
def test_the_pool_share_counts_every_unavailable_node(gone: Any) -> None:
    snapshot = a_suspect_snapshot(nodes=a_pool(10, gone), policy=limited(unavailable_nodes=1))
    assert Reason.POOL_SHARE in reasons(snapshot)


def test_a_pool_that_matches_no_node_grants_nothing_and_forgets_nothing() -> None:
    held = plan(a_suspect_snapshot()).ledger
    decided = plan(a_snapshot(nodes={}, ledger=held, evidence=proof(an_alert())))
    assert decided.steps == ()
    assert decided.ledger.grants == held.grants
    assert reasons(a_suspect_snapshot(nodes={})) == [Reason.UNKNOWN_NODE]


def test_a_grant_costs_a_token_and_without_tokens_nothing_is_granted() -> None:
    ledger = replace(a_ledger(an_alert(), an_alert("n2")), bucket=Bucket(tokens=1, refilled_at=NOW))
    snapshot = a_suspect_snapshot(an_alert(), an_alert("n2"), ledger=ledger)
    decided = plan(snapshot)
    assert reasons(snapshot) == [None, Reason.NO_TOKEN]
    assert decided.ledger.bucket is not None
    assert decided.ledger.bucket.tokens == 0


@pytest.mark.parametrize(
    ("elapsed", "tokens"),
    [
        pytest.param(599.0, 0.0, id="before-the-refill"),
        pytest.param(600.0, 1.0, id="one-refill"),
        pytest.param(1_000_000.0, 2.0, id="never-above-the-burst"),
        pytest.param(-3600.0, 0.0, id="clock-jumped-back"),
    ],
)
def test_tokens_come_back_one_per_refill(elapsed: float, tokens: float) -> None:
    ledger = Ledger(bucket=Bucket(tokens=0, refilled_at=NOW))
    after = budget.upkeep(ledger, a_pool(3), Limits(), NOW + elapsed)
    assert after.bucket is not None
    assert after.bucket.tokens == tokens


def test_a_full_bucket_does_not_save_up_time() -> None:
    ledger = replace(a_ledger(an_alert()), bucket=Bucket(tokens=2, refilled_at=NOW - 1_000_000))
    policy = a_policy(limits=replace(Limits(), unavailable_percent=100, concurrency=9))
    after = plan(a_suspect_snapshot(ledger=ledger, policy=policy)).ledger
    assert after.bucket == Bucket(tokens=1, refilled_at=NOW)
    assert budget.upkeep(after, a_pool(3), Limits(), NOW + 1).bucket == after.bucket


def test_a_lost_ledger_hands_out_no_new_burst_while_nodes_are_marked() -> None:
    fresh = budget.upkeep(Ledger(), a_pool(3), Limits(), NOW).bucket
    lost = budget.upkeep(Ledger(), a_pool(3, an_excluded_node()), Limits(), NOW).bucket
    assert fresh is not None
    assert lost is not None
    assert (fresh.tokens, lost.tokens) == (2.0, 0.0)


def test_too_many_grants_in_a_window_open_the_breaker_for_good() -> None:
    window = Breaker(window=(NOW - 10, NOW - 5, NOW - 1))
    ledger = replace(a_ledger(an_alert()), breaker=window)
    decided = plan(a_suspect_snapshot(ledger=ledger, policy=limited(breaker_grants=3)))
    assert decided.steps == ()
    assert decided.ledger.breaker.tripped_at == NOW
    later = a_suspect_snapshot(ledger=decided.ledger, now=NOW + 100_000, policy=limited())
    assert reasons(later) == [Reason.BREAKER_OPEN]
    assert plan(later).ledger.breaker.tripped_at == NOW


def test_a_pause_stops_new_harm() -> None:
    pause = Pause(author="ana", reason="maintenance", since=NOW)
    snapshot = a_suspect_snapshot(ledger=replace(a_ledger(an_alert()), pause=pause))
    (finding,) = plan(snapshot).findings
    assert finding.refusal is not None
    assert finding.refusal.words == "paused by ana: maintenance"


def test_softly_tainted_nodes_have_their_own_limit_and_cost_no_token() -> None:
    alerts = [an_alert(f"n{number}", severity=Severity.WARNING) for number in range(1, 4)]
    ledger = replace(a_ledger(*alerts), bucket=Bucket(tokens=0, refilled_at=NOW))
    snapshot = a_suspect_snapshot(*alerts, ledger=ledger, policy=limited(elevated_nodes=2))
    assert reasons(snapshot) == [None, None, Reason.ELEVATED_SHARE]


def test_the_uses_tell_what_is_used_and_left() -> None:
    nodes = a_pool(20, an_excluded_node())
    ledger = plan(a_snapshot(nodes=nodes)).ledger
    uses = use.uses(nodes, ledger, Limits(), now=NOW)
    assert (uses["pool_share"].used, uses["pool_share"].allowed) == (1, 2)
    assert uses["pool_share"].available == 1
    assert uses["concurrency"].used == 0
