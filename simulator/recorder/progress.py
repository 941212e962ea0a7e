"""How far a long command has come, for a person who waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

EVERY_SECONDS = 2.0


class Progress:
    """Counts what is done and says so now and then, always at the end, on one stream.

    On a terminal one line is written over; elsewhere each report is a line.
    """

    def __init__(
        self, what: str, total: int, stream: TextIO, monotonic: Callable[[], float]
    ) -> None:
        self._what, self._total = what, total
        self._stream, self._monotonic = stream, monotonic
        self._done = 0
        self._started = self._told = monotonic()

    def step(self) -> None:
        """Count one more."""
        self._done += 1
        now, last = self._monotonic(), self._done == self._total
        if not last and now - self._told < EVERY_SECONDS:
            return
        self._told = now
        took = now - self._started
        left = took / self._done * (self._total - self._done)
        text = f"{self._what}: {self._done} of {self._total}, {took:.0f} s, {left:.0f} s to go"
        over = self._stream.isatty()
        self._stream.write(f"\r{text:<70}" + ("\n" if last else "") if over else f"{text}\n")
        self._stream.flush()
