"""Numbers with an address: independent of order and chunks, and of the right shape."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.noise import Noise, key


def some(count: int = 3) -> Noise:
    return Noise([key(7, f"n{index}") for index in range(count)])


def test_a_number_does_not_depend_on_what_is_drawn_beside_it() -> None:
    steps = np.arange(40, dtype=np.int64)
    whole = some().normal("x", steps, 8)
    np.testing.assert_array_equal(some().normal("x", steps[17:19], 8), whole[17:19])
    np.testing.assert_array_equal(some().one(2).normal("x", steps, 8)[:, 0], whole[:, 2])


def test_streams_nodes_and_seeds_differ() -> None:
    steps = np.arange(100, dtype=np.int64)
    draws = some().uniform("x", steps, 4)
    assert np.unique(draws).size == draws.size
    assert not np.isin(draws, some().uniform("y", steps, 4)).any()
    assert key(1, "a") != key(2, "a") != key(1, "b")


def test_normal_numbers_have_mean_zero_and_spread_one() -> None:
    draws = some().normal("x", np.arange(20_000, dtype=np.int64), 4)
    assert abs(draws.mean()) < 0.01
    assert draws.std() == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("expected", [0.02, 1.5, 12.0, 15.9, 200.0, 1e6])
def test_counts_have_the_mean_and_variance_of_poisson(expected: float) -> None:
    steps = np.arange(20_000, dtype=np.int64)
    counts = some(1).poisson("x", steps, np.full((steps.size, 1, 4), expected))
    error = 5.0 * np.sqrt(expected / counts.size)
    assert counts.mean() == pytest.approx(expected, abs=error)
    assert counts.var() == pytest.approx(expected, rel=0.1)
    assert (counts == np.floor(counts)).all()


def test_drift_is_continuous_and_the_same_at_any_time() -> None:
    times = np.arange(0.0, 5_000.0, 5.0)
    whole = some().drift("x", times, 600.0, 2)
    assert np.abs(np.diff(whole, axis=0)).max() < 0.1
    np.testing.assert_allclose(some().drift("x", times[300:301], 600.0, 2)[0], whole[300])
