"""Cooling faults: each moves the quantities that its physics moves, and leaves the others."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.faults import STORIES
from simulator.faults.story import Pace
from simulator.history import NodeHistory, Recording, record_all
from tests.simulator.histories import HOUR, at, channel, fault, told

FLOW = "node_coolant_flow_liters_per_minute"
SUPPLY = "node_coolant_supply_temperature_celsius"
RETURN = "node_coolant_return_temperature_celsius"
INTO, BACK = "node_coolant_supply_pressure_pascals", "node_coolant_return_pressure_pascals"
KINDS = (
    "filter-clogging",
    "pump-wear",
    "air-ingress",
    "slow-leak",
    "stuck-valve",
    "hot-facility-water",
    "blocked-cold-plate",
    "fan-wear",
)


@pytest.fixture(scope="module")
def histories() -> dict[str, NodeHistory]:
    wanted = [Recording(fault(kind, severity=0.9), "n1", 5) for kind in KINDS]
    return {one.scenario: one for one in record_all(wanted, steps=360)}


def node(history: NodeHistory, name: str, hours: float) -> float:
    """Median over twenty minutes from a time in hours."""
    first = round(hours * 60)
    return float(np.nanmedian(channel(history, name)[0, first : first + 20]))


def test_a_clogging_filter_is_hidden_at_first_and_then_takes_flow_and_pressure(
    histories: dict[str, NodeHistory],
) -> None:
    history = histories["filter-clogging"]
    assert node(history, FLOW, 1.8) > 0.96 * node(history, FLOW, 0.5)
    assert node(history, FLOW, 4.5) < 0.5 * node(history, FLOW, 0.5)
    fell = node(history, INTO, 0.5) - node(history, INTO, 4.5)
    assert fell > 40_000
    assert abs(node(history, BACK, 4.5) - node(history, BACK, 0.5)) < 2_000
    assert abs(node(history, SUPPLY, 4.5) - node(history, SUPPLY, 0.5)) < 1.5


def test_the_drop_over_a_node_goes_with_the_square_of_its_flow(
    histories: dict[str, NodeHistory],
) -> None:
    history = histories["filter-clogging"]
    drops = [node(history, INTO, h) - node(history, BACK, h) for h in (0.5, 4.2)]
    flows = [node(history, FLOW, h) for h in (0.5, 4.2)]
    assert drops[1] / drops[0] == pytest.approx((flows[1] / flows[0]) ** 2, rel=0.05)


def test_a_worn_pump_hunts_is_changed_over_and_gives_out_again(
    histories: dict[str, NodeHistory],
) -> None:
    history = histories["pump-wear"]
    flow = channel(history, FLOW)[0]
    assert np.nanstd(flow[150:200]) > 3 * np.nanstd(flow[:60])
    over = round(60 + 0.6 * 240)
    assert flow[over] < 0.95 * flow[over - 2]
    assert np.nanmedian(flow[over + 4 : over + 16]) > 1.03 * np.nanmedian(flow[over - 16 : over])
    assert node(history, FLOW, 4.7) < 0.7 * node(history, FLOW, 0.5)


def test_air_makes_flow_noisy_long_before_it_is_missed(histories: dict[str, NodeHistory]) -> None:
    flow = channel(histories["air-ingress"], FLOW)[0]
    assert np.nanstd(np.diff(flow[120:180])) > 4 * np.nanstd(np.diff(flow[:60]))
    assert np.nanmedian(flow[120:180]) > 0.85 * np.nanmedian(flow[:60])


def test_a_slow_leak_lowers_pressure_in_a_saw_and_dampens_the_air_while_it_stays_cool(
    histories: dict[str, NodeHistory],
) -> None:
    history = histories["slow-leak"]
    back = channel(history, BACK)[0]
    assert node(history, BACK, 4.0) < node(history, BACK, 0.5) - 20_000
    assert (np.diff(back[60:290]) > 6_000).sum() > 5
    assert node(history, "node_humidity_ratio", 4.0) > node(history, "node_humidity_ratio", 0.5)
    assert abs(node(history, RETURN, 3.9) - node(history, RETURN, 0.5)) < 4
    wet = np.flatnonzero(channel(history, "node_leak_detected")[0] == 1)
    assert 4 * 60 < wet[0] < 5 * 60
    off = channel(history, "node_power_watts")[0, 301:]
    assert np.isnan(off).all()
    assert at(history, "node_leak_detected", 5.5 * HOUR)[0] == 1


def test_a_stuck_valve_warms_the_supply_of_the_rack_and_not_its_air(
    histories: dict[str, NodeHistory],
) -> None:
    history = histories["stuck-valve"]
    assert node(history, SUPPLY, 4.6) > node(history, SUPPLY, 0.5) + 10
    assert abs(node(history, FLOW, 4.6) / node(history, FLOW, 0.5) - 1) < 0.05
    inlet = "node_inlet_temperature_celsius"
    assert abs(node(history, inlet, 4.6) - node(history, inlet, 0.5)) < 1.5


def test_hot_water_of_the_building_warms_the_air_as_well(
    histories: dict[str, NodeHistory],
) -> None:
    history, inlet = histories["hot-facility-water"], "node_inlet_temperature_celsius"
    assert node(history, SUPPLY, 4.6) > node(history, SUPPLY, 0.5) + 10
    assert node(history, inlet, 4.6) > node(history, inlet, 0.5) + 2


def test_a_blocked_plate_heats_one_gpu_and_takes_a_little_of_the_nodes_flow(
    histories: dict[str, NodeHistory],
) -> None:
    history = histories["blocked-cold-plate"]
    core = channel(history, "gpu_temperature_celsius")
    late = np.nanmax(core[:, 240:300], axis=1)
    assert int(late.argmax()) == 2
    assert late[2] > np.delete(late, 2).max() + 8
    assert 0.85 < node(history, FLOW, 4.7) / node(history, FLOW, 0.5) < 0.97


def test_a_worn_fan_slows_while_boards_heat_and_gpus_do_not(
    histories: dict[str, NodeHistory],
) -> None:
    history = histories["fan-wear"]
    assert node(history, "node_fan_speed_rpm", 4.0) < 0.3 * node(history, "node_fan_speed_rpm", 0.5)
    assert at(history, "node_fans_failed", 0.5 * HOUR)[0] == 0
    assert at(history, "node_fans_failed", 4.9 * HOUR)[0] >= 2
    board = channel(history, "node_board_temperature_celsius")[0]
    assert np.nanmax(board[280:300]) > np.nanmax(board[:60]) + 20
    core = channel(history, "gpu_temperature_celsius")
    assert abs(np.nanmax(core[:, 240:300]) - np.nanmax(core[:, :60])) < 12


def test_a_burst_hose_is_sudden_and_floods_the_detector() -> None:
    assert STORIES["hose-burst"].pace is Pace.SUDDEN
    history = told(fault("hose-burst", duration_seconds=1_200.0), hours=2)
    into = channel(history, INTO)[0]
    assert into[79] < 0.6 * into[59]
    assert at(history, "node_leak_detected", HOUR + 900)[0] == 1
    assert np.isnan(channel(history, "gpu_power_watts")[:, 80:]).all()
