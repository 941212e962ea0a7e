"""Rates with their uncertainty: what was counted, and what it may really be."""

from __future__ import annotations

import math

CONFIDENCE = 0.95


def poisson_upper(count: int, confidence: float = CONFIDENCE) -> float:
    """Return the mean above which `count` or fewer would be seen too rarely (exact, one-sided).

    For none seen this is 3.0, the rule of three.
    """
    low, high = float(count), count + 10.0 + 10.0 * math.sqrt(count + 1.0)
    for _ in range(80):
        middle = (low + high) / 2
        if _at_most(count, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def _at_most(count: int, mean: float) -> float:
    """Probability of `count` or fewer events at this mean."""
    logs = (k * math.log(mean) - math.lgamma(k + 1) for k in range(count + 1)) if mean else (0.0,)
    return math.fsum(math.exp(log - mean) for log in logs)
