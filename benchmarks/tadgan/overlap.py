"""The published metric: a true stretch that any detection touches is found, however briefly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.tadgan.series import Interval


@dataclass(frozen=True, slots=True)
class Counts:
    """True stretches found and missed, and detections that touch none."""

    found: int = 0
    false: int = 0
    missed: int = 0

    def __add__(self, other: Counts) -> Counts:
        """Return the sums: a set's F1 is taken from the sums over its series."""
        return Counts(
            self.found + other.found, self.false + other.false, self.missed + other.missed
        )

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 0 where nothing was found."""
        return 2 * self.found / max(1, 2 * self.found + self.false + self.missed)


def count(
    truth: Sequence[Interval], detected: Sequence[Interval], doubtful: Sequence[Interval] = ()
) -> Counts:
    """Count by overlapping segment; long detections cost nothing in it, which favours them.

    A detection that touches something `doubtful` is not called false.
    """
    found = sum(any(_touch(true, one) for one in detected) for true in truth)
    known = (*truth, *doubtful)
    false = sum(not any(_touch(one, other) for other in known) for one in detected)
    return Counts(found, false, len(truth) - found)


def total(counts: Iterable[Counts]) -> Counts:
    """Return the sum."""
    return sum(counts, Counts())


def _touch(one: Interval, other: Interval) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]
