"""Both scorers find what stands out; only the causal one never needs the future."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.tadgan import causal, errors, published, trials
from benchmarks.tadgan.causal import Rule
from benchmarks.tadgan.overlap import count
from benchmarks.tadgan.view import STRIDE, View, starts

WINDOW = 100
STEPS = 1_200
SHIFT = (700, 719)
RULE = Rule(tail_steps=16, joined="error", deviations=6.0)


def a_view(values: np.ndarray, guess: np.ndarray) -> View:
    """What a model would show that rebuilds `guess` in every window."""
    windows = np.lib.stride_tricks.sliding_window_view(guess, WINDOW)
    seen = windows[starts(len(values), WINDOW)].astype(np.float32)
    critic = np.sin(np.arange(len(seen))).astype(np.float32)
    return View(values.astype(np.float32), seen, critic)


def alarms(train: View, test: View) -> list[tuple[int, int]]:
    """What a detector of two equal fits says."""
    return causal.detect([causal.ends(train)] * 2, [causal.ends(test)] * 2, RULE)


@pytest.fixture(scope="module")
def wave() -> np.ndarray:
    return 0.5 * np.sin(np.arange(STEPS) / 9)


@pytest.fixture(scope="module")
def train(wave: np.ndarray) -> View:
    noise = np.random.default_rng(1).normal(0, 0.02, STEPS)
    return a_view(wave + noise, wave)


@pytest.fixture(scope="module")
def test(wave: np.ndarray, train: View) -> View:
    spoilt = train.values.astype(np.float64)
    spoilt[SHIFT[0] : SHIFT[1] + 1] += 0.6
    return a_view(spoilt, wave)


def test_the_median_of_all_windows_is_the_reconstruction(wave: np.ndarray, train: View) -> None:
    np.testing.assert_allclose(errors.rebuilt(train), wave, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in published.SCORES if name != "critic"])
def test_the_published_scorer_finds_a_shift_by_every_error(test: View, name: str) -> None:
    known = published.parts(test.values, [errors.seen(test)])
    assert count([SHIFT], published.detect(published.score(known, name))).f1 == 1.0


def test_a_peak_of_one_fit_alone_weighs_less_than_one_of_all() -> None:
    calm, loud = np.ones(3), np.array([1.0, 16.0, 1.0])
    alone = published.joined([loud, calm, calm, calm])
    np.testing.assert_allclose(alone, [1.0, 2.0, 1.0])
    np.testing.assert_allclose(published.joined([loud] * 4), loud)


def test_what_barely_stands_out_beside_a_peak_is_pruned() -> None:
    scores = np.zeros(300)
    scores[100] = 10.0
    assert published.detect(scores) == [(50, 150)]
    assert published.detect(np.ones(300)) == []


def test_the_causal_scorer_finds_it_from_the_past_alone(train: View, test: View) -> None:
    (alarm,) = alarms(train, test)
    assert SHIFT[0] <= alarm[0] <= SHIFT[1] + STRIDE
    assert alarms(train, train) == []


@pytest.mark.parametrize("cut", [712, 760, 1_000])
def test_what_comes_later_changes_no_alarm(train: View, test: View, cut: int) -> None:
    """Cut where the windows that are looked at stay the same."""
    windows = int((test.starts + WINDOW <= cut).sum())
    end = int(test.starts[windows - 1]) + WINDOW
    early = View(test.values[:end], test.rebuilt[:windows], test.critic[:windows])
    whole = [step for a, b in alarms(train, test) for step in range(a, b + 1)]
    part = [step for a, b in alarms(train, early) for step in range(a, b + 1)]
    assert part == [step for step in whole if step < end]


def test_dtw_forgives_a_delay_that_a_point_error_does_not(wave: np.ndarray) -> None:
    late = np.roll(wave, 2)
    squares = np.convolve((wave - late) ** 2, np.ones(errors.DTW_STEPS), mode="same")
    inner = slice(50, -50)
    assert errors.dtw(wave, late)[inner].mean() < 0.7 * np.sqrt(squares)[inner].mean()
    assert errors.dtw(wave, wave).max() == 0.0


def test_made_up_anomalies_are_where_they_are_said_to_be(wave: np.ndarray) -> None:
    made = list(trials.make(wave, 900, [3, 4]))
    assert {one.kind for one in made} == set(trials.KINDS)
    for one in made:
        changed = np.flatnonzero(one.values != wave)
        assert changed.min() >= one.truth[0] >= 900
        assert changed.max() <= one.truth[1] < STEPS
    again = list(trials.make(wave, 900, [3, 4]))
    np.testing.assert_array_equal(again[-1].values, made[-1].values)


def test_what_changes_nothing_is_no_made_up_anomaly() -> None:
    """A series that never moved cannot freeze, and what it does elsewhere is the same."""
    kinds = {one.kind for one in trials.make(np.ones(STEPS), 900, [3, 4])}
    assert kinds == {"spike", "shift", "ramp", "noise"}


def test_the_windows_since_a_step_are_those_of_the_whole(test: View) -> None:
    late = test.since(903)
    kept = test.starts >= 903
    np.testing.assert_array_equal(late.rebuilt, test.rebuilt[kept])
    first = test.starts[kept][0]
    np.testing.assert_array_equal(late.starts + first, test.starts[kept])
    np.testing.assert_array_equal(late.values, test.values[first:])
