"""Healthy machines stay where recorded ones do, and their heat adds up."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.physics import cooling
from simulator.physics.workload import Workload
from tests.simulator.histories import at_work, channel

SEEDS = (1, 2, 3)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_idle_board_draws_about_70_watts_at_about_33_celsius(seed: int) -> None:
    history = at_work(Workload.IDLE, hours=2, seed=seed)
    assert np.nanmean(channel(history, "gpu_power_watts")) == pytest.approx(68, abs=5)
    core = channel(history, "gpu_temperature_celsius")
    assert np.nanmin(core) >= 28
    assert np.nanmax(core) <= 38


@pytest.mark.parametrize("seed", SEEDS)
def test_a_training_board_is_warm_and_unhindered(seed: int) -> None:
    history = at_work(Workload.TRAINING, seed=seed)
    busy = channel(history, "gpu_utilization_ratio") > 0.9
    power = channel(history, "gpu_power_watts")[busy]
    core = channel(history, "gpu_temperature_celsius")[busy]
    assert 450 < np.nanmedian(power) <= 700
    assert 52 <= np.nanmedian(core) <= 70
    assert np.nanmax(core) < 80
    assert np.nansum(channel(history, "gpu_thermal_slowdown_active")) == 0


def test_training_stalls_for_checkpoints_on_all_gpus_together() -> None:
    ratio = channel(at_work(Workload.TRAINING), "gpu_utilization_ratio")
    stalled = np.nan_to_num(ratio, nan=1.0) < 0.5
    assert 0.01 < stalled.mean() < 0.3
    assert (stalled.all(axis=0) | ~stalled.any(axis=0)).all()


def test_inference_follows_the_day() -> None:
    ratio = channel(at_work(Workload.INFERENCE, hours=48), "gpu_utilization_ratio")
    hourly = np.nanmean(ratio.reshape(8, 48, 60), axis=(0, 2))
    assert np.corrcoef(hourly[:24], hourly[24:])[0, 1] > 0.8
    assert hourly.max() > 2 * hourly.min()


def test_margin_is_the_distance_to_87_celsius() -> None:
    history = at_work(Workload.MIXED, hours=4)
    total = channel(history, "gpu_temperature_celsius") + channel(
        history, "gpu_temperature_margin_celsius"
    )
    assert np.nanmin(total) == np.nanmax(total) == 87


def test_energy_is_the_integral_of_power() -> None:
    history = at_work(Workload.TRAINING, hours=6)
    energy = channel(history, "gpu_energy_joules_total")
    power = channel(history, "gpu_power_watts")
    grown = energy[:, -1] - energy[:, 0]
    np.testing.assert_allclose(grown, np.nansum(power[:, 1:], axis=1) * 60, rtol=0.01)


def test_the_coolant_carries_the_liquid_share_of_the_nodes_heat() -> None:
    history = at_work(Workload.IDLE, hours=6)

    def mean(name: str) -> float:
        return float(np.nanmean(channel(history, name)[:, 60:]))

    rise = mean("node_coolant_return_temperature_celsius") - mean(
        "node_coolant_supply_temperature_celsius"
    )
    carried = (
        mean("node_coolant_flow_liters_per_minute")
        / 60.0
        * cooling.KILOJOULES_PER_LITER_KELVIN
        * rise
        * 1_000.0
    )
    turned_to_heat = mean("node_power_watts") * mean("node_power_supply_efficiency_ratio")
    assert carried == pytest.approx(cooling.LIQUID_SHARE * turned_to_heat, rel=0.04)


def test_at_load_the_coolant_rises_about_ten_kelvin() -> None:
    history = at_work(Workload.TRAINING, hours=12)
    rise = channel(history, "node_coolant_return_temperature_celsius") - channel(
        history, "node_coolant_supply_temperature_celsius"
    )
    assert 6 < np.nanpercentile(rise, 90) < 13


def test_boards_downstream_run_warmer_than_those_at_the_front() -> None:
    """Averaged over builds, since paste and plates differ more than places do."""
    front, back = [], []
    for seed in range(12):
        core = np.nanmean(
            channel(at_work(Workload.TRAINING, hours=3, seed=seed), "gpu_temperature_celsius"),
            axis=1,
        )
        front += [core[0], core[4]]
        back += [core[3], core[7]]
    assert np.mean(back) - np.mean(front) > 2


def test_sources_have_gaps_and_only_a_few() -> None:
    history = at_work(Workload.TRAINING, hours=240)
    for name in ("gpu_power_watts", "node_power_watts"):
        missing = np.isnan(channel(history, name)).mean()
        assert 0 < missing < 0.002


def test_readings_are_quantised_as_the_sources_do() -> None:
    history = at_work(Workload.TRAINING, hours=4)
    for name, quantum in (
        ("gpu_temperature_celsius", 1.0),
        ("gpu_memory_temperature_celsius", 1.0),
        ("gpu_utilization_ratio", 0.01),
        ("node_coolant_flow_liters_per_minute", 0.05),
        ("node_fan_speed_rpm", 30.0),
    ):
        values = channel(history, name)
        values = values[np.isfinite(values)] / quantum
        np.testing.assert_allclose(values, np.round(values), atol=1e-6)
