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


def wilson(part: int, whole: int, deviations: float = 1.96) -> tuple[float, float]:
    """Return the interval of a share (two-sided, 95 %); of a recall where each node fails once,

    nodes are the clusters and this is the node-clustered interval.  (0, 1) of nothing.
    """
    if not whole:
        return (0.0, 1.0)
    share, square = part / whole, deviations**2
    centre = (share + square / (2 * whole)) / (1 + square / whole)
    reach = math.sqrt(share * (1 - share) / whole + square / (4 * whole**2))
    reach *= deviations / (1 + square / whole)
    return (max(0.0, centre - reach), min(1.0, centre + reach))


def poisson_lower(count: int, confidence: float = CONFIDENCE) -> float:
    """Return the mean below which `count` or more would be seen too rarely (exact, one-sided)."""
    low, high = 0.0, float(count)
    for _ in range(80 if count else 0):
        middle = (low + high) / 2
        if 1.0 - _at_most(count - 1, middle) < 1 - confidence:
            low = middle
        else:
            high = middle
    return low
