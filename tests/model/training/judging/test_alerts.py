"""Alerts are judged by when they come, and rates carry their uncertainty."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from model import schema
from model.schema import Cause
from model.training.episodes.labels import Outcome
from model.training.judging.budget import exposed_weeks, points, within
from model.training.judging.course import Course, Verdict, alerts, judge
from model.training.judging.lines import Judged
from model.training.judging.rates import poisson_lower, poisson_upper, wilson
from model.training.judging.replay import Replay

CAUSES = [str(cause) for cause in Cause]
DAY = list(schema.HORIZONS).index("24h")


def node(
    crossings: dict[float, float], failure: float | None, onset: float | None = None
) -> tuple[Course, np.ndarray]:
    """Probabilities of 0.9 from key to value (hours) on a record of 168 hours."""
    hours = np.arange(0, 168, 0.25)
    values = np.zeros(len(hours), np.float32)
    for begin, end in crossings.items():
        values[(hours >= begin) & (hours < end)] = 0.9
    outcome = None if failure is None else Outcome(failure, 0, Cause.THERMAL, "story")
    return Course("n", "story", outcome, onset, 168.0, hours), values


def test_an_alert_ahead_of_the_failure_is_a_detection_with_its_lead() -> None:
    course, values = node({90.0: 100.0}, 100.0)
    verdict = judge(course, values, 0.5)
    assert verdict.lead_hours == 10.0
    assert course.hours[verdict.moment] == 90.0
    assert verdict.false_alerts == 0


def test_a_detection_may_name_the_wrong_cause() -> None:
    course, values = node({90.0: 100.0}, 100.0)
    causes = np.zeros((len(values), len(CAUSES), 4), np.float32)
    causes[:, CAUSES.index(Cause.MEMORY)] = values[:, None]
    same = np.repeat(values[:, None], 4, axis=1)
    replay = Replay(course, same, causes, values, np.zeros((len(values), 2), np.float16))
    judged = Judged([replay], tuple(schema.HORIZONS), tuple(CAUSES), ("a", "b"))
    assert judged.named(DAY, [judge(course, values, 0.5)]) == [False]


def test_an_alert_long_before_the_failure_is_false() -> None:
    verdict = judge(*node({2.0: 4.0, 90.0: 100.0}, 100.0), 0.5)
    assert verdict.false_alerts == 1
    assert verdict.lead_hours == 10.0


def test_an_alert_before_the_fault_began_is_luck_and_false() -> None:
    verdict = judge(*node({60.0: 64.0}, 100.0, onset=80.0), 0.5)
    assert verdict.lead_hours is None
    assert verdict.false_alerts == 1


def test_an_alert_after_the_failure_counts_for_nothing() -> None:
    verdict = judge(*node({101.0: 110.0}, 100.0), 0.5)
    assert verdict.lead_hours is None
    assert verdict.false_alerts == 0


def test_what_crosses_later_than_the_rule_waits_foretells_nothing() -> None:
    course, values = node({100.0: 101.0}, 100.0)
    assert judge(course, values, 0.5) == Verdict(None, None, 0)
    assert points([course], [values]) == []
    late = replace(course, outcome=replace(course.outcome, hours=100.0 + 1 / 60))
    assert judge(late, values, 0.5) == Verdict(None, None, 0)
    seen = replace(course, outcome=replace(course.outcome, hours=100.0 + 3 / 60))
    assert judge(seen, values, 0.5).lead_hours == pytest.approx(0.05)


def test_every_alert_of_a_quiet_node_is_false_and_flutter_is_one_alert() -> None:
    quiet = node({10.0: 11.0, 14.0: 15.0, 60.0: 61.0}, None)
    assert len(alerts(*quiet, 0.5)) == 2
    assert judge(*quiet, 0.5).false_alerts == 2


def test_below_the_threshold_there_is_no_alert() -> None:
    assert alerts(*node({10.0: 20.0}, None), 0.95) == []


def test_node_time_ends_with_the_failure_and_false_alerts_need_time_without_one() -> None:
    failing, quiet = node({}, 84.0)[0], node({}, None)[0]
    assert failing.weeks == pytest.approx(0.5)
    assert quiet.weeks == pytest.approx(167.75 / 168)
    assert exposed_weeks([failing, quiet]) == pytest.approx((12.0 + 167.75) / 168)


def test_a_budget_buys_the_best_recall_that_costs_no_more() -> None:
    loud, quiet = node({90.0: 100.0}, 100.0), node({10.0: 11.0}, None)
    quiet[1][quiet[1] > 0] = 0.8
    found = points([loud[0], quiet[0]], [loud[1], quiet[1]])
    assert within(found, 0.0).detected == 1
    assert within(found, 0.0).threshold == pytest.approx(0.9)
    assert within(found[1:], 0.0).detected == 0


@pytest.mark.parametrize(("count", "upper"), [(0, 2.996), (1, 4.744), (2, 6.296), (10, 16.962)])
def test_poisson_bounds_are_those_of_the_tables(count: int, upper: float) -> None:
    assert poisson_upper(count) == pytest.approx(upper, abs=1e-3)


def test_intervals_are_those_of_the_tables() -> None:
    assert poisson_lower(10) == pytest.approx(5.425, abs=1e-3)
    assert poisson_lower(0) == 0.0
    assert wilson(8, 10) == pytest.approx((0.490, 0.943), abs=1e-3)
    assert wilson(0, 0) == (0.0, 1.0)
