"""Before every grant: still firing, and still as probable as it was said."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from remediation.alert import Severity
from remediation.policy.bounds.limits import EvidenceBar
from remediation.policy.facts.evidence import Evidence
from remediation.policy.facts.refusal import Reason
from remediation.policy.plan import plan
from tests.remediation.builders import (
    NOW,
    a_ledger,
    a_policy,
    a_prediction,
    a_snapshot,
    a_suspect_snapshot,
    an_alert,
    only_finding,
    proof,
)

ALERT = an_alert()


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        pytest.param(Evidence(), Reason.ALERTS_UNREADABLE, id="no-alertmanager"),
        pytest.param(proof(an_alert(suppressed=True)), Reason.SILENCED, id="silenced-by-a-person"),
        pytest.param(
            dataclasses.replace(proof(ALERT), predictions=None),
            Reason.PREDICTION_UNREADABLE,
            id="no-prometheus",
        ),
        pytest.param(
            dataclasses.replace(proof(ALERT), predictions={}),
            Reason.PREDICTION_ABSENT,
            id="withdrawn",
        ),
        pytest.param(
            proof(ALERT, n1=a_prediction(age_seconds=None)), Reason.PREDICTION_ABSENT, id="ageless"
        ),
        pytest.param(
            proof(ALERT, n1=a_prediction(age_seconds=181.0)), Reason.PREDICTION_STALE, id="stale"
        ),
        pytest.param(
            proof(ALERT, n1=a_prediction(state="blind")), Reason.PREDICTION_NOT_OK, id="blind"
        ),
        pytest.param(
            proof(ALERT, n1=a_prediction(state=None)), Reason.PREDICTION_NOT_OK, id="no-state"
        ),
        pytest.param(proof(ALERT, n1=a_prediction(0.09)), Reason.PROBABILITY_LOW, id="low"),
        pytest.param(
            proof(ALERT, n1=a_prediction(probabilities={("24h", "memory"): None})),
            Reason.PREDICTION_ABSENT,
            id="two-series",
        ),
        pytest.param(
            proof(ALERT, n1=a_prediction(probabilities={("24h", ""): 0.9})),
            Reason.PREDICTION_ABSENT,
            id="other-cause-only",
        ),
    ],
)
def test_without_evidence_nothing_is_granted(evidence: Evidence, reason: Reason) -> None:
    snapshot = a_suspect_snapshot(ALERT, evidence=evidence)
    decided = plan(snapshot)
    (finding,) = decided.findings
    assert finding.refusal is not None
    assert finding.refusal.reason is reason
    assert decided.steps == ()
    assert decided.ledger.grants == {}


def test_a_degraded_prediction_still_counts() -> None:
    evidence = proof(ALERT, n1=a_prediction(state="degraded"))
    assert plan(a_suspect_snapshot(ALERT, evidence=evidence)).steps


def test_a_warning_needs_less_than_a_critical_alert() -> None:
    alert = an_alert(severity=Severity.WARNING)
    evidence = proof(alert, n1=a_prediction(0.07))
    assert plan(a_suspect_snapshot(alert, evidence=evidence)).steps


def test_an_alert_without_a_cause_is_judged_by_the_whole_node() -> None:
    alert = an_alert(cause="")
    evidence = proof(alert, n1=a_prediction(probabilities={("24h", ""): 0.8}))
    assert plan(a_suspect_snapshot(alert, evidence=evidence)).steps


def test_a_suspect_that_alertmanager_no_longer_shows_is_forgotten() -> None:
    decided = plan(a_snapshot(ledger=a_ledger(ALERT), evidence=proof()))
    assert decided.ledger.suspects == {}
    assert decided.findings == ()


def test_a_suspect_heard_after_the_question_is_kept() -> None:
    evidence = dataclasses.replace(proof(), polled_at=NOW - 31)
    decided = plan(a_snapshot(ledger=a_ledger(ALERT), evidence=evidence))
    assert list(decided.ledger.suspects) == [ALERT.key]
    assert only_finding(a_snapshot(ledger=a_ledger(ALERT), evidence=evidence)).refusal is not None


def test_an_alert_that_no_post_brought_is_found_by_asking() -> None:
    decided = plan(a_snapshot(evidence=proof(ALERT)))
    assert list(decided.ledger.suspects) == [ALERT.key]
    assert len(decided.steps) == 1


def test_the_second_alert_counts_when_the_worst_has_no_evidence() -> None:
    thermal = an_alert(cause="thermal", severity=Severity.WARNING)
    evidence = proof(ALERT, thermal, n1=a_prediction(probabilities={("24h", "thermal"): 0.5}))
    (step,) = plan(a_suspect_snapshot(ALERT, thermal, evidence=evidence)).steps
    assert step.decision == "soften"


@pytest.mark.parametrize(
    ("model", "bar"),
    [
        pytest.param({"provenance": None}, {}, id="nobody-tells-which"),
        pytest.param({"version": None}, {}, id="nobody-tells-which-version"),
        pytest.param({"provenance": "borrowed"}, {}, id="of-unknown-provenance"),
        pytest.param(
            {"provenance": "bundled-simulated"}, {"provenances": ("fleet",)}, id="bundled"
        ),
        pytest.param({"version": "7"}, {"refused_models": ("7",)}, id="refused"),
        pytest.param({"doubts": frozenset({"stale"})}, {}, id="doubted-by-its-exporter"),
        pytest.param({"doubts": None}, {}, id="nobody-tells-whether-it-counts"),
    ],
)
def test_a_model_that_is_not_in_good_standing_proves_nothing(
    model: dict[str, Any], bar: dict[str, Any]
) -> None:
    evidence = proof(an_alert(), n1=a_prediction(**model))
    policy = a_policy(evidence=EvidenceBar(**bar))
    refusal = only_finding(a_suspect_snapshot(evidence=evidence, policy=policy)).refusal
    assert refusal is not None
    assert refusal.reason is Reason.MODEL_DOUBTED
