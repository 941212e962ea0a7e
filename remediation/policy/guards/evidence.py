"""Evidence as a guard: does the alert still fire, is the probability still what it said.

Read afresh before every grant.  Unreadable, absent, stale or ambiguous is a no.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remediation.policy.facts.refusal import Reason, Refusal

if TYPE_CHECKING:
    from remediation.policy.bounds.limits import EvidenceBar
    from remediation.policy.facts.evidence import Evidence, Prediction
    from remediation.policy.facts.ledger import Suspect

# A degraded prediction lacks optional inputs only; a blind one publishes no probability.
USABLE_STATES = frozenset({"ok", "degraded"})


def judge(suspect: Suspect, key: str, evidence: Evidence, bar: EvidenceBar) -> Refusal | None:
    """Return why `suspect` does not justify acting now, or None when it does."""
    refusal = _firing(key, evidence)
    if refusal is not None:
        return refusal
    refusal = standing(suspect.node, evidence, bar)
    if refusal is not None:
        return refusal
    value = probability(suspect.node, suspect.horizon, suspect.cause, evidence)
    if value is None:
        what = f"{suspect.cause or 'node'} within {suspect.horizon or 'no horizon'}"
        return Refusal(Reason.PREDICTION_ABSENT, f"no single probability of {what}")
    least = bar.probability(suspect.severity)
    if value < least:
        return Refusal(Reason.PROBABILITY_LOW, f"the probability is now below {least:g}")
    return None


def standing(node: str, evidence: Evidence, bar: EvidenceBar) -> Refusal | None:
    """Return why the node's prediction cannot be relied on now, or None."""
    if evidence.predictions is None:
        return Refusal(Reason.PREDICTION_UNREADABLE, "Prometheus could not be read")
    prediction = evidence.predictions.get(node)
    if prediction is None or prediction.age_seconds is None:
        return Refusal(Reason.PREDICTION_ABSENT, "Prometheus holds no prediction for the node")
    if prediction.age_seconds < -bar.ahead_seconds:
        words = f"the prediction is more than {bar.ahead_seconds:g} s ahead of the time"
        return Refusal(Reason.PREDICTION_STALE, words)
    if prediction.age_seconds > bar.freshness_seconds:
        words = f"the prediction is older than {bar.freshness_seconds:g} s"
        return Refusal(Reason.PREDICTION_STALE, words)
    if prediction.state not in USABLE_STATES:
        words = f"the prediction is {prediction.state or 'of no single state'}, expected ok"
        return Refusal(Reason.PREDICTION_NOT_OK, words)
    return _of_good_model(prediction, bar)


def _of_good_model(prediction: Prediction, bar: EvidenceBar) -> Refusal | None:
    if prediction.provenance is None or prediction.version is None:
        return Refusal(Reason.MODEL_DOUBTED, "Prometheus does not tell which model made it")
    if prediction.provenance not in bar.provenances:
        words = (
            f"its model is of provenance {prediction.provenance}, which the policy does not trust"
        )
        return Refusal(Reason.MODEL_DOUBTED, words)
    if prediction.version in bar.refused_models:
        return Refusal(Reason.MODEL_DOUBTED, f"the policy refuses model {prediction.version}")
    if prediction.doubts is None:
        return Refusal(Reason.MODEL_DOUBTED, "Prometheus does not tell whether its model counts")
    if prediction.doubts:
        words = f"its exporter doubts the model: {', '.join(sorted(prediction.doubts))}"
        return Refusal(Reason.MODEL_DOUBTED, words)
    return None


def probability(node: str, horizon: str, cause: str, evidence: Evidence) -> float | None:
    """Return the one probability of that condition, None when absent, ambiguous or unreadable."""
    prediction = (evidence.predictions or {}).get(node)
    return None if prediction is None else prediction.probabilities.get((horizon, cause))


def _firing(key: str, evidence: Evidence) -> Refusal | None:
    if evidence.alerts is None:
        return Refusal(Reason.ALERTS_UNREADABLE, "Alertmanager could not be read")
    alert = evidence.by_key.get(key)
    if alert is None:
        return Refusal(Reason.NOT_FIRING, "Alertmanager no longer shows the alert")
    if alert.suppressed:
        return Refusal(Reason.SILENCED, "the alert is silenced or inhibited: hands off")
    return None
