"""Heat from the die through the thermal interface and cold plate into the coolant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from simulator.arrays import Floats

CORE_SECONDS = 25.0
MEMORY_SECONDS = 70.0
FILM_EXPONENT = -0.8
"""Turbulent convection: film resistance goes with flow to the power -0.8 (Dittus-Boelter)."""
MEMORY_WATTS = 95.0
FLOW_FLOOR = 0.02


def resistance(solid: Floats, film: Floats, interface_ratio: Floats, flow_ratio: Floats) -> Floats:
    """Return kelvin per watt from die to coolant.

    `interface_ratio` multiplies the solid path (1 = as built), `flow_ratio` is
    the flow over its nominal value.
    """
    moving = np.maximum(flow_ratio, FLOW_FLOOR) ** FILM_EXPONENT
    return np.asarray(solid * interface_ratio + film * moving)


def granted_watts(kelvin_per_watt: Floats, coolant: Floats, held: float, floor: Floats) -> Floats:
    """Return the power at which the core would settle at `held` celsius, at least `floor`."""
    return np.maximum(floor, (held - coolant) / kelvin_per_watt)


def approach(value: Floats, target: Floats, step_seconds: float, time_constant: float) -> Floats:
    """Move `value` towards `target` as a first-order lag does in one step of any length."""
    return np.asarray(value + (target - value) * -np.expm1(-step_seconds / time_constant))
