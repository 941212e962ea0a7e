"""Rows of a table of measurements, as every benchmark prints them."""

from __future__ import annotations

import statistics
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `bar` is what the design promises."""

    what: str
    measured: str
    bar: str

    def __str__(self) -> str:
        """Return it as Markdown."""
        return f"| {self.what} | {self.measured} | {self.bar} |"


def quantiles(milliseconds: list[float]) -> str:
    """Return the 50th and the 99th percentile in words."""
    cuts = statistics.quantiles(milliseconds, n=100, method="inclusive")
    return f"P50 {cuts[49]:.1f} ms, P99 {cuts[98]:.1f} ms"
