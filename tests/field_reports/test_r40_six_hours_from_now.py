"""R40: what is stamped in the future is no fresh evidence, and mints no tokens."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from remediation.policy.bounds.limits import Limits
from remediation.policy.facts.ledger import Bucket, Ledger
from remediation.policy.facts.refusal import Reason
from remediation.policy.guards import budget
from remediation.policy.plan import plan
from tests.remediation.builders import (
    NOW,
    a_ledger,
    a_pool,
    a_prediction,
    a_suspect_snapshot,
    an_alert,
    only_finding,
    proof,
)

SIX_HOURS = 6 * 3600.0


def test_r40_a_prediction_from_the_future_is_not_fresh() -> None:
    ahead = proof(an_alert(), n1=a_prediction(age_seconds=-SIX_HOURS))
    refusal = only_finding(a_suspect_snapshot(evidence=ahead)).refusal
    assert refusal is not None
    assert refusal.reason is Reason.PREDICTION_STALE


def test_r40_clocks_that_differ_a_little_are_no_matter() -> None:
    ahead = proof(an_alert(), n1=a_prediction(age_seconds=-29.0))
    assert len(plan(a_suspect_snapshot(evidence=ahead)).steps) == 1


@pytest.mark.parametrize("ahead", [SIX_HOURS, 10 * SIX_HOURS])
def test_r40_a_refill_in_the_future_is_neither_a_burst_nor_a_drought(ahead: float) -> None:
    limits = Limits()
    ledger = Ledger(bucket=Bucket(tokens=0, refilled_at=NOW + ahead))
    now = budget.upkeep(ledger, a_pool(3), limits, NOW)
    assert now.bucket is not None
    assert now.bucket.tokens == 0
    later = budget.upkeep(now, a_pool(3), limits, NOW + limits.token_refill_seconds)
    assert later.bucket is not None
    assert later.bucket.tokens == 1


def test_r40_a_clock_that_jumps_ahead_mints_no_more_than_the_burst() -> None:
    ledger = Ledger(bucket=Bucket(tokens=0, refilled_at=NOW))
    after = budget.upkeep(ledger, a_pool(3), Limits(), NOW + SIX_HOURS)
    assert after.bucket is not None
    assert after.bucket.tokens == Limits().token_burst


def test_r40_an_alert_that_starts_in_the_future_is_one_like_any_other() -> None:
    alert = an_alert(started_at=NOW + SIX_HOURS)
    ledger = replace(a_ledger(alert))
    assert len(plan(a_suspect_snapshot(alert, ledger=ledger)).steps) == 1
