"""One level each: what the rules call critical or a warning is so for everybody who reads it."""

from __future__ import annotations

from dashboards.panels import CALM
from remediation.policy.bounds.limits import EvidenceBar, ReleaseBar
from tests.factories.levels import alert_levels

LEVELS = alert_levels()
LEAST = {severity: min(levels.values()) for severity, levels in LEVELS.items()}


def test_remediation_asks_of_a_probability_what_made_the_alert_fire() -> None:
    bar = EvidenceBar()
    assert bar.critical_probability == LEAST["critical"]
    assert bar.warning_probability == LEAST["warning"]


def test_a_node_comes_back_below_every_alert() -> None:
    assert ReleaseBar().probability_below < LEAST["warning"]


def test_the_dashboard_turns_orange_at_a_warning_and_red_at_a_critical_alert() -> None:
    assert [(one.value, one.color) for one in CALM[1:]] == [
        (LEAST["warning"], "orange"),
        (LEAST["critical"], "red"),
    ]
