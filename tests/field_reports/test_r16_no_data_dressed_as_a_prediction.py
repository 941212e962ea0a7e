"""R16: an alert about missing data must not move anybody's work."""

from __future__ import annotations

import json
from typing import Any

from remediation.alert import Ignored, read_post
from remediation.policy.facts.evidence import Evidence
from remediation.policy.facts.refusal import Reason
from remediation.policy.plan import plan
from tests.remediation.builders import (
    NOW,
    a_ledger,
    a_pool,
    a_prediction,
    a_snapshot,
    a_suspect_snapshot,
    only_finding,
)

LABELS = {"severity": "critical", "remediation": "migrate", "cause": "memory", "horizon": "24h"}


def a_grafana_post(*alerts: dict[str, Any]) -> bytes:
    document = {
        "receiver": "forewarn",
        "status": "firing",
        "orgId": 1,
        "version": "1",
        "title": "x",
        "state": "alerting",
        "groupKey": "{}:{}",
        "truncatedAlerts": 0,
        "alerts": alerts,
    }
    return json.dumps(document).encode()


def an_entry(labels: dict[str, str], starts_at: str = "2026-11-02T10:00:00Z") -> dict[str, Any]:
    return {
        "status": "firing",
        "labels": {**LABELS, **labels},
        "annotations": {"grafana_state_reason": "NoData"},
        "startsAt": starts_at,
        "endsAt": "0001-01-01T00:00:00Z",
        "fingerprint": "00aa00aa00aa00aa",
        "valueString": "",
        "values": None,
    }


OWN_NAME = an_entry({"alertname": "ForewarnNodeFailureLikely", "node": "n1"})
RENAMED = an_entry({"alertname": "DatasourceError", "rulename": "ForewarnNodeFailureLikely"})


def test_r16_a_renamed_alert_without_a_node_concerns_nobody() -> None:
    post = read_post(a_grafana_post(OWN_NAME, RENAMED), cluster="")
    assert [alert.node for alert in post.alerts] == ["n1"]
    assert post.ignored == (Ignored.NO_NODE,)


def test_r16_an_empty_node_is_never_every_node() -> None:
    post = read_post(a_grafana_post(an_entry({"alertname": "A", "node": ""})), cluster="")
    assert post.alerts == ()


def test_r16_without_a_probability_behind_it_nothing_is_done() -> None:
    (alert,) = read_post(a_grafana_post(OWN_NAME), cluster="").alerts
    for prediction in (None, a_prediction(probabilities={})):
        held = {} if prediction is None else {"n1": prediction}
        evidence = Evidence(alerts=(alert,), polled_at=NOW, predictions=held)
        snapshot = a_snapshot(nodes=a_pool(5), ledger=a_ledger(alert), evidence=evidence)
        assert plan(snapshot).steps == ()
        refusal = only_finding(snapshot).refusal
        assert refusal is not None
        assert refusal.reason is Reason.PREDICTION_ABSENT


def test_r16_with_a_real_value_it_works_like_any_other() -> None:
    (alert,) = read_post(a_grafana_post(OWN_NAME), cluster="").alerts
    evidence = Evidence(alerts=(alert,), polled_at=NOW, predictions={"n1": a_prediction()})
    snapshot = a_suspect_snapshot(alert, ledger=a_ledger(alert), evidence=evidence)
    assert len(plan(snapshot).steps) == 1


def test_r16_times_with_offsets_and_nanoseconds_are_understood() -> None:
    entries = [
        an_entry({"alertname": "A", "node": "n1"}, "2026-11-02T12:00:00+02:00"),
        an_entry({"alertname": "A", "node": "n2"}, "2026-11-02T10:00:00.123456789Z"),
    ]
    post = read_post(a_grafana_post(*entries), cluster="")
    moments = [alert.started_at for alert in post.alerts]
    assert None not in moments
    assert int(moments[0] or 0) == int(moments[1] or 0)
