"""High-bandwidth memory: correctable errors under load, remapped rows, spare rows that run out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from simulator.arrays import Floats

IDLE_SHARE = 0.02
"""Scrubbing finds some errors in memory that no kernel touches."""
HOT_CELSIUS = 60.0
DOUBLING_KELVIN = 12.0
HEALTHY_REMAPS_PER_SECOND = 1e-9
ROWS_PER_EXHAUSTED_BANK = 3.0
ROWS_BEFORE_EXHAUSTION = 5.0


def correctable_expected(
    per_second: Floats, busy: Floats, celsius: Floats, step_seconds: float
) -> Floats:
    """Return expected correctable errors per step: with traffic, and doubling with heat."""
    heat = 2.0 ** (np.clip(celsius - HOT_CELSIUS, -30.0, 40.0) / DOUBLING_KELVIN)
    return np.asarray(per_second * (IDLE_SHARE + busy) * heat * step_seconds)


def exhausted_banks(remapped_rows: Floats) -> Floats:
    """Return banks without a spare row: remaps cluster, so a few rows empty a bank."""
    beyond = np.maximum(0.0, remapped_rows - ROWS_BEFORE_EXHAUSTION)
    return np.floor(beyond / ROWS_PER_EXHAUSTED_BANK)
