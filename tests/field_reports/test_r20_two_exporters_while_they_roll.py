"""R20: while a DaemonSet rolls, two exporters speak of one node; ours is no join that fails."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from remediation.evidence.predictions import Sample, query, read_predictions
from remediation.policy.facts.evidence import Evidence
from remediation.policy.facts.refusal import Reason
from remediation.policy.plan import plan
from tests.remediation.builders import NOW, a_suspect_snapshot, an_alert, only_finding

SERIES = (
    ({"__name__": "forewarn_node_failure_probability", "horizon": "24h"}, 0.9),
    ({"__name__": "forewarn_cause_failure_probability", "horizon": "24h", "cause": "memory"}, 0.9),
    ({"__name__": "forewarn_prediction_state", "state": "ok"}, 1.0),
    ({"__name__": "forewarn_prediction_timestamp_seconds"}, NOW - 10),
    ({"__name__": "forewarn_model_info", "provenance": "fleet", "version": "1"}, 1.0),
    ({"__name__": "forewarn_model_doubted", "reason": "drifted"}, 0.0),
)


def told_by(*pods: str) -> Evidence:
    samples = [
        {"metric": {**labels, "node": "n1", "pod": pod}, "value": [NOW, repr(value)]}
        for pod in pods
        for labels, value in SERIES
    ]
    found = msgspec.convert(samples, list[Sample])
    return Evidence(alerts=(an_alert(),), polled_at=NOW, predictions=read_predictions(found))


def steps_with(evidence: Evidence) -> int:
    return len(plan(a_suspect_snapshot(evidence=evidence)).steps)


@pytest.mark.parametrize("pods", [("fw-a",), ("fw-b",)])
def test_r20_one_exporter_is_believed_whatever_its_pod_is_called(pods: Any) -> None:
    assert steps_with(told_by(*pods)) == 1


def test_r20_two_at_once_are_one_reason_to_wait_a_tick_and_no_error() -> None:
    both = told_by("fw-a", "fw-b")
    assert steps_with(both) == 0
    refusal = only_finding(a_suspect_snapshot(evidence=both)).refusal
    assert refusal is not None
    assert refusal.reason in {Reason.PREDICTION_ABSENT, Reason.PREDICTION_NOT_OK}
    assert steps_with(told_by("fw-b")) == 1


def test_r20_what_is_asked_joins_nothing() -> None:
    assert not {"on(", "group_left", "ignoring"} & set(query(["n1"]).split())
    assert query(["n1"]).count("{") == 1
