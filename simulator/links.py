"""NVLink and PCIe: rare errors that come with traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from simulator.arrays import Floats

PCIE_REPLAYS_PER_SECOND = 2e-7
NVLINK_CRC_PER_SECOND = 6e-7
NVLINK_REPLAYS_PER_SECOND = 1.2e-7
NVLINK_RECOVERIES_PER_SECOND = 2e-9


def expected(per_second: float, busy: Floats, step_seconds: float) -> Floats:
    """Return expected link errors per step; an idle link still carries keep-alives."""
    return np.asarray(per_second * (0.05 + busy) * step_seconds)
