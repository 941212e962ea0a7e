"""What a reader of dcgm-exporter sees of it: how long an answer took, how often none came."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from simulator.arrays import Flags, Floats, Whole
    from simulator.noise import Noise
    from simulator.physics.board import Build
    from simulator.physics.stress import Stress

SPREAD = 0.25
DEADLINE_SECONDS = 8.0
"""After this a reader gives up: a page that takes longer is a read that failed."""
REFUSED_SECONDS = 0.003


class Watch:
    """Reads one page per step of some nodes, and counts what failed."""

    def __init__(self, noise: Noise, build: Build) -> None:
        self._noise = noise
        self._build = build
        self._failed = np.zeros(len(noise.keys))

    def read(
        self, steps: Whole, stress: Stress, answering: Flags
    ) -> tuple[Flags, dict[str, Floats]]:
        """Return which pages came in time, and the channels, each [step, node].

        `answering` [step, node] says where somebody listens at all.
        """
        jitter = self._noise.normal("scrape", steps, 1)[:, :, 0]
        took = self._build.scrape_seconds * np.exp(SPREAD * jitter) + stress.scrape_seconds
        came = answering & (took < DEADLINE_SECONDS)
        failed = self._failed + np.cumsum(~came, axis=0)
        self._failed = failed[-1].copy()
        seconds = np.where(answering, np.minimum(took, DEADLINE_SECONDS), REFUSED_SECONDS)
        return came, {
            "node_dcgm_scrape_seconds": seconds,
            "node_dcgm_failed_reads_total": failed,
        }
