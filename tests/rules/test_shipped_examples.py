"""The example configurations load in the oldest programs that we support."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ALERTS = Path(__file__).resolve().parents[2] / "alerts"
pytestmark = pytest.mark.services


def said_by(*command: str) -> str:
    """Run a checking command from the folder of the examples; returns its output when it passes."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not on PATH")
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, cwd=ALERTS
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_the_prometheus_example_loads_with_every_rule_file() -> None:
    said = said_by("promtool", "check", "config", "prometheus.example.yml")
    assert f"{len(list(ALERTS.glob('*.rules.yml')))} rule files found" in said


def test_the_alertmanager_example_loads() -> None:
    assert "2 receivers" in said_by("amtool", "check-config", "alertmanager.example.yml")


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
def test_alerts_reach(name: str, remediation: str, receivers: str) -> None:
    labels = [f"alertname={name}", *([f"remediation={remediation}"] if remediation else [])]
    said = said_by(
        "amtool", "config", "routes", "test", "--config.file=alertmanager.example.yml", *labels
    )
    assert said.strip().splitlines()[-1] == receivers
