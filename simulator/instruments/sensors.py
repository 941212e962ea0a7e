"""What instruments do to the truth: noise, quantisation, and gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from simulator.arrays import Flags, Floats, Whole
    from simulator.noise import Noise

DCGM_GAPS_PER_SECOND = 3e-6
BMC_GAPS_PER_SECOND = 8e-6


def read(
    truth: Floats, noise: Noise, name: str, steps: Whole, *, sigma: Floats | float, quantum: float
) -> Floats:
    """Return `truth` [step, node, width] as a sensor shows it: in steps of `quantum`."""
    seen = truth + sigma * noise.normal("sensor " + name, steps, truth.shape[-1])
    # Dividing by a whole number gives 38.3 where multiplying by 0.1 gives 38.300000000000004.
    if quantum < 1.0:
        return np.asarray(np.round(seen / quantum) / round(1.0 / quantum))
    return np.asarray(np.round(seen / quantum) * quantum)


def answers(noise: Noise, name: str, steps: Whole, gaps_per_second: float, dt: float) -> Flags:
    """Return [step, node]: whether a source answered; it now and then does not."""
    return np.asarray(noise.uniform("gap " + name, steps, 1)[:, :, 0] >= gaps_per_second * dt)
