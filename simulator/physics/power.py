"""Board and node power."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulator.physics import board

if TYPE_CHECKING:
    from simulator.arrays import Floats
    from simulator.physics.stress import Stress

LEAKAGE_WATTS_PER_KELVIN = 0.25
LEAKAGE_FROM_CELSIUS = 35.0
HOST_IDLE_WATTS = 950.0
"""Processors, switches, adapters; recorded nodes of eight H100s draw 1.95 to 2.16 kW at rest,
fans and eight idle boards included."""
HOST_BUSY_WATTS = 750.0
CONVERSION_RATIO = 0.935
"""Of the usual power supply under load: 80 PLUS Titanium gives 0.94 at half load and less above."""
LIGHT_LOSS_RATIO, LIGHT_LOAD_RATIO = 0.14, 0.05
"""What is lost on top at no load, and the share of the rating over which it fades: recorded
supplies give 0.90 to 0.92 at 11 to 12 % of their rating and less below."""
SUPPLY_RATED_WATTS = 3_300.0
SUPPLY_KELVIN = 8.0
SUPPLY_KELVIN_PER_WATT = 0.16
"""Hot spot above the inlet air: with no load, and per watt that one supply loses (recorded shelves
stand 25 K above their intake at 12 % load, PSUs of a DGX warn at 55 °C)."""
BUS_OHM = 5.5e-5
"""Of the bus bar and its connectors: 0.4 V at 7 kW and 54 V."""
CLOCK_EXPONENT = 0.45


def demand(cold_watts: Floats, floor_watts: Floats, celsius: Floats) -> Floats:
    """Return the watts a board asks for: leakage grows with the core temperature.

    `cold_watts` is what it asks for when cool; a dead board (`floor_watts` 0) leaks nothing.
    """
    warm = np.maximum(0.0, celsius - LEAKAGE_FROM_CELSIUS) * (floor_watts > 0.0)
    return np.asarray(cold_watts + LEAKAGE_WATTS_PER_KELVIN * warm)


def host_watts(busy: Floats) -> Floats:
    """Return [...] watts of a node without GPUs and fans; `busy` is [..., gpu]."""
    return np.asarray(HOST_IDLE_WATTS + HOST_BUSY_WATTS * busy.mean(axis=-1))


@dataclass(frozen=True, slots=True)
class Supplied:
    """The power supplies of nodes, each array [step, node]: what they draw, and the worst of them.

    `drawn_watts` at the inlet of all, `efficiency_ratio` of the worst, the
    `hottest_kelvin` of a supply above the inlet air, `bus_sag_volts` of the bus.
    """

    drawn_watts: Floats
    efficiency_ratio: Floats
    hottest_kelvin: Floats
    bus_sag_volts: Floats


def supplied(
    output_watts: Floats, conversion_ratio: Floats, stress: Stress, bus_volts: Floats
) -> Supplied:
    """Share `output_watts` [step, node] evenly over the supplies that are left.

    `conversion_ratio` and `bus_volts` are [node].  One supply loses
    `stress.supply_loss_ratio` more than the others, and heats up with its loss.
    """
    gone = stress.supplies_failed + stress.supplies_unfed
    left = np.maximum(1.0, board.POWER_SUPPLIES - gone)
    each = output_watts / left
    light = LIGHT_LOSS_RATIO * np.exp(-each / (SUPPLY_RATED_WATTS * LIGHT_LOAD_RATIO))
    usual = conversion_ratio - light
    worst = usual * (1.0 - stress.supply_loss_ratio)
    lost = each * (1.0 / worst - 1.0)
    sag = BUS_OHM * output_watts / bus_volts * (board.POWER_SUPPLIES / left)
    load = output_watts / board.FULL_LOAD_WATTS
    return Supplied(
        drawn_watts=(left - 1.0) * each / usual + each / worst,
        efficiency_ratio=worst,
        hottest_kelvin=SUPPLY_KELVIN + SUPPLY_KELVIN_PER_WATT * lost,
        bus_sag_volts=sag + stress.bus_droop_volts * load,
    )


def sm_clock_hertz(busy: Floats, watts: Floats, wanted_watts: Floats) -> Floats:
    """Return the clock: full speed unless power was withheld, low when nothing runs.

    Dynamic power goes with frequency times voltage squared, so withheld power
    costs less than proportional speed.
    """
    granted = np.clip(watts / np.maximum(wanted_watts, 1.0), 0.05, 1.0) ** CLOCK_EXPONENT
    return np.where(busy > 0.0, board.SM_CLOCK_HERTZ * granted, board.SM_IDLE_CLOCK_HERTZ)
