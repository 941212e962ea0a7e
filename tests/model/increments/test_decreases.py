"""A restart is told from a decrease that is none."""

from __future__ import annotations

import numpy as np
import pytest

from model.increments import increments

NAN = np.nan


@pytest.mark.parametrize(
    ("readings", "expected"),
    [
        ((46_906.0, 46_948.0, 46_990.0, 46_987.0, 47_029.0), [NAN, 42.0, 42.0, NAN, 42.0]),
        ((47_029.0, 0.0, 41.0, 83.0), [NAN, 0.0, 41.0, 42.0]),
        ((9_912_001_223.0, 44.0, 50.0), [NAN, 44.0, 6.0]),
        ((100.0, 50.0, 49.0), [NAN, NAN, NAN]),
        ((100.0, 49.0), [NAN, 49.0]),
        ((0.0, 0.0, 0.0), [NAN, 0.0, 0.0]),
    ],
    ids=["another copy", "restart", "reboot of a long-lived node", "half and more", "less", "rest"],
)
def test_only_a_fall_below_half_is_a_restart(
    readings: tuple[float, ...], expected: list[float]
) -> None:
    np.testing.assert_array_equal(increments(np.array(readings)), expected)


def test_one_gpu_may_restart_beside_another_that_goes_on() -> None:
    readings = np.array([[100.0, 7.0], [3.0, 9.0], [5.0, NAN], [6.0, 12.0]])
    expected = [[NAN, NAN], [3.0, 2.0], [2.0, NAN], [1.0, 3.0]]
    np.testing.assert_array_equal(increments(readings), expected)
