"""The coolant loop of a rack, the coolant's rise through a node, and the node's fans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from simulator.arrays import Floats

KILOJOULES_PER_LITER_KELVIN = 3.978
"""25 % propylene glycol: 1.02 kg/L times 3.9 kJ/(kg K)."""
LIQUID_SHARE = 0.86
"""Share of the node's heat that leaves with the coolant; fans carry the rest."""
RISE_SECONDS = 75.0
LOOP_SECONDS = 420.0
LOOP_KELVIN_PER_KILOWATT = 0.28
"""How far the supply climbs above its set point per kilowatt and node: the CDU's approach."""
FAN_IDLE_RPM = 6_300.0
FAN_RPM_PER_KILOWATT = 480.0
FAN_RPM_PER_KELVIN = 90.0
FAN_WATTS_AT_FULL = 180.0
FAN_FULL_RPM = 13_500.0
FAN_CRITICAL_RPM = 2_204.0
"""A fan slower than this is critical (the threshold of recorded trays)."""
BOARD_KELVIN = 18.0
BOARD_KELVIN_PER_KILOWATT = 27.0
"""Regulators and retimers above the inlet air: by their own heat, and per kilowatt in the air
stream; recorded idle boards stand at 42 to 59 °C, their limits at 105."""
AIR_EXPONENT = -0.8
BOILING_CELSIUS = 106.0
"""No coolant gets hotter where it may boil off (25 % propylene glycol)."""
LEAK_CRITICAL_VOLTS = 1.617
"""A detector below this is critical (recorded: dry 1.72 to 1.74 V)."""


def rise_kelvin(heat_watts: Floats, flow_liters_per_minute: Floats) -> Floats:
    """Return the coolant's rise through a node in steady state (energy balance)."""
    per_kelvin = np.maximum(flow_liters_per_minute, 0.2) / 60.0 * KILOJOULES_PER_LITER_KELVIN
    return np.asarray(heat_watts / 1_000.0 * LIQUID_SHARE / per_kelvin)


def supply_celsius(set_point: Floats, node_heat_watts: Floats) -> Floats:
    """Return the loop's settled supply temperature; `node_heat_watts` is the rack's mean node."""
    return np.asarray(set_point + LOOP_KELVIN_PER_KILOWATT * node_heat_watts / 1_000.0)


def pressures_pascals(
    return_pascals: Floats, drop_pascals: Floats, flow_ratio: Floats
) -> tuple[Floats, Floats]:
    """Return (supply, return) pressure: the drop goes with the square of the flow.

    `drop_pascals` is lost at nominal flow.  Recorded loops: 234 and 116 kPa in
    a cabinet at light load, drops of 34 to 131 kPa over a rack.
    """
    back = np.maximum(0.0, return_pascals)
    return np.asarray(back + drop_pascals * flow_ratio**2), back


def board_celsius(inlet_celsius: Floats, air_heat_watts: Floats, airflow_ratio: Floats) -> Floats:
    """Return the hottest place of the boards, which the air alone cools."""
    moved = np.maximum(airflow_ratio, 0.1) ** AIR_EXPONENT
    air = BOARD_KELVIN_PER_KILOWATT * air_heat_watts / 1_000.0
    return np.asarray(inlet_celsius + (BOARD_KELVIN + air) * moved)


def fan_rpm(inlet_celsius: Floats, air_heat_watts: Floats) -> Floats:
    """Return the fan speed that the BMC's curve asks for."""
    wanted = (
        FAN_IDLE_RPM
        + FAN_RPM_PER_KILOWATT * air_heat_watts / 1_000.0
        + FAN_RPM_PER_KELVIN * np.maximum(0.0, inlet_celsius - 22.0)
    )
    return np.minimum(wanted, FAN_FULL_RPM)


def fan_watts(rpm: Floats) -> Floats:
    """Return fan power, which goes with the cube of speed."""
    return np.asarray(FAN_WATTS_AT_FULL * (rpm / FAN_FULL_RPM) ** 3)
