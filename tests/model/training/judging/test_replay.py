"""Looking every few minutes tells what looking every minute tells."""

from __future__ import annotations

import numpy as np
import pytest

from model import runtime
from model.cli import BUNDLED
from model.training.episodes.dataset import episode
from model.training.judging import quiet, quiet_table
from model.training.judging.lines import HEADLINE
from model.training.judging.replay import Memory, replay
from model.training.worth import quiet as of_quiet
from model.training.worth.bar import Mark
from simulator.history import record
from simulator.scenario import Scenario

HOUR = 3_600.0


def test_several_steps_at_once_equal_single_ones_under_steady_evidence() -> None:
    news = np.array([[1.0, -2.0, 0.5, 3.0]], np.float32)
    one, five = Memory(4, 60, 1), Memory(4, 60, 5)
    keep = np.exp2(-60 / (np.array([1.0, 6.0, 24.0, 72.0]) * HOUR))
    single = np.full((1, 4), 0.3, np.float32)
    whole = five.advance(single, (keep * single + (1 - keep) * news).astype(np.float32))
    for _ in range(5):
        after = (keep * single + (1 - keep) * news).astype(np.float32)
        single = one.advance(single, after)
    np.testing.assert_allclose(whole, single, atol=2e-4)


def test_a_sparse_replay_follows_a_dense_one() -> None:
    story = Scenario("memory-storm", onset_seconds=2 * HOUR, duration_seconds=4 * HOUR, gpu=3)
    whole = episode(record(story, node="n", seed=991, steps=7 * 60))
    predictor = runtime.load(BUNDLED)
    dense, sparse = replay(predictor, whole, 1), replay(predictor, whole, 5)
    places = np.searchsorted(dense.course.hours, sparse.course.hours)
    np.testing.assert_array_equal(dense.course.hours[places], sparse.course.hours)
    assert np.abs(dense.node[places] - sparse.node).mean() < 0.01
    for horizon in range(4):
        reached = [(one.node[:, horizon] >= 0.5).any() for one in (dense, sparse)]
        assert reached[0] == reached[1]
    day = [one.course.hours[(one.node[:, 2] >= 0.5).argmax()] for one in (dense, sparse)]
    assert abs(day[0] - day[1]) <= 10 / 60


def test_false_alerts_are_counted_where_nothing_fails() -> None:
    predictor = runtime.load(BUNDLED)
    nodes = [episode(record(Scenario(), node=f"q{n}", seed=n, steps=600, gpus=4)) for n in (1, 2)]
    report = quiet.watch(predictor, nodes, "two nodes")
    assert report.nodes == 2
    assert 0 < report.node_weeks < 20 / 168
    for line in report.lines:
        assert line.rate * report.node_weeks == line.false_alerts
        assert line.interval[0] <= line.rate <= line.interval[1]
    assert "two nodes: 2 nodes that do not fail" in quiet_table.render(report)
    assert report.calibration == ()


def test_quiet_nodes_beside_failing_ones_tell_whether_probabilities_mean_what_they_say() -> None:
    predictor = runtime.load(BUNDLED)
    storm = Scenario("memory-storm", onset_seconds=2 * HOUR, duration_seconds=4 * HOUR, gpu=3)
    calm, failing = (
        episode(record(story, node=node, seed=5, steps=480, gpus=4))
        for node, story in (("calm", Scenario()), ("failing", storm))
    )
    report = quiet.watch(predictor, [calm], "one node", [failing])
    assert report.nodes == report.failing_nodes == 1
    hour = report.calibration[0]
    assert hour.horizon == "1h"
    assert hour.failing_ratio == pytest.approx(0.027 / 168, rel=0.25)
    assert "with 1 nodes of the test split that fail, at 0.027" in quiet_table.render(report)
    line = next(one for one in report.lines if (one.horizon, one.threshold) == HEADLINE)
    assert line.told.events == line.told.gradual_events == 1
    assert line.told.of_mix is None
    rows = {bar.what: bar.mark for bar in of_quiet.bars(report)}
    assert rows["healthy split"] is Mark.MISSED
    assert len(rows) == 5
