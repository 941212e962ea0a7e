"""Numbers on a command line, each within bounds that its flag names: types for `argparse`."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MANY = 1_000_000
"""More than anybody has of anything that is counted on a command line."""
LONGEST_DAYS = 3_650.0
LONGEST_SECONDS = 86_400.0 * LONGEST_DAYS
LARGEST_SEED = 2**32 - 1


def whole(low: int, high: int = MANY) -> Callable[[str], int]:
    """Return a type that takes whole numbers from `low` to `high`."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(
                f"{text!r}: expected a whole number from {low} to {high}"
            )
        return value

    return read


def real(low: float, high: float) -> Callable[[str], float]:
    """Return a type that takes finite numbers from `low` to `high`, both included."""
    return _within(low, high, "from", lambda value: low <= value <= high)


def above(low: float, high: float) -> Callable[[str], float]:
    """Return a type that takes finite numbers above `low`, up to `high`."""
    return _within(low, high, "above", lambda value: low < value <= high)


def _within(
    low: float, high: float, word: str, fits: Callable[[float], bool]
) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not fits(value):
            raise argparse.ArgumentTypeError(
                f"{text!r}: expected a number {word} {low:g} up to {high:g}"
            )
        return value

    return read


seed = whole(0, LARGEST_SEED)
days = above(0.0, LONGEST_DAYS)
port = whole(0, 65_535)
