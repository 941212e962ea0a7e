"""The grid knows its gaps, and counters keep every digit."""

from __future__ import annotations

import numpy as np
import pytest

from exporter.readings import Place
from exporter.window import snapshot, window
from tests.factories.sources import ENERGY, TEMPERATURE, A, B, dcgm, gpus, up

T, E = window.CHANNELS.index(TEMPERATURE), window.CHANNELS.index(ENERGY)
XID, NODE_POWER = "gpu_xid_code", "node_power_watts"


def reading(**channels: float) -> np.ndarray:
    row = np.full((1, len(window.CHANNELS)), np.nan)
    for name, value in channels.items():
        row[0, window.CHANNELS.index(name)] = value
    return row


def test_a_lost_gpu_is_a_row_of_nan() -> None:
    latched = {Place(XID, B): 79.0, Place(NODE_POWER): 3_400.0}
    taken = snapshot.take(
        [up(dcgm({A: 61}, values=latched), 1_000.0)], 1_000.0, expected=gpus(A, B)
    )
    row = window.row(taken)
    assert np.isnan(row[1]).all()
    assert row[0, T] == 61
    assert row[0, window.CHANNELS.index(NODE_POWER)] == 3_400.0


def test_a_gap_is_nan_and_not_a_repeated_value() -> None:
    grid = window.empty([A], 4).push(reading(gpu_temperature_celsius=61), 60.0)
    grid = grid.push_gap(120.0).push(reading(gpu_temperature_celsius=63), 180.0)
    seen = grid.matrix([TEMPERATURE])[0, :, 0]
    np.testing.assert_array_equal(seen, np.array([np.nan, 61, np.nan, 63], np.float32))
    assert grid.fill_ratio(4) == 0.5


def test_increments_are_exact_where_float32_would_lose_them() -> None:
    grid = window.empty([A], 3)
    for count in (54_700_000_000.0, 54_700_000_001.0, 54_700_000_003.0):
        grid = grid.push(reading(gpu_memory_correctable_errors_total=count), 0.0)
    steps = grid.matrix(["gpu_memory_correctable_errors_total"])[0, :, 0]
    np.testing.assert_array_equal(steps, np.array([np.nan, 1, 2], np.float32))


def test_the_reading_ahead_of_the_window_still_counts_for_its_first_step() -> None:
    grid = window.empty([A], 2)
    for joules in (100.0, 140.0, 185.0):
        grid = grid.push(reading(gpu_energy_joules_total=joules), 0.0)
    np.testing.assert_array_equal(grid.matrix([ENERGY])[0, :, 0], np.array([40, 45], np.float32))


def test_a_counter_that_restarts_gives_its_new_reading() -> None:
    grid = window.empty([A], 2)
    for joules in (47_029.0, 41.0):
        grid = grid.push(reading(gpu_energy_joules_total=joules), 0.0)
    assert grid.matrix([ENERGY])[0, -1, 0] == 41


def test_rows_follow_their_gpu_and_new_ones_start_unknown() -> None:
    grid = window.empty([A], 2).push(reading(gpu_temperature_celsius=61), 0.0)
    moved = grid.with_gpus([B, A])
    assert np.isnan(moved.raw[:, 0]).all()
    assert moved.raw[-1, 1, T] == 61


@pytest.mark.parametrize("steps", [2, 6])
def test_another_length_keeps_the_newest_steps_and_the_counters(steps: int) -> None:
    grid = window.empty([A], 4)
    for joules in (10.0, 30.0, 60.0, 100.0):
        grid = grid.push(reading(gpu_energy_joules_total=joules), joules)
    matrix = grid.with_steps(steps).matrix([ENERGY])
    assert matrix.shape == (1, steps, 1)
    np.testing.assert_array_equal(matrix[0, -2:, 0], np.array([30, 40], np.float32))


def test_pushing_leaves_the_older_window_as_it_was() -> None:
    before = window.empty([A], 2)
    before.push(reading(gpu_temperature_celsius=61), 0.0)
    assert np.isnan(before.raw).all()
