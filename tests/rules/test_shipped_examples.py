"""The example configurations load in the oldest and the newest programs that we support."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.monitoring.fixtures import Programs

ALERTS = Path(__file__).resolve().parents[2] / "alerts"
pytestmark = pytest.mark.services


def test_the_prometheus_example_loads_with_every_rule_file(monitoring_programs: Programs) -> None:
    said = monitoring_programs.said_by(
        "promtool", "check", "config", "prometheus.example.yml", cwd=ALERTS
    )
    assert f"{len(list(ALERTS.glob('*.rules.yml')))} rule files found" in said


def test_the_alertmanager_example_loads(monitoring_programs: Programs) -> None:
    said = monitoring_programs.said_by(
        "amtool", "check-config", "alertmanager.example.yml", cwd=ALERTS
    )
    assert "2 receivers" in said


WEBHOOK_AND_PEOPLE = "forewarn-remediation,people"


@pytest.mark.parametrize(
    ("name", "remediation", "receivers"),
    [
        ("ForewarnNodeFailureLikely", "migrate", WEBHOOK_AND_PEOPLE),
        ("ForewarnFacilityFailureLikely", "facility", WEBHOOK_AND_PEOPLE),
        ("ForewarnSourceDown", "", "people"),
        ("DiskFull", "", "people"),
    ],
)
def test_alerts_reach(
    name: str, remediation: str, receivers: str, monitoring_programs: Programs
) -> None:
    labels = [f"alertname={name}", *([f"remediation={remediation}"] if remediation else [])]
    routes = ("config", "routes", "test", "--config.file=alertmanager.example.yml")
    said = monitoring_programs.said_by("amtool", *routes, *labels, cwd=ALERTS)
    assert said.strip().splitlines()[-1] == receivers
