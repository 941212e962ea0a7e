"""Counters become increments that neither invent nor lose counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.increments import increments

NAN = np.nan


def of(*readings: float, before: float | None = None) -> list[float]:
    known = None if before is None else np.array(before)
    return list(increments(np.array(readings, np.float64), known))


@pytest.mark.parametrize(
    ("readings", "before", "expected"),
    [
        ((5.0, 7.0, 7.0), None, [NAN, 2.0, 0.0]),
        ((5.0, 7.0), 4.0, [1.0, 2.0]),
        ((100.0, 3.0, 4.0), None, [NAN, 3.0, 1.0]),
        ((10.0, NAN, NAN, 16.0), None, [NAN, NAN, NAN, 6.0]),
        ((10.0, NAN, 4.0), None, [NAN, NAN, 4.0]),
        ((NAN, NAN), None, [NAN, NAN]),
        ((NAN, 6.0), 2.0, [NAN, 4.0]),
        ((6.0,), NAN, [NAN]),
    ],
    ids=["plain", "with a past", "restart", "over a gap", "restart in a gap", "never read",
         "gap then past", "unknown past"],
)  # fmt: skip
def test_hand_checked(
    readings: tuple[float, ...], before: float | None, expected: list[float]
) -> None:
    np.testing.assert_array_equal(of(*readings, before=before), expected)


def test_small_steps_survive_on_large_counters() -> None:
    """An energy counter reaches 5e10 joules, where float32 steps by 4,096."""
    np.testing.assert_array_equal(of(5e10, 5e10 + 7), [NAN, 7.0])


def test_single_precision_is_refused() -> None:
    with pytest.raises(TypeError, match="float64"):
        increments(np.zeros(3, np.float32))  # type: ignore[arg-type]


counts = st.lists(st.integers(0, 10**12), min_size=1, max_size=30)


@given(counts)
def test_a_counter_that_never_restarts_adds_up(steps: list[int]) -> None:
    readings = np.cumsum(steps).astype(np.float64)
    assert np.nansum(increments(readings)) == readings[-1] - readings[0]


@given(st.lists(st.one_of(st.integers(0, 10**9), st.none()), min_size=1, max_size=30))
def test_increments_are_never_negative(readings: list[int | None]) -> None:
    values = np.array([NAN if r is None else r for r in readings], np.float64)
    got = increments(values)
    assert not (got < 0).any()
    assert np.isnan(got[np.isnan(values)]).all()


@given(counts, st.integers(1, 29))
def test_cutting_a_series_changes_nothing(steps: list[int], cut: int) -> None:
    readings = np.array(steps, np.float64)
    whole = increments(readings)
    head, tail = readings[:cut], readings[cut:]
    joined = np.concatenate((increments(head), increments(tail, head[-1])))
    np.testing.assert_array_equal(joined, whole)
