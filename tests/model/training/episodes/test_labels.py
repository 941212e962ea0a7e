"""Each moment is labelled by what became of it, as far as that is known."""

from __future__ import annotations

import numpy as np
import pytest

from model.training.episodes.labels import fate, within

HOURS = np.array([0.0, 48.0, 71.0, 71.5, 73.0])


def test_the_struck_gpu_meets_its_failure_in_the_interval_it_falls_in() -> None:
    exposure, event = fate(HOURS, 72.0, 80.0, struck=True)
    assert list(event) == [3, 2, 0, 0, 0]
    np.testing.assert_array_equal(exposure[0], [1, 1, 1, 0])
    np.testing.assert_array_equal(exposure[1], [1, 1, 0, 0])
    np.testing.assert_array_equal(exposure[2], [0, 0, 0, 0])


def test_a_failure_beyond_the_last_horizon_is_survived_whole() -> None:
    exposure, event = fate(np.array([0.0]), 100.0, 200.0, struck=True)
    assert event[0] == -1
    np.testing.assert_array_equal(exposure[0], [1, 1, 1, 1])


def test_siblings_did_not_cause_the_failure_of_their_node() -> None:
    exposure, event = fate(np.array([60.0, 71.9, 72.5]), 72.0, 80.0, struck=False)
    assert list(event) == [-1, -1, -1]
    np.testing.assert_allclose(exposure, [[1, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 0]])


def test_a_quiet_node_is_watched_until_its_record_ends() -> None:
    exposure, event = fate(np.array([0.0, 7.5]), None, 8.0, struck=False)
    assert list(event) == [-1, -1]
    np.testing.assert_allclose(exposure, [[1, 1, 2 / 18, 0], [0.5, 0, 0, 0]])


def test_a_failure_behind_the_end_of_the_record_is_known_as_well() -> None:
    _, event = fate(np.array([0.0]), 30.0, 10.0, struck=True)
    assert event[0] == 3


@pytest.mark.parametrize(
    ("hour", "failure", "end", "failed", "known"),
    [
        (0.0, 5.0, 10.0, [0, 1, 1, 1], [1, 1, 1, 1]),
        (0.0, None, 10.0, [0, 0, 0, 0], [1, 1, 0, 0]),
        (8.0, None, 10.0, [0, 0, 0, 0], [1, 0, 0, 0]),
    ],
    ids=["fails", "quiet", "near the end"],
)
def test_the_truth_of_a_probability(
    hour: float, failure: float | None, end: float, failed: list[int], known: list[int]
) -> None:
    truth, certain = within(np.array([hour]), failure, end)
    np.testing.assert_array_equal(truth[0], np.array(failed, bool))
    np.testing.assert_array_equal(certain[0], np.array(known, bool))
