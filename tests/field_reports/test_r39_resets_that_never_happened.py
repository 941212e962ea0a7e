"""R39: two replicas, two exporters under one name, a true reset, and downsampled blocks."""

from __future__ import annotations

import re

import numpy as np
import pytest
import yaml

from exporter.window import window
from model.history.timeline import LeftOut, timeline
from model.increments import BOARD_ENERGY, POWER_LIMIT, increments
from model.schema import CHANNELS, Kind
from tests.contracts.catalogues import RULES
from tests.contracts.promql import reads
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


def shown(kilojoules: tuple[float, ...], limit_watts: float) -> np.ndarray:
    """Return the increments [step] that a model is shown of a board's readings, in kJ."""
    grid = window.empty(["A"], len(kilojoules))
    for told in kilojoules:
        row = np.full((1, len(window.CHANNELS)), np.nan)
        row[0, window.CHANNELS.index(BOARD_ENERGY)] = told * KILO
        row[0, window.CHANNELS.index(POWER_LIMIT)] = limit_watts
        grid = grid.push(row, 0.0)
    return grid.matrix([BOARD_ENERGY])[0, :, 0] / KILO


@pytest.mark.parametrize("limit_watts", [700.0, np.nan], ids=["limit known", "limit unknown"])
@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ((46_906, 46_948, 46_990, 46_987, 47_029), (np.nan, 42, 42, np.nan, 42)),
        # The falls may be resets; the rises would be 780 kW.
        ((46_906, 42, 46_912, 84, 46_954), (np.nan, 42, np.nan, 84, np.nan)),
        ((47_029, 0, 41, 83), (np.nan, 0, 41, 42)),
        ((1e6, 2e6, 1e6 + 84, 1e6 + 126), (np.nan, np.nan, np.nan, 42)),
    ],
    ids=["another replica", "two exporters mixed", "a true reset", "a million in a minute"],
)
def test_r39_more_than_a_board_can_draw_is_missing_on_a_node(told, expected, limit_watts) -> None:
    np.testing.assert_array_equal(shown(told, limit_watts), np.array(expected, np.float32))


@pytest.mark.training
def test_r39_history_is_bounded_as_a_node_is() -> None:
    pytest.importorskip("torch", reason="needs the train extra")
    from model.training.episodes.dataset import readings

    told = np.array([1e9, 1e9 + 42 * KILO, 2e9, 1e9 + 126 * KILO, 1e9 + 168 * KILO])
    names = ("gpu_xid_code", "gpu_temperature_celsius", BOARD_ENERGY, POWER_LIMIT)
    values = np.full((1, len(told), len(names)), 60.0)
    values[0, :, 2], values[0, :, 3] = told, 700.0
    got = readings(values, names)[0, :, 2]
    np.testing.assert_array_equal(got, np.array([np.nan, 42, np.nan, np.nan, 42]) * KILO)


def test_r39_what_left_the_window_still_bounds_its_first_step() -> None:
    row = np.full((1, len(window.CHANNELS)), np.nan)
    grid = window.empty(["A"], 2)
    for told in (1e9, 2e9, np.nan):
        row[0, window.CHANNELS.index(BOARD_ENERGY)] = told
        grid = grid.push(row.copy(), 0.0)
    assert np.isnan(grid.matrix([BOARD_ENERGY])).all()
    # The last reading is two steps old: so much more may have been drawn.
    row[0, window.CHANNELS.index(BOARD_ENERGY)] = 2e9 + 84 * KILO
    assert grid.push(row, 0.0).matrix([BOARD_ENERGY])[0, -1, 0] == np.float32(84 * KILO)


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


def test_r39_no_rule_rates_a_counter_of_the_hardware() -> None:
    """PromQL takes each fall for a reset, so a switch of replica would be a rate of thousands."""
    lifetime = {channel.metric for channel in CHANNELS if channel.kind is Kind.COUNTER}
    rules = [
        rule["expr"]
        for path in RULES
        for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]
        for rule in group["rules"]
    ]
    rated = [expr for expr in rules if re.search(r"\b(i?rate|increase|i?delta)\(", expr)]
    assert rated
    assert not [expr for expr in rated if reads(expr).metrics & lifetime]
