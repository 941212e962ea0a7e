"""R39: two replicas, two exporters under one name, a true reset, and downsampled blocks."""

from __future__ import annotations

import numpy as np
import pytest

from model.history.timeline import LeftOut, timeline
from model.increments import increments
from tests.model.history.test_record import healthy, seen

KILO = 1_000.0


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ((46_906, 46_948, 46_990, 46_987, 47_029), (np.nan, 42, 42, np.nan, 42)),
        ((47_029, 0, 41, 83), (np.nan, 0, 41, 42)),
    ],
    ids=["another replica", "a true reset"],
)
def test_r39_a_small_fall_is_another_copy_and_a_large_one_a_reset(told, expected) -> None:
    got = increments(np.array(told, dtype=np.float64) * KILO)
    np.testing.assert_array_equal(got, np.array(expected) * KILO)


def test_r39_two_exporters_under_one_name_leave_the_whole_hour_out() -> None:
    mixed = healthy(180)
    mixed[60:120:2, 1] = 46_906 * KILO + np.arange(30) * 6 * KILO
    mixed[61:120:2, 1] = 42 * KILO * np.arange(1, 31)
    one = seen(180, {"A": mixed, "B": healthy(180)})
    energy = one.channel("gpu_energy_joules_total")
    assert np.flatnonzero(one.lost.mixed).tolist() == list(range(60, 120))
    assert timeline(one, []).left_out_hours == {LeftOut.MIXED: 1}
    assert np.isnan(energy[0, 60:120]).all()
    assert not np.isnan(energy[1]).any()
    assert not np.isnan(energy[0, :60]).any()


def test_r39_downsampled_days_are_left_out_and_raw_ones_are_kept() -> None:
    days = healthy(3 * 1_440)
    old = np.arange(2 * 1_440)
    days[old[old % 5 != 0]] = np.nan
    one = seen(3 * 1_440, {"A": days})
    assert one.lost.coarse.sum() == 2 * 1_440
    assert timeline(one, []).left_out_hours == {LeftOut.COARSE: 48}
    assert one.present[0].sum() == 1_440
    assert one.present[0, -1_440:].all()
