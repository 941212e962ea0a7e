"""Board and node power."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulator import board

if TYPE_CHECKING:
    from simulator.arrays import Floats

LEAKAGE_WATTS_PER_KELVIN = 0.25
LEAKAGE_FROM_CELSIUS = 35.0
HOST_IDLE_WATTS = 620.0
HOST_BUSY_WATTS = 720.0
CONVERSION_RATIO = 0.935
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


def drawn_watts(heat_watts: Floats, fan_watts: Floats) -> Floats:
    """Return the watts at the node's power inlet for what its parts turn into heat."""
    return np.asarray((heat_watts + fan_watts) / CONVERSION_RATIO)


def sm_clock_hertz(busy: Floats, watts: Floats, wanted_watts: Floats) -> Floats:
    """Return the clock: full speed unless power was withheld, low when nothing runs.

    Dynamic power goes with frequency times voltage squared, so withheld power
    costs less than proportional speed.
    """
    granted = np.clip(watts / np.maximum(wanted_watts, 1.0), 0.05, 1.0) ** CLOCK_EXPONENT
    return np.where(busy > 0.0, board.SM_CLOCK_HERTZ * granted, board.SM_IDLE_CLOCK_HERTZ)
