"""NVLink and PCIe: rare errors that come with traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from simulator.arrays import Floats
    from simulator.physics.stress import Stress

PCIE_REPLAYS_PER_SECOND = 2e-7
NVLINK_CRC_PER_SECOND = 6e-7
NVLINK_REPLAYS_PER_SECOND = 1.2e-7
NVLINK_RECOVERIES_PER_SECOND = 2e-9
REPLAYED_RATIO = 0.2
"""Share of a decaying cable's CRC errors that cost a replay of the packet."""
RECOVERED_RATIO = 2e-3
"""Share of them that makes the link train anew."""


def expected(per_second: Floats | float, busy: Floats, step_seconds: float) -> Floats:
    """Return expected link errors per step; an idle link still carries keep-alives."""
    return np.asarray(per_second * (0.05 + busy) * step_seconds)


def expected_errors(stress: Stress, busy: Floats, step_seconds: float) -> dict[str, Floats]:
    """Return the expected growth of every link counter per step, [step, node, gpu] each."""
    decay = stress.nvlink_errors_per_second
    rates = {
        "gpu_pcie_replays_total": PCIE_REPLAYS_PER_SECOND + stress.pcie_replays_per_second,
        "gpu_nvlink_crc_errors_total": NVLINK_CRC_PER_SECOND + decay,
        "gpu_nvlink_replay_errors_total": NVLINK_REPLAYS_PER_SECOND + REPLAYED_RATIO * decay,
        "gpu_nvlink_recovery_errors_total": NVLINK_RECOVERIES_PER_SECOND + RECOVERED_RATIO * decay,
    }
    return {name: expected(rate, busy, step_seconds) for name, rate in rates.items()}
