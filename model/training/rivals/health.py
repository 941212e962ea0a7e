"""What `dcgmi health` would have said, replayed: the watches of DCGM 4.6 with their limits.

A result is latched for the life of the process, as DCGM latches it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from model.training.rivals.rival import Rival, Seen, since_last_look, total
from model.training.rivals.rules import FATAL_XIDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from model.training.episodes.dataset import Episode
    from model.training.rivals.rival import Condition

WARN, FAIL = 1.0, 2.0
REPLAYS_PER_MINUTE_AND_LANE = 1.92
"""Of the fifth generation of PCIe; expected from the permitted bit error rate."""

CRC_PER_SECOND = 100
UNCORRECTABLE_REMAPS = 512
WARNING_XIDS = (
    31,
    32,
    38,
    39,
    42,
    43,
    54,
    56,
    57,
    58,
    60,
    61,
    62,
    63,
    67,
    73,
    78,
    93,
    94,
    121,
    137,
)
RESET, REBOOT, DRAIN_AND_RESET, DRAIN = 1, 2, 4, 3


def failing(seen: Seen) -> Condition:
    """Return [gpu, step]: a watch that reports failure."""
    code, action = seen("gpu_xid_code"), seen("gpu_recovery_action")
    return np.asarray(
        (seen("gpu_memory_uncorrectable_errors_total") > 0)
        | (seen("gpu_row_remap_failed") > 0)
        | (seen("gpu_nvlink_replay_errors_total") > 0)
        | (seen("gpu_nvlink_recovery_errors_total") > 0)
        | (seen("gpu_nvlink_crc_errors_total") >= CRC_PER_SECOND * 60)
        | np.isin(action, (RESET, REBOOT, DRAIN_AND_RESET))
        | np.isin(code, (*FATAL_XIDS, 64))
    )


def warning(seen: Seen) -> Condition:
    """Return [gpu, step]: a watch that reports a warning."""
    lanes = np.nan_to_num(seen("gpu_pcie_link_width"), nan=16.0)
    expected = np.ceil(REPLAYS_PER_MINUTE_AND_LANE * lanes)
    remaps = np.cumsum(np.nan_to_num(seen("gpu_remapped_rows_uncorrectable_total")), axis=1)
    return np.asarray(
        (total(seen("gpu_pcie_replays_total"), 1) > expected)
        | (seen("gpu_row_remap_pending") > 0)
        | (remaps >= UNCORRECTABLE_REMAPS)
        | (seen("gpu_thermal_violation_seconds_total") > 0)
        | (seen("gpu_power_violation_seconds_total") > 0)
        | (seen("gpu_nvlink_crc_errors_total") > 0)
        | (seen("gpu_recovery_action") == DRAIN)
        | np.isin(seen("gpu_xid_code"), WARNING_XIDS)
    )


def score(episode: Episode, steps: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return 0, `WARN` or `FAIL` for the worst GPU so far [moment]."""
    seen = Seen(episode)
    worst = np.maximum(WARN * warning(seen).any(0), FAIL * failing(seen).any(0))
    return since_last_look(np.maximum.accumulate(worst), steps)


HEALTH_FAILS = Rival("DCGM health: fail", FAIL, score)
HEALTH_WARNS = Rival("DCGM health: warn or fail", WARN, score)
