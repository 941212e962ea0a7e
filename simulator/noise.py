"""Random numbers with an address: (node key, stream, step, column) → the same number, always.

A sequential generator would make history depend on how it was chunked.  Hashed
addresses make a value that was served live equal to the one that is recorded
later, and one node's values independent of which nodes are simulated beside it.
The hash is SplitMix64 (Steele, Lea, Flood 2014).
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from simulator.arrays import Floats, Keys, Whole

GAMMA = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
COLUMNS = np.uint64(4096)
MASK_32 = np.uint64(0xFFFFFFFF)
NORMAL_FROM = 16.0
"""Expected count from which a Poisson draw is taken as a rounded normal one."""


def key(seed: int, *names: str) -> np.uint64:
    """Return the address space of one named thing under one seed."""
    text = "\x1f".join((str(seed), *names)).encode()
    return np.uint64(int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big"))


def _mix(state: Keys) -> Keys:
    state = (state ^ (state >> np.uint64(30))) * MIX_1
    state = (state ^ (state >> np.uint64(27))) * MIX_2
    return state ^ (state >> np.uint64(31))


class Noise:
    """The numbers of some nodes, one key each."""

    def __init__(self, keys: list[np.uint64]) -> None:
        self.keys: Keys = np.array(keys, dtype=np.uint64)

    def one(self, lane: int) -> Noise:
        """Return the numbers of a single node."""
        return Noise([self.keys[lane]])

    def bits(self, stream: str, steps: Whole, width: int) -> Keys:
        """Return 64 random bits per address as [step, node, width]."""
        base = _mix(self.keys ^ key(0, stream))
        columns: Keys = np.arange(width).astype(np.uint64)
        address: Keys = steps.astype(np.uint64)[:, None] * COLUMNS + columns
        return _mix(base[None, :, None] + address[:, None, :] * GAMMA)

    def uniform(self, stream: str, steps: Whole, width: int) -> Floats:
        """Return numbers in [0, 1) as [step, node, width]."""
        bits = self.bits(stream, steps, width) >> np.uint64(11)
        return np.asarray(bits.astype(np.float64) * 2.0**-53)

    def normal(self, stream: str, steps: Whole, width: int) -> Floats:
        """Return standard normal numbers as [step, node, width] (Box-Muller)."""
        bits = self.bits(stream, steps, width)
        radius = np.sqrt(-2.0 * np.log(((bits >> np.uint64(32)) + np.float64(1.0)) * 2.0**-32))
        return np.asarray(radius * np.cos((bits & MASK_32) * (2.0 * np.pi * 2.0**-32)))

    def drift(self, stream: str, times: Floats, period_seconds: float, width: int) -> Floats:
        """Return slowly wandering numbers of unit scale as [step, node, width].

        Normal numbers on a lattice of `period_seconds`, joined by straight
        lines: smooth, and addressable at any time without a past.
        """
        cell = np.floor(times / period_seconds)
        share = (times / period_seconds - cell)[:, None, None]
        left = cell.astype(np.int64)
        first, inverse = np.unique(np.concatenate((left, left + 1)), return_inverse=True)
        lattice = self.normal(stream, first, width)
        before, after = lattice[inverse[: left.size]], lattice[inverse[left.size :]]
        return np.asarray(before * (1.0 - share) + after * share)

    def poisson(self, stream: str, steps: Whole, expected: Floats) -> Floats:
        """Return Poisson counts for `expected` [step, node, width], same shape."""
        uniform = self.uniform(stream, steps, expected.shape[-1])
        counts = np.zeros_like(expected)
        few = (expected < NORMAL_FROM) & (uniform > np.exp(-np.minimum(expected, 700.0)))
        counts[few] = _quantile(uniform[few], expected[few])
        many = expected >= NORMAL_FROM
        if many.any():
            spread = self.normal(stream + " spread", steps, expected.shape[-1])[many]
            rate = expected[many]
            counts[many] = np.maximum(0.0, np.rint(rate + np.sqrt(rate) * spread))
        return counts


def _quantile(uniform: Floats, rate: Floats) -> Floats:
    """Return the Poisson count at each probability, by walking the distribution up."""
    count = np.zeros_like(rate)
    weight = np.exp(-rate)
    total = weight.copy()
    for step in range(1, int(NORMAL_FROM * 5)):
        above = uniform > total
        if not above.any():
            break
        count[above] += 1
        weight = weight * rate / step
        total = total + weight
    return count
