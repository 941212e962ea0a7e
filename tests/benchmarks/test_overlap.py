"""The published metric counts stretches, not steps."""

from __future__ import annotations

import numpy as np

from benchmarks.tadgan.intervals import merged, runs
from benchmarks.tadgan.overlap import Counts, count, total

TRUTH = [(10, 20), (50, 60)]


def test_any_touch_finds_a_stretch_once() -> None:
    assert count(TRUTH, [(20, 30), (15, 16)]) == Counts(found=1, false=0, missed=1)


def test_a_detection_that_touches_nothing_is_false() -> None:
    assert count(TRUTH, [(0, 9), (21, 49)]) == Counts(found=0, false=2, missed=2)


def test_one_long_detection_may_find_all() -> None:
    assert count(TRUTH, [(0, 100)]) == Counts(found=2, false=0, missed=0)


def test_the_f1_of_a_set_is_taken_from_sums() -> None:
    sums = total([Counts(1, 1, 0), Counts(0, 1, 2)])
    assert sums.f1 == 2 / (2 + 2 + 2)
    assert Counts(missed=3).f1 == 0.0


def test_stretches_of_a_mask_and_their_union() -> None:
    assert runs(np.array([True, False, True, True])) == [(0, 0), (2, 3)]
    assert merged([(5, 9), (0, 2), (3, 4), (20, 21)]) == [(0, 9), (20, 21)]


def test_what_touches_something_doubtful_is_not_called_false() -> None:
    found = [(0, 9), (21, 49)]
    assert count(TRUTH, found, doubtful=[(5, 5)]) == Counts(found=0, false=1, missed=2)
    assert count(TRUTH, [(15, 16)], doubtful=[(10, 20)]) == Counts(found=1, false=0, missed=1)
