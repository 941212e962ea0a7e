"""Labels and annotations of every alert are those of the contract; a runbook stands behind it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dashboards.fleet import UID
from remediation.alert import Remedy, Severity
from tests.contracts.catalogues import ROOT, every_alert
from tests.contracts.promql import reads

RUNBOOKS = ROOT / "alerts" / "runbooks"
HEADINGS = ["Meaning", "Impact", "Diagnosis", "Mitigation", "How to know it is over"]
IDENTITY = {"node", "gpu", "uuid", "cause", "horizon", "domain", "source", "equipment", "rack"}
ALERTS = [
    pytest.param(alert, id=f"{alert['alert']}-{alert['labels']['severity']}")
    for alert in every_alert()
]


@pytest.mark.parametrize("alert", ALERTS)
def test_labels_are_a_known_severity_and_a_known_action(alert: dict[str, Any]) -> None:
    labels = alert["labels"]
    assert labels.keys() <= {"severity", "remediation"}
    assert labels["severity"] in set(Severity)
    assert labels.get("remediation", Remedy.EXCLUDE) in set(Remedy)


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_is_told_apart_by_identity_and_never_by_a_value(alert: dict[str, Any]) -> None:
    grouped = reads(alert["expr"]).grouped_by
    assert grouped <= IDENTITY
    assert re.match(r"(max|min|sum)( by)? ?\(|absent\(", alert["expr"]), "one alert per target"


@pytest.mark.parametrize(
    "alert", [case for case in ALERTS if "remediation" in case.values[0]["labels"]]
)
def test_evidence_for_an_action_can_be_read_again_by_its_labels(alert: dict[str, Any]) -> None:
    assert alert["expr"].startswith("max by (node, cause, horizon, domain)")


@pytest.mark.parametrize("alert", ALERTS)
def test_annotations_are_for_people_and_complete(alert: dict[str, Any]) -> None:
    annotations = alert["annotations"]
    assert annotations.keys() == {"summary", "description", "runbook_url", "dashboard_url"}
    assert "{{" not in annotations["summary"]
    assert annotations["runbook_url"] == f"alerts/runbooks/{alert['alert']}.md"
    assert annotations["dashboard_url"].startswith(f"/d/{UID}")


@pytest.mark.parametrize("alert", ALERTS)
def test_every_alert_has_a_runbook_with_its_headings(alert: dict[str, Any]) -> None:
    text = (RUNBOOKS / f"{alert['alert']}.md").read_text()
    assert text.startswith(f"# {alert['alert']}\n")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == HEADINGS
    bodies = re.split(r"^## .+$", text, flags=re.MULTILINE)[1:]
    assert all(len(body.strip()) > 30 for body in bodies)


def test_no_runbook_without_an_alert() -> None:
    names = {alert["alert"] for alert in every_alert()}
    assert {path.stem for path in RUNBOOKS.glob("*.md")} == names


@pytest.mark.parametrize("alert", ALERTS)
def test_nothing_is_dampened_twice(alert: dict[str, Any]) -> None:
    assert not re.search(r"(avg|quantile)_over_time", alert["expr"])


@pytest.mark.parametrize("alert", ALERTS)
def test_no_duration_hides_in_arithmetic(alert: dict[str, Any]) -> None:
    """Compressed time divides `for` and ranges only."""
    assert "time()" not in alert["expr"]
