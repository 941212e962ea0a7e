"""An answer becomes the rows that the window would have been given at the time."""

from __future__ import annotations

import numpy as np
import pytest

from daemon.prometheus import Range, Series
from exporter.backfill import history
from exporter.readings import Gpu
from exporter.window.window import CHANNELS
from tests.factories.prometheus import gpu

TEMPERATURE, ENERGY = "forewarn_gpu_temperature_celsius", "forewarn_gpu_energy_joules_total"
NODE_POWER = {"__name__": "forewarn_node_power_watts"}
OVER = Range(1_000.0, 1_120.0, 60.0)
A, B = Gpu("A", "0"), Gpu("B", "1")
T, E, P = (
    CHANNELS.index(n.removeprefix("forewarn_")) for n in (TEMPERATURE, ENERGY, "node_power_watts")
)


def series(metric: dict[str, str], *values: tuple[float, str]) -> Series:
    return Series(metric, list(values))


def rows(*all_series: Series, expected=(A, B)) -> np.ndarray:
    return np.stack([moment.row(expected) for moment in history.moments(all_series, OVER)])


def test_a_value_stands_in_its_step_and_nowhere_else() -> None:
    out = rows(series(gpu(TEMPERATURE, "A"), (1_060.0, "61.5")))
    np.testing.assert_array_equal(out[:, 0, T], [np.nan, 61.5, np.nan])
    assert np.isnan(out[:, 1]).all()


def test_a_large_counter_keeps_every_digit() -> None:
    out = rows(series(gpu(ENERGY, "A"), (1_000.0, "50000000001"), (1_060.0, "50000000002")))
    assert out[1, 0, E] - out[0, 0, E] == 1.0


def test_a_gpu_that_left_a_page_that_answers_is_a_row_of_nan_node_channels_too() -> None:
    out = rows(
        series(gpu(TEMPERATURE, "A"), (1_000.0, "61"), (1_060.0, "61")),
        series(gpu(TEMPERATURE, "B", "1"), (1_000.0, "62")),
        series(NODE_POWER, (1_000.0, "5000"), (1_060.0, "5100")),
    )
    np.testing.assert_array_equal(out[:2, :, P], [[5_000, 5_000], [5_100, np.nan]])
    assert np.isnan(out[1, 1]).all()


def test_while_no_gpu_reports_the_node_is_all_that_is_known() -> None:
    out = rows(series(NODE_POWER, (1_000.0, "5000")))
    np.testing.assert_array_equal(out[0, :, P], [5_000, 5_000])


@pytest.mark.parametrize("text", ["NaN", "+Inf", "-40", "999", "warm", ""])
def test_an_impossible_value_is_missing_as_it_was_live(text: str) -> None:
    assert np.isnan(rows(series(gpu(TEMPERATURE, "A"), (1_000.0, text)))).all()


def test_two_series_of_one_gpu_are_one_reading() -> None:
    out = rows(
        series(gpu(TEMPERATURE, "A", "0"), (1_000.0, "61"), (1_060.0, "61")),
        series(gpu(TEMPERATURE, "A", "3"), (1_060.0, "63"), (1_120.0, "63")),
    )
    np.testing.assert_array_equal(out[:, 0, T], [61, 63, 63])


def test_a_gpu_of_which_only_its_errors_are_left_is_lost() -> None:
    out = rows(
        series(gpu(TEMPERATURE, "A"), (1_000.0, "61"), (1_060.0, "61")),
        series(gpu("forewarn_gpu_xid_code", "B"), (1_000.0, "79"), (1_060.0, "79")),
        series(gpu("forewarn_gpu_hardware_xid_events_total", "B"), (1_060.0, "1")),
    )
    np.testing.assert_array_equal(out[:2, 0, T], [61, 61])
    assert np.isnan(out[:, 1]).all()


def test_series_that_are_no_channel_of_a_gpu_are_left_out() -> None:
    out = rows(
        series({"__name__": "forewarn_gpu_anomaly_score", "uuid": "A"}, (1_000.0, "1")),
        series({"__name__": TEMPERATURE}, (1_000.0, "61")),
        series(gpu(TEMPERATURE, "A"), (400.0, "61"), (9_000.0, "61")),
    )
    assert np.isnan(out).all()


def test_gpus_come_in_the_order_of_their_indices() -> None:
    answer = [series(gpu(TEMPERATURE, f"u{n}", str(n)), (1_000.0, "50")) for n in (10, 2, 0)]
    first = history.moments(answer, OVER)[0]
    assert [one.index for one in first.present] == ["0", "2", "10"]


def test_the_query_names_every_channel_and_quotes_what_it_is_told() -> None:
    text = history.query('n"1', 0.6, {"cluster": "a\\b"})
    assert all(f"forewarn_{name}" in text for name in CHANNELS)
    assert r'node="n\"1",cluster="a\\b"}[600ms]' in text
