"""Alerts are judged by when they come, and rates carry their uncertainty."""

from __future__ import annotations

import numpy as np
import pytest

from model import schema
from model.schema import Cause
from model.training.labels import Outcome
from model.training.rates import poisson_upper
from model.training.replay import Replay, alerts, judge, weeks

CAUSES = [str(cause) for cause in Cause]
DAY = list(schema.HORIZONS).index("24h")


def told(
    crossings: dict[float, float], failure: float | None, cause: Cause = Cause.THERMAL
) -> Replay:
    """Probabilities of 0.9 from key to value (hours) on a record of 168 hours."""
    hours = np.arange(0, 168, 0.25)
    node = np.zeros((len(hours), 4), np.float32)
    for begin, end in crossings.items():
        node[(hours >= begin) & (hours < end)] = 0.9
    causes = np.zeros((len(hours), len(CAUSES), 4), np.float32)
    causes[:, CAUSES.index(cause)] = node
    outcome = None if failure is None else Outcome(failure, 0, Cause.THERMAL, "story")
    return Replay("story", outcome, 168.0, hours, node, causes)


def test_an_alert_ahead_of_the_failure_is_a_detection_with_its_lead() -> None:
    verdict = judge(told({90.0: 100.0}, 100.0), CAUSES, DAY, 0.5)
    assert verdict.lead_hours == 10.0
    assert verdict.right
    assert verdict.false_alerts == 0


def test_a_detection_may_name_the_wrong_cause() -> None:
    assert not judge(told({90.0: 100.0}, 100.0, Cause.MEMORY), CAUSES, DAY, 0.5).right


def test_an_alert_long_before_the_failure_is_false() -> None:
    verdict = judge(told({2.0: 4.0, 90.0: 100.0}, 100.0), CAUSES, DAY, 0.5)
    assert verdict.false_alerts == 1
    assert verdict.lead_hours == 10.0


def test_an_alert_after_the_failure_counts_for_nothing() -> None:
    verdict = judge(told({101.0: 110.0}, 100.0), CAUSES, DAY, 0.5)
    assert verdict.lead_hours is None
    assert verdict.false_alerts == 0


def test_every_alert_of_a_quiet_node_is_false_and_flutter_is_one_alert() -> None:
    quiet = told({10.0: 11.0, 14.0: 15.0, 60.0: 61.0}, None)
    assert len(alerts(quiet, DAY, 0.5)) == 2
    assert judge(quiet, CAUSES, DAY, 0.5).false_alerts == 2


def test_below_the_threshold_there_is_no_alert() -> None:
    assert alerts(told({10.0: 20.0}, None), DAY, 0.95) == []


def test_node_time_ends_with_the_failure() -> None:
    assert weeks(told({}, 84.0)) == pytest.approx(0.5)
    assert weeks(told({}, None)) == pytest.approx(167.75 / 168)


@pytest.mark.parametrize(("count", "upper"), [(0, 2.996), (1, 4.744), (2, 6.296), (10, 16.962)])
def test_poisson_bounds_are_those_of_the_tables(count: int, upper: float) -> None:
    assert poisson_upper(count) == pytest.approx(upper, abs=1e-3)
