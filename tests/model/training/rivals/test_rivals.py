"""Rivals get what they would have in the field, and their best."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from model.training.episodes.dataset import Episode, episode
from model.training.judging.replay import looks
from model.training.rivals.calibrated import rivals
from model.training.rivals.detectors import Forest, Pca
from model.training.rivals.health import FAIL, WARN, score
from model.training.rivals.rival import held, since_last_look, total
from model.training.rivals.rules import FULL, SIMPLE, pack
from simulator.history import record
from simulator.instruments.shown import SHOWN
from simulator.scenario import Scenario

HOUR = 3_600.0


def recorded(kind: str = "healthy", seed: int = 1, hours: int = 8) -> Episode:
    story = Scenario() if kind == "healthy" else Scenario(
        kind, onset_seconds=2 * HOUR, duration_seconds=5 * HOUR, severity=0.9, gpu=1
    )  # fmt: skip
    return episode(record(story, node=f"{kind}-{seed}", seed=seed, steps=hours * 60, gpus=2))


@pytest.fixture(scope="module")
def healthy() -> Episode:
    return recorded()


def with_reading(whole: Episode, channel: str, steps: slice, value: float) -> Episode:
    readings = whole.readings.copy()
    readings[1, steps, SHOWN.index(channel)] = value
    return replace(whole, readings=readings)


def test_rolling_windows_count_what_is_seen() -> None:
    values = np.array([[1.0, np.nan, 2.0, 4.0]])
    np.testing.assert_array_equal(total(values, 2), [[1.0, 1.0, 2.0, 6.0]])
    np.testing.assert_array_equal(held(values > 0, 2), [[False, False, False, True]])
    np.testing.assert_array_equal(
        since_last_look(np.array([0.0, 5.0, 1.0, 2.0]), np.array([1, 3])), [5.0, 2.0]
    )


@pytest.mark.parametrize(
    ("channel", "steps", "value"),
    [
        ("gpu_temperature_celsius", slice(100, 110), 91.0),
        ("gpu_memory_uncorrectable_errors_total", slice(100, 101), 1.0),
        ("gpu_row_remap_failed", slice(100, 101), 1.0),
        ("gpu_xid_code", slice(100, 101), 79.0),
    ],
)
def test_each_rule_of_the_simple_pack_fires_on_its_sign_alone(
    healthy: Episode, channel: str, steps: slice, value: float
) -> None:
    at = looks(len(healthy.hours), 5)
    simple = pack("simple", SIMPLE)
    assert simple.score(healthy, at).max() == 0
    assert simple.score(with_reading(healthy, channel, steps, value), at).max() == 1


def test_a_missing_reading_fires_nothing_and_a_missing_gpu_does(healthy: Episode) -> None:
    at = looks(len(healthy.hours), 5)
    blind = replace(healthy, readings=np.full_like(healthy.readings, np.nan))
    assert pack("full", FULL).score(blind, at).max() == 0
    lost = healthy.readings.copy()
    lost[1, 200:] = np.nan
    fired = pack("full", FULL).score(replace(healthy, readings=lost), at)
    assert fired[at < 200].max() == 0
    assert fired[-1] == 1


def test_health_is_latched_and_warns_of_clock_violations(healthy: Episode) -> None:
    at = looks(len(healthy.hours), 5)
    name = "gpu_thermal_violation_seconds_total"
    calm = with_reading(healthy, "gpu_power_violation_seconds_total", slice(None), 0.0)
    warned = score(with_reading(calm, name, slice(100, 101), 2.0), at)
    assert warned[at < 100].max() < warned[-1] == WARN
    failed = score(with_reading(healthy, "gpu_row_remap_failed", slice(100, 101), 1.0), at)
    assert failed[-1] == FAIL


def test_detectors_find_what_stands_apart() -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(2_000, 6)) @ rng.normal(size=(6, 6))
    strange = np.full((1, 6), 9.0) * rows.std(0)
    for detector in (Pca.of(rows), Forest(rows, rng)):
        assert detector(strange)[0] > np.quantile(detector(rows), 0.995)


def test_all_rivals_are_fitted_and_made_probabilities() -> None:
    calm = [recorded(seed=seed, hours=60) for seed in (1, 2)]
    held_out = [*calm, recorded("memory-storm", seed=9, hours=8)]
    ready = rivals(iter(calm), iter(calm[:1]), iter(held_out), seed=1, horizons=4, field_rate=0.027)
    assert [one.name for one in ready] == [
        "always healthy", "static rules, simple", "static rules, full", "DCGM health: fail",
        "DCGM health: warn or fail", "PCA, T2 and Q", "isolation forest",
    ]  # fmt: skip
    storm = held_out[-1]
    for one in ready:
        scores = one.score(storm, storm.hours[looks(len(storm.hours), 5)])
        assert np.isfinite(scores).all()
        for level in one.levels:
            said = level(scores)
            assert ((said >= 0) & (said <= 1)).all()
