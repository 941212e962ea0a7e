"""One story that happens to one node: what, from when, how fast, how bad."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulator.physics.workload import Workload

if TYPE_CHECKING:
    from simulator.arrays import Floats

HEALTHY = "healthy"


@dataclass(frozen=True, slots=True)
class Scenario:
    """A kind of story from the registry in `simulator.faults`, with its parameters.

    Times are seconds of simulated time.  A fault fails at `onset_seconds` +
    `duration_seconds`; a look-alike is over then.  `severity` in (0, 1] scales
    how far the damage has come at the end, `shape` the curve on the way there
    (1 = straight, larger = late).  `gpu` is the struck GPU where the story has one.
    `mended_ratio` is the share of a fault's way at which somebody mends it, or it
    mends itself: what it did ends there, and no failure follows (None: it fails).
    """

    kind: str = HEALTHY
    onset_seconds: float = 0.0
    duration_seconds: float = 0.0
    severity: float = 0.8
    shape: float = 1.6
    gpu: int = 0
    workload: Workload = Workload.TRAINING
    mended_ratio: float | None = None

    def __post_init__(self) -> None:
        if self.kind != HEALTHY and self.duration_seconds <= 0:
            raise ValueError(f"duration_seconds {self.duration_seconds}: expected more than 0")
        if not 0 < self.severity <= 1:
            raise ValueError(f"severity {self.severity}: expected more than 0 and at most 1")
        if self.shape <= 0:
            raise ValueError(f"shape {self.shape}: expected more than 0")
        if self.gpu < 0:
            raise ValueError(f"gpu {self.gpu}: expected 0 or more")
        if self.mended_ratio is not None and not 0 < self.mended_ratio < 1:
            raise ValueError(f"mended_ratio {self.mended_ratio}: expected between 0 and 1")

    @property
    def end_seconds(self) -> float:
        """When a fault fails, or a look-alike is over."""
        return self.onset_seconds + self.duration_seconds

    @property
    def mended_seconds(self) -> float | None:
        """When a fault is mended; None where it fails."""
        if self.mended_ratio is None:
            return None
        return self.onset_seconds + self.mended_ratio * self.duration_seconds

    def dice(self, name: str, count: int) -> Floats:
        """Return [count] numbers in [0, 1) that this very scenario always gives under `name`."""
        told = (self.kind, self.onset_seconds, self.duration_seconds, self.severity, self.gpu)
        digest = hashlib.blake2b(repr((*told, name)).encode(), digest_size=16).digest()
        rng = np.random.default_rng(int.from_bytes(digest, "big"))
        return np.asarray(rng.random(count))

    def progress(self, times: Floats) -> Floats:
        """Return the share of the way from onset to end, 0 before and 1 after."""
        if self.kind == HEALTHY:
            return np.zeros_like(times)
        return np.clip((times - self.onset_seconds) / self.duration_seconds, 0.0, 1.0)
