"""Webhook bodies, lenient where Alertmanager grows and strict about what is acted on."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from remediation.alert import AlertsUndecodable, Ignored, Remedy, Severity, Status, read_post

LABELS = {
    "alertname": "ForewarnNodeFailureLikely",
    "cluster": "east",
    "severity": "critical",
    "node": "gpu-7.rack-2",
    "cause": "memory",
    "horizon": "24h",
    "remediation": "exclude",
}


def a_body(*alerts: dict[str, Any], **changes: Any) -> bytes:
    document = {
        "receiver": r"web\.hook",
        "status": "firing",
        "version": "4",
        "groupKey": "{}:{}",
        "truncatedAlerts": 0,
        "alerts": list(alerts),
        "commonLabels": {},
        "externalURL": "http://alertmanager",
        "notification_reason": "a key of a later version",
    }
    return json.dumps({**document, **changes}).encode()


def an_entry(**changes: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "status": "firing",
        "labels": LABELS,
        "annotations": {"summary": "x"},
        "startsAt": "2026-11-30T12:00:00.123Z",
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus",
        "fingerprint": "c1d8c6fbc3e5a9b2",
    }
    return {**entry, **changes}


def relabelled(**labels: str | None) -> dict[str, Any]:
    merged = {**LABELS, **labels}
    return an_entry(labels={name: value for name, value in merged.items() if value is not None})


def test_an_alert_is_read_with_its_own_status_and_times() -> None:
    post = read_post(a_body(an_entry()), cluster="east")
    (alert,) = post.alerts
    assert (alert.node, alert.severity, alert.remedy) == (
        "gpu-7.rack-2",
        Severity.CRITICAL,
        Remedy.EXCLUDE,
    )
    assert alert.status is Status.FIRING
    assert alert.started_at == pytest.approx(1796040000.123)


def test_an_end_in_year_one_is_no_end() -> None:
    (alert,) = read_post(a_body(an_entry()), cluster="").alerts
    assert alert.ended_at is None


def test_a_resolved_alert_in_a_firing_group_is_resolved() -> None:
    entry = an_entry(status="resolved", endsAt="2026-11-30T13:00:00Z")
    (alert,) = read_post(a_body(entry, status="firing"), cluster="").alerts
    assert alert.status is Status.RESOLVED
    assert alert.ended_at == pytest.approx(1796043600)


def test_two_replicas_that_tell_of_one_fault_give_one_key() -> None:
    first = relabelled(replica="a")
    second = relabelled(replica="b")
    alerts = read_post(a_body(first, second), cluster="").alerts
    assert alerts[0].key == alerts[1].key


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        pytest.param(relabelled(remediation=None), Ignored.NO_REMEDIATION, id="no-remediation"),
        pytest.param(relabelled(remediation="reboot"), Ignored.UNKNOWN_REMEDIATION, id="unknown"),
        pytest.param(relabelled(cluster="west"), Ignored.OTHER_CLUSTER, id="other-cluster"),
        pytest.param(relabelled(cluster=None), Ignored.NO_CLUSTER, id="no-cluster"),
        pytest.param(relabelled(node=None), Ignored.NO_NODE, id="no-node"),
        pytest.param(relabelled(node='a"} or {x="'), Ignored.MALFORMED_LABEL, id="query-in-node"),
        pytest.param(relabelled(node="n|.*"), Ignored.MALFORMED_LABEL, id="pattern-in-node"),
        pytest.param(relabelled(cause="x" * 129), Ignored.MALFORMED_LABEL, id="long-cause"),
        pytest.param(relabelled(severity="page"), Ignored.UNKNOWN_SEVERITY, id="severity"),
        pytest.param(an_entry(status="maybe"), Ignored.UNKNOWN_STATUS, id="status"),
    ],
)
def test_an_alert_that_cannot_be_acted_on_is_ignored_with_its_reason(
    entry: dict[str, Any], reason: Ignored
) -> None:
    post = read_post(a_body(entry, an_entry()), cluster="east")
    assert post.ignored == (reason,)
    assert len(post.alerts) == 1


def test_without_a_cluster_name_every_cluster_is_heard() -> None:
    post = read_post(a_body(relabelled(cluster="west")), cluster="")
    assert len(post.alerts) == 1


@pytest.mark.parametrize(
    ("version", "told"),
    [("3", '"3"'), ("5", '"5"'), (4, "4"), (None, "none"), ({"x": 1}, '{"x": 1}')],
)
def test_a_version_whose_keys_may_mean_something_else_is_refused(version: Any, told: str) -> None:
    expected = f'version {told}, expected "4" or "1"'
    with pytest.raises(AlertsUndecodable, match=re.escape(expected)):
        read_post(a_body(an_entry(), version=version), cluster="")


def test_what_asks_for_remediation_and_cannot_be_used_is_told_with_an_example() -> None:
    entries = (relabelled(remediation=None), relabelled(cluster="w" * 99), relabelled(node=None))
    post = read_post(a_body(*entries), cluster="east")
    assert post.astray == {"no_node": 1, "other_cluster": 1}
    assert (post.stray["cluster"], post.stray["node"]) == ("w" * 64, "gpu-7.rack-2")


def test_truncation_is_told() -> None:
    assert read_post(a_body(truncatedAlerts=3), cluster="").truncated == 3


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"{", id="cut-short"),
        pytest.param(b"[]", id="a-list"),
        pytest.param(b'{"alerts": null}', id="null-alerts"),
        pytest.param(b'{"alerts": [{"status": "firing"}]}', id="no-labels"),
        pytest.param(b"\xff\xfe", id="not-utf-8"),
    ],
)
def test_a_body_that_is_no_post_says_what_was_expected(body: bytes) -> None:
    with pytest.raises(AlertsUndecodable, match="not an Alertmanager webhook body"):
        read_post(body, cluster="")
