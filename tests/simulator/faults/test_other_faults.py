"""Power, link and device faults: each shows in its own channels."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.faults import STORIES
from simulator.faults.story import Pace
from simulator.history import NodeHistory, Recording, record_all
from tests.simulator.histories import HOUR, at, channel, fault

GPU = 2
KINDS = (
    "psu-ageing", "lost-feed", "vrm-sag", "nvlink-decay", "pcie-retrain", "gsp-hang",
    "off-bus-warned", "lemon",
)  # fmt: skip
Histories = dict[str, NodeHistory]


@pytest.fixture(scope="module")
def histories() -> Histories:
    wanted = [Recording(fault(kind, severity=0.9), "n1", 5) for kind in KINDS]
    return {one.scenario: one for one in record_all(wanted, steps=360)}


def node(history: NodeHistory, name: str, hours: float) -> float:
    first = round(hours * 60)
    return float(np.nanmedian(channel(history, name)[0, first : first + 20]))


def grown(history: NodeHistory, name: str, start: int, end: int) -> np.ndarray:
    """[gpu]: how far a counter came between two steps."""
    counter = channel(history, name)
    return np.asarray(counter[:, end] - counter[:, start])


def test_ageing_supplies_lose_efficiency_heat_sag_and_fail_in_turn(histories: Histories) -> None:
    history = histories["psu-ageing"]
    efficiency = "node_power_supply_efficiency_ratio"
    assert node(history, efficiency, 4.0) < node(history, efficiency, 0.5) - 0.04
    heat = "node_power_supply_temperature_celsius"
    assert node(history, heat, 4.5) > node(history, heat, 0.5) + 15
    assert node(history, "node_bus_voltage_volts", 4.5) < 53.8
    failed = channel(history, "node_power_supplies_failed")[0]
    assert [failed[30], failed[240], failed[290]] == [0, 1, 2]
    assert np.isnan(history.values[:, 302, history.channels.index("node_leak_detected")]).all()


def test_a_lost_feed_takes_half_of_the_inputs_at_once_and_the_rest_heats(
    histories: Histories,
) -> None:
    history = histories["lost-feed"]
    unfed = channel(history, "node_power_supplies_without_input")[0]
    assert [unfed[59], unfed[61], unfed[290]] == [0, 3, 3]
    heat = "node_power_supply_temperature_celsius"
    assert node(history, heat, 1.1) > node(history, heat, 0.6) + 5
    # The draw of the node stays: the survivors carry it.
    watts = channel(history, "node_power_watts")[0]
    assert watts[62] == pytest.approx(watts[58], rel=0.05)


def test_a_sagging_regulator_brakes_one_gpu_without_heat(histories: Histories) -> None:
    history = histories["vrm-sag"]
    braked = channel(history, "gpu_power_brake_active")
    assert np.nansum(braked[GPU]) > 20
    assert np.nansum(np.delete(braked, GPU, axis=0)) == 0
    late = channel(history, "gpu_power_watts")[:, 240:300]
    assert np.nanmax(late[GPU]) < np.nanmax(np.delete(late, GPU, axis=0)) - 60
    busy = channel(history, "gpu_utilization_ratio")[GPU, 240:300] > 0.9
    assert channel(history, "gpu_sm_clock_hertz")[GPU, 240:300][busy].min() < 1.8e9
    assert np.nansum(channel(history, "gpu_thermal_slowdown_active")) == 0


def test_a_decaying_nvlink_errs_by_decades_then_replays_then_recovers(
    histories: Histories,
) -> None:
    history = histories["nvlink-decay"]
    crc = "gpu_nvlink_crc_errors_total"
    early, late = grown(history, crc, 60, 160), grown(history, crc, 160, 299)
    assert late[GPU] > 20 * max(early[GPU], 1)
    assert np.delete(late, GPU).max() < 5
    replays = grown(history, "gpu_nvlink_replay_errors_total", 60, 299)[GPU]
    recoveries = grown(history, "gpu_nvlink_recovery_errors_total", 60, 299)[GPU]
    assert late[GPU] > replays > recoveries > 0
    assert at(history, "gpu_xid_code", 5.1 * HOUR)[GPU] == 74
    assert at(history, "gpu_recovery_action", 5.1 * HOUR)[GPU] == 1


def test_a_pcie_link_trains_down_in_steps_and_never_up(histories: Histories) -> None:
    history = histories["pcie-retrain"]
    busy = channel(history, "gpu_utilization_ratio")[GPU] > 0.5
    speed = channel(history, "gpu_pcie_link_width") * 2.0 ** channel(
        history, "gpu_pcie_link_generation"
    )
    steps = np.diff(speed[GPU, :300][busy[:300]])
    assert (steps <= 0).all()
    assert (steps < 0).sum() == 3
    assert grown(history, "gpu_pcie_replays_total", 60, 299)[GPU] > 50


def test_a_hanging_firmware_answers_late_then_claims_to_be_busy_at_idle_power(
    histories: Histories,
) -> None:
    history = histories["gsp-hang"]
    took = channel(history, "node_dcgm_scrape_seconds")[0]
    assert np.nanmax(took[200:290]) > 8 * np.nanmedian(took[:60])
    hung = slice(290, 300)
    claims = channel(history, "gpu_utilization_ratio")[GPU, hung]
    assert np.nanmin(claims) == 1.0
    assert np.nanmax(channel(history, "gpu_power_watts")[GPU, hung]) < 160
    assert at(history, "gpu_xid_code", 5.1 * HOUR)[GPU] == 119
    assert at(history, "gpu_recovery_action", 5.1 * HOUR)[GPU] == 2


def test_a_board_about_to_leave_the_bus_has_blank_rows_while_its_siblings_report(
    histories: Histories,
) -> None:
    history = histories["off-bus-warned"]
    power = channel(history, "gpu_power_watts")[:, 60:300]
    page = np.isfinite(np.delete(power, GPU, axis=0)).any(axis=0)
    blank = np.isnan(power[GPU]) & page
    assert 10 < blank.sum() < 120
    assert blank[120:].sum() > blank[:120].sum()


def test_a_lemon_breaks_and_returns_ever_sooner_and_is_lost_at_the_end() -> None:
    scenario = fault("lemon", severity=0.9, duration_seconds=48 * HOUR)
    history = next(record_all([Recording(scenario, "n1", 5)], steps=50 * 60))
    energy = channel(history, "gpu_energy_joules_total")[0]
    whole = np.flatnonzero(np.isfinite(energy))
    reboots = whole[1:][np.diff(energy[whole]) < 0]
    assert len(reboots) >= 5
    gaps = np.diff(reboots)
    assert gaps[-2:].mean() < 0.7 * gaps[:2].mean()
    codes = channel(history, "gpu_xid_code")[GPU, : 49 * 60]
    assert set(np.unique(codes[codes > 0])) <= {63, 94}
    assert at(history, "gpu_xid_code", 49.1 * HOUR)[GPU] == 79


def test_what_comes_without_measurable_warning_is_called_sudden() -> None:
    sudden = {kind for kind, story in STORIES.items() if story.pace is Pace.SUDDEN}
    assert sudden == {"hose-burst", "lost-feed", "gsp-hang", "off-bus-warned", "off-bus"}
