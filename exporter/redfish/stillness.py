"""Tells a host that stands still from sensors that do: nothing of what jitters moves any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

STILL_READS = 10
"""So many reads without a single change, of readings that used to change, are frozen."""
USUAL_RATIO = 0.5
"""Readings that changed less often than this are quiet by nature and prove nothing."""


class Stillness:
    """Watches all readings of a BMC together; one that stands still alone is normal."""

    def __init__(self) -> None:
        self._last: Hashable = None
        self._moved = 0
        self._reads = 0
        self._still = 0

    def frozen(self, readings: Hashable) -> bool:
        """Take this cycle's readings; return whether they are a copy of long ago."""
        if self._last is None:
            self._last = readings
            return False
        if readings == self._last:
            self._still += 1
        else:
            self._reads += self._still + 1
            self._moved += 1
            self._still = 0
            self._last = readings
        usual = self._reads >= STILL_READS and self._moved >= USUAL_RATIO * self._reads
        return usual and self._still >= STILL_READS
