"""R10: a node whose host is off has no prediction; that is no reason to give it back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from remediation.policy.facts.evidence import Evidence, Prediction
from remediation.policy.facts.mark import MarkState
from remediation.policy.facts.refusal import Reason
from remediation.policy.plan import plan
from tests.remediation.builders import (
    NOW,
    a_mark,
    a_pool,
    a_prediction,
    a_snapshot,
    an_excluded_node,
    calm,
    only_finding,
)

SOAKED = a_mark(state=MarkState.VERIFYING, since=NOW - 7200)
BLIND = a_prediction(0.001, state="blind")
NONE = a_prediction(probabilities={}, state="blind", age_seconds=None)
FROZEN = a_prediction(0.001, age_seconds=2700.0)


def seen(prediction: Prediction | None) -> Evidence:
    held = {} if prediction is None else {"n1": prediction}
    return replace(calm(), predictions=held)


def test_r10_a_soaked_node_with_a_low_prediction_comes_back() -> None:
    nodes = a_pool(10, an_excluded_node(mark=SOAKED))
    assert len(plan(a_snapshot(nodes=nodes, evidence=calm("n1"))).steps) == 1


@pytest.mark.parametrize(
    ("prediction", "reason"),
    [
        (None, Reason.PREDICTION_ABSENT),
        (NONE, Reason.PREDICTION_ABSENT),
        (BLIND, Reason.PREDICTION_NOT_OK),
        (FROZEN, Reason.PREDICTION_STALE),
    ],
    ids=["no-series", "withdrawn", "blind-beside-an-old-low", "frozen"],
)
def test_r10_without_a_prediction_of_now_it_stays_out_however_low_the_last_was(
    prediction: Prediction | None, reason: Reason
) -> None:
    nodes = a_pool(10, an_excluded_node(mark=SOAKED))
    snapshot = a_snapshot(nodes=nodes, evidence=seen(prediction))
    assert plan(snapshot).steps == ()
    refusal = only_finding(snapshot).refusal
    assert refusal is not None
    assert refusal.reason is reason
