"""A probability is held against what came of it, weighed to the field."""

from __future__ import annotations

import numpy as np
import pytest

from model.schema import Cause
from model.training.episodes.labels import Outcome
from model.training.judging import calibration
from model.training.judging.calibration import Isotonic, Moments
from model.training.judging.course import Course


def drawn(true: np.ndarray, seed: int = 0) -> Moments:
    failed = (np.random.default_rng(seed).random(len(true)) < true).astype(np.float64)
    return Moments(failed, np.ones(len(true)), np.arange(len(true)) // 20, ())


SAID = np.random.default_rng(1).uniform(0.02, 0.9, 6_000)


def test_what_is_said_right_has_slope_and_ratio_one() -> None:
    at = drawn(SAID)
    assert calibration.slope(SAID, at) == pytest.approx(1.0, abs=0.1)
    assert calibration.observed_over_expected(SAID, at) == pytest.approx(1.0, abs=0.1)
    low, high = calibration.interval(calibration.slope, SAID, at)
    assert low < 1.0 < high < low + 0.4


def test_what_is_said_too_boldly_has_a_slope_below_one() -> None:
    odds = np.log(SAID / (1 - SAID))
    at = drawn(1 / (1 + np.exp(-odds / 2)))
    assert calibration.slope(SAID, at) == pytest.approx(0.5, abs=0.1)


def test_where_nothing_failed_there_is_no_slope() -> None:
    assert calibration.slope(SAID, drawn(np.zeros(len(SAID)))) is None


def test_reliability_pairs_what_was_said_with_what_came() -> None:
    for said, came, moments in calibration.reliability(SAID, drawn(SAID)):
        assert came == pytest.approx(said, abs=0.05 if moments > 300 else 0.1)


def test_the_expected_error_is_how_far_the_curve_is_off() -> None:
    at = drawn(SAID)
    assert calibration.expected_error(SAID, at) < 0.02
    assert calibration.expected_error(SAID * 0.5, at) == pytest.approx(SAID.mean() / 2, abs=0.02)
    half = Moments(np.array([1.0, 0.0]), np.array([1.0, 3.0]), np.zeros(2, np.int64), ())
    assert calibration.expected_error(np.array([0.95, 0.05]), half) == pytest.approx(0.05)


def test_a_score_becomes_the_best_rising_probability() -> None:
    scores = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    at = Moments(np.array([0.0, 1.0, 0.0, 1.0, 1.0]), np.ones(5), np.zeros(5, np.int64), ())
    fitted = Isotonic.fit(scores, at)
    np.testing.assert_allclose(fitted(scores), [0.0, 0.5, 0.5, 1.0, 1.0])
    np.testing.assert_allclose(fitted(np.array([-9.0, 2.5, 99.0])), [0.0, 0.5, 1.0])


def test_quiet_moments_weigh_as_much_as_the_field_has_of_them() -> None:
    hours = np.arange(1.0, 161.0, 0.25)
    failing = Course("a", "k", Outcome(150.0, 0, Cause.MEMORY, "k"), 100.0, 160.0, hours)
    quiet = Course("b", "healthy", None, None, 160.0, hours)
    at = calibration.moments([failing, quiet], 2)
    assert at.failed.sum() == 24
    assert len(at.places[1]) == 137 - 1
    heavy = at.weight[at.node == 1][0]
    assert heavy * quiet.weeks == pytest.approx(1 / 0.027)
