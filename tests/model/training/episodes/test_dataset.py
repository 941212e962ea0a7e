"""Histories become what the exporter would have fed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from model.schema import BY_NAME, Cause, Level
from model.training.episodes.dataset import REQUIRED, UNLISTED_IN_STOCK, episode, masked, readings
from model.training.fitting.rows import DENSE_STEPS, SPARSE_STEPS, field_weights, moments
from model.training.network.hazard import SHARES
from simulator.history import record
from simulator.instruments.shown import SHOWN
from simulator.scenario import Scenario

NAMES = list(SHOWN)
ENERGY, XID = NAMES.index("gpu_energy_joules_total"), NAMES.index("gpu_xid_code")


@pytest.fixture(scope="module")
def short() -> object:
    story = Scenario("thermal-interface", onset_seconds=3_600, duration_seconds=3_600, gpu=1)
    return episode(record(story, node="n", seed=5, steps=150, gpus=2))


def test_counters_become_increments_and_gauges_stay() -> None:
    values = np.full((1, 3, len(NAMES)), np.nan)
    values[0, :, ENERGY] = [5e10, 5e10 + 7.0, 5e10 + 9.0]
    values[0, :, 0] = [50.0, 51.0, 52.0]
    got = readings(values, NAMES)
    np.testing.assert_array_equal(got[0, :, ENERGY], [np.nan, 7.0, 2.0])
    np.testing.assert_array_equal(got[0, :, 0], [50.0, 51.0, 52.0])


def test_a_lost_gpu_is_a_row_of_nan_without_its_latched_code() -> None:
    values = np.full((1, 2, len(NAMES)), np.nan)
    values[0, 0, 0] = 50.0
    values[0, :, XID] = 79.0
    got = readings(values, NAMES)
    assert got[0, 0, XID] == 79.0
    assert np.isnan(got[0, 1, XID])


def test_windows_end_at_their_step_and_are_empty_before_time(short: object) -> None:
    windows = short.windows(np.array([0, 100]), 64)  # type: ignore[attr-defined]
    values = short.readings  # type: ignore[attr-defined]
    assert windows.shape == (2, 2, 64, len(NAMES))
    assert np.isnan(windows[0, :, :-1]).all()
    np.testing.assert_array_equal(windows[1], values[:, 37:101])


def test_the_label_is_the_simulated_failure(short: object) -> None:
    outcome = short.outcome  # type: ignore[attr-defined]
    assert (outcome.hours, outcome.gpu, outcome.cause) == (2.0, 1, Cause.THERMAL)


def test_a_stock_site_is_blind_in_what_its_list_lacks(short: object) -> None:
    seen = masked(short, "stock", np.random.default_rng(0)).readings  # type: ignore[arg-type]
    for name in UNLISTED_IN_STOCK:
        assert np.isnan(seen[:, :, NAMES.index(name)]).all()
    for name in REQUIRED:
        assert not np.isnan(seen[0, :, NAMES.index(name)]).all()


def test_quiet_time_is_looked_at_sparsely_and_a_story_densely() -> None:
    story = Scenario("memory-storm", onset_seconds=30 * 3_600.0, duration_seconds=5 * 3_600.0)
    steps = moments(episode(record(story, node="n", seed=5, steps=36 * 60, gpus=1)))
    strides = np.diff(steps)
    early = steps[1:] < (30 - 13) * 60
    assert set(strides[early]) == {SPARSE_STEPS}
    assert set(strides[steps[1:] > (30 - 11) * 60]) == {DENSE_STEPS}


def test_weights_bring_failures_down_to_the_field() -> None:
    weights = field_weights({Cause.MEMORY: 30, Cause.FACILITY: 30}, quiet_hours=168.0 * 10)
    assert 30 * weights.of(Cause.MEMORY) / (30 * weights.of(Cause.FACILITY)) == pytest.approx(
        SHARES[Cause.MEMORY] / SHARES[Cause.FACILITY]
    )
    weeks = 10 * weights.of(None)
    failures = 30 * weights.of(Cause.MEMORY) + 30 * weights.of(Cause.FACILITY)
    assert failures / weeks == pytest.approx(
        0.027 * (SHARES[Cause.MEMORY] + SHARES[Cause.FACILITY])
    )


def test_the_gpus_of_a_node_are_those_that_were_read_at_once() -> None:
    whole = episode(record(Scenario(), node="n", seed=5, steps=90, gpus=3))
    assert whole.gpus == 3
    exchanged = replace(whole, readings=whole.readings.copy())
    of_gpus = [BY_NAME[name].level is Level.GPU for name in whole.channels]
    exchanged.readings[np.ix_([1], range(45, 90), np.flatnonzero(of_gpus))] = np.nan
    exchanged.readings[np.ix_([2], range(45), np.flatnonzero(of_gpus))] = np.nan
    assert exchanged.gpus == 2, "one took the other's place, and the BMC spoke on for both"
