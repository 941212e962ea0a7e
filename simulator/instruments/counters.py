"""What accumulates and what stays: counters with restarts, and the latched XID."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulator.physics import board

if TYPE_CHECKING:
    from simulator.arrays import Flags, Floats
    from simulator.noise import Noise

LIFETIME = frozenset(
    {"gpu_remapped_rows_correctable_total", "gpu_remapped_rows_uncorrectable_total"}
)
"""Counters kept in the board; all others restart with the driver."""
UP_SECONDS = 40.0 * 86_400.0
PAST: dict[str, float] = {
    "gpu_energy_joules_total": 380.0,
    "gpu_power_violation_seconds_total": 0.04,
    "gpu_nvlink_crc_errors_total": 3e-7,
    "gpu_pcie_replays_total": 1e-7,
}
"""Mean growth per second before the simulation began."""


class Counters:
    """Running totals, each [node, gpu]."""

    def __init__(self, noise: Noise, gpus: int) -> None:
        up = UP_SECONDS * noise.uniform("driver up", board.ZERO, 1)[0]
        share = 0.8 + 0.4 * noise.uniform("driver past", board.ZERO, gpus)[0]
        self._zero = np.zeros_like(share)
        self._totals = {name: np.floor(rate * up * share) for name, rate in PAST.items()}

    def grow(self, growth: dict[str, Floats], reload: Flags) -> dict[str, Floats]:
        """Return the totals after each step as [step, node, gpu].

        `growth` holds increments of that shape; where `reload` [step, node] is
        set, the total counts from that step on.
        """
        out = {}
        for name, step_growth in growth.items():
            total = np.cumsum(step_growth, axis=0)
            before = self._totals.get(name, self._zero)
            if name in LIFETIME or not reload.any():
                total = total + before
            else:
                total = _restarted(total, step_growth, reload, before)
            self._totals[name] = total[-1].copy()
            out[name] = total
        return out


def _restarted(total: Floats, growth: Floats, reload: Flags, before: Floats) -> Floats:
    """Subtract what was counted ahead of the last restart; add the past where there is none."""
    ahead = np.where(reload[:, :, None], total - growth, -np.inf)
    last = np.maximum.accumulate(ahead, axis=0)
    return np.where(
        np.isfinite(last), total - np.where(np.isfinite(last), last, 0.0), total + before
    )


def latched(codes: Floats, cleared: Flags, before: Floats) -> Floats:
    """Return the last non-zero code at each step of [step, node, gpu].

    A clearing [step, node] forgets all earlier codes; `before` [node, gpu] is
    what was latched ahead of the first step.
    """
    steps = np.arange(codes.shape[0])[:, None, None]
    marks = np.where((codes > 0.0) | cleared[:, :, None], steps, -1)
    last = np.maximum.accumulate(marks, axis=0)
    held = np.take_along_axis(codes, np.maximum(last, 0), axis=0)
    return np.where(last >= 0, held, before)
