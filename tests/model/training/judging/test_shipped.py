"""Alerts are judged as the rules raise them: by cause, after a wait, at the rules' levels."""

from __future__ import annotations

import numpy as np
import pytest
import yaml

from model import schema
from model.schema import Cause
from model.training.episodes.labels import Outcome
from model.training.judging import shipped
from model.training.judging.course import WAIT_HOURS, Course
from model.training.judging.lines import HEADLINE
from model.training.judging.replay import EVERY_STEPS, Replay
from tests.factories.levels import RULES, alert_levels

HORIZONS = tuple(schema.HORIZONS)
CAUSES = len(Cause)


def replay(cause: dict[int, tuple[float, float]], *, failure: float | None) -> Replay:
    """A day looked at every five minutes; at a look, the probability of the first two causes."""
    hours = np.arange(0.0, 24.0, EVERY_STEPS / 60)
    said = np.zeros((len(hours), CAUSES, len(HORIZONS)), np.float32)
    for place, (first, second) in cause.items():
        said[place, :2] = np.array([[first], [second]])
    outcome = None if failure is None else Outcome(failure, 0, Cause.THERMAL, "story")
    course = Course("n", "story", outcome, None, 24.0, hours)
    nothing = np.zeros((len(hours), 2), np.float16)
    return Replay(course, said.sum(1), said, hours.astype(np.float32), nothing)


def judged(one: Replay) -> dict[str, tuple[int, int]]:
    found = shipped.lines([one], HORIZONS)
    return {
        line.looked_at: (line.detected, line.false_alerts)
        for line in found
        if line.severity == "critical"
    }


def test_causes_that_only_together_reach_the_level_raise_no_alert() -> None:
    both = replay({100: (0.06, 0.06), 101: (0.06, 0.06)}, failure=12.0)
    assert judged(both) == {
        "node, one look": (1, 0),
        "cause, one look": (0, 0),
        "cause, two looks": (0, 0),
    }


def test_a_cause_that_does_not_last_raises_none_where_it_is_awaited() -> None:
    assert judged(replay({100: (0.9, 0.0), 103: (0.9, 0.0)}, failure=None)) == {
        "node, one look": (0, 1),
        "cause, one look": (0, 1),
        "cause, two looks": (0, 0),
    }


def test_what_lasts_is_foretold_at_the_second_look() -> None:
    lasting = replay({100: (0.9, 0.0), 101: (0.9, 0.0)}, failure=12.0)
    leads = [x.lead_hours_quartiles for x in shipped.lines([lasting], HORIZONS)[1:3]]
    assert leads[0][1] - leads[1][1] == pytest.approx(EVERY_STEPS / 60)


def test_two_causes_in_turn_are_no_cause_that_lasts() -> None:
    turns = replay({100: (0.9, 0.0), 101: (0.0, 0.9)}, failure=12.0)
    assert judged(turns)["cause, two looks"] == (0, 0)


def test_levels_are_those_of_the_rules() -> None:
    told = {severity: dict(levels) for severity, levels in shipped.SHIPPED.items()}
    assert told == alert_levels()
    assert HEADLINE in shipped.SHIPPED["critical"]


def test_waits_are_those_of_the_rules() -> None:
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    waits = {
        rule["labels"]["severity"]: rule["for"]
        for group in groups
        for rule in group["rules"]
        if rule.get("alert") == "ForewarnNodeFailureLikely"
    }
    assert waits == {"critical": f"{round(WAIT_HOURS * 60)}m", "warning": f"{EVERY_STEPS}m"}
