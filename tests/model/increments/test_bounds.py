"""What a counter cannot have gained in the time is not an increment."""

from __future__ import annotations

import numpy as np
import pytest

from model.increments import (
    BOARD_ENERGY,
    BOARD_WATTS,
    NODE_ENERGY,
    Bound,
    increments,
    most_per_step,
)

NAN = np.nan
LIMIT, STEP = 700.0, 60.0
FULL = LIMIT * STEP


def joules(
    *readings: float, limits: float | list[float] = LIMIT, age: float = np.inf
) -> list[float]:
    """Return the increments of a board's energy counter, the first reading ahead of the steps."""
    told = np.array(readings[1:], np.float64)[:, None]
    watts = np.broadcast_to(np.asarray(limits, np.float64), (len(told),))
    per_step, ahead = (most_per_step([BOARD_ENERGY], one) for one in (watts, watts[0]))
    assert per_step is not None
    assert ahead is not None
    bound = Bound(per_step, ahead, np.array([age]))
    return list(increments(told, np.array([readings[0]]), bound)[:, 0])


def test_a_billion_joules_in_a_minute_are_no_reading_and_neither_is_the_way_back() -> None:
    told = joules(1e9, 1e9 + FULL, 3e9, 1e9 + 3 * FULL, 1e9 + 4 * FULL, age=1.0)
    np.testing.assert_array_equal(told, [FULL, NAN, NAN, FULL])


def test_a_gap_is_given_as_much_as_fits_into_it() -> None:
    np.testing.assert_array_equal(
        joules(0, FULL, NAN, NAN, NAN, NAN, 6 * FULL, age=1.0), [FULL, NAN, NAN, NAN, NAN, 5 * FULL]
    )
    assert np.isnan(joules(0, FULL, NAN, NAN, NAN, NAN, 12 * FULL, age=1.0)[-1])


def test_a_late_page_is_believed() -> None:
    np.testing.assert_array_equal(joules(0, 0, 0, 3 * FULL, age=1.0), [0, 0, 3 * FULL])


def test_the_limit_before_a_gap_counts_as_well_as_the_one_after() -> None:
    limits = [700.0, NAN, NAN, NAN, NAN, NAN, NAN, 350.0]
    told = joules(0, 0, *[NAN] * 6, 7 * FULL, limits=limits, age=1.0)
    assert told[-1] == 7 * FULL


@pytest.mark.parametrize(("joule", "believed"), [(BOARD_WATTS * STEP, True), (1e9, False)])
def test_without_a_limit_it_is_the_most_that_a_board_may_show(joule: float, believed: bool) -> None:
    assert np.isnan(joules(0, joule, limits=NAN, age=1.0)[0]) != believed


def test_ahead_of_what_is_remembered_everything_is_possible() -> None:
    assert joules(0, 1e12) == [1e12]


def test_a_counter_that_does_not_count_joules_has_no_bound() -> None:
    limits = np.full((2, 3), LIMIT)
    assert most_per_step(["gpu_memory_correctable_errors_total"], limits) is None
    most = most_per_step(["gpu_pcie_replays_total", BOARD_ENERGY, NODE_ENERGY], limits)
    assert most is not None
    assert most.shape == (2, 3, 3)
    assert np.isinf(most[..., 0]).all()
    assert (most[..., 1] == FULL).all()
    assert (most[..., 2] > 8 * FULL).all()
