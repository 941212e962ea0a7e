"""The alert list of Alertmanager's API."""

from __future__ import annotations

import json

import pytest

from remediation.alert import AlertsUndecodable, Status, read_list

LABELS = {"alertname": "A", "severity": "warning", "node": "n1", "remediation": "exclude"}


def a_list(state: str, **labels: str) -> bytes:
    entry = {
        "labels": {**LABELS, **labels},
        "status": {"state": state, "silencedBy": [], "inhibitedBy": []},
        "startsAt": "2026-11-30T12:00:00Z",
        "endsAt": "2026-11-30T12:05:00Z",
        "updatedAt": "2026-11-30T12:01:00Z",
        "receivers": [{"name": "x"}],
    }
    return json.dumps([entry]).encode()


@pytest.mark.parametrize(
    ("state", "suppressed"), [("active", False), ("unprocessed", False), ("suppressed", True)]
)
def test_a_listed_alert_fires_and_tells_whether_it_is_suppressed(
    state: str, suppressed: bool
) -> None:
    (alert,) = read_list(a_list(state), cluster="")
    assert (alert.status, alert.suppressed) == (Status.FIRING, suppressed)


def test_an_alert_of_another_cluster_is_no_evidence() -> None:
    assert read_list(a_list("active", cluster="west"), cluster="east") == ()


def test_a_page_that_is_no_list_is_undecodable() -> None:
    with pytest.raises(AlertsUndecodable, match="not an Alertmanager alert list"):
        read_list(b"<html>", cluster="")
