"""Whose turn it is among what is not read each cycle, so that a cycle stays small."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")

HOST_EVERY = 3
"""The host's power state has each third turn: with the host off most readings mean nothing."""


class Rota(Generic[T]):
    """Hands out turns one after the other; `None` is the turn of the host's power state."""

    def __init__(self, requests_per_cycle: int, slow_cycles: int) -> None:
        self._requests_per_cycle = requests_per_cycle
        self._slow_cycles = slow_cycles
        self._position = 0

    def turns(self, prompt: int, slow: Sequence[T], *, host: bool) -> tuple[T | None, ...]:
        """Return who is read in this cycle beside `prompt` resources; `host`: there is one."""
        order = _order(slow, host=host)
        count = self._count(prompt, len(order))
        start = self._position % len(order) if order else 0
        self._position = start + count
        return tuple(dict.fromkeys((order + order)[start : start + count]))

    def cycles(self, prompt: int, slow: Sequence[T], *, host: bool) -> int:
        """Return how many cycles pass until everybody had a turn."""
        length = len(_order(slow, host=host))
        return math.ceil(length / self._count(prompt, length)) if length else 0

    def _count(self, prompt: int, length: int) -> int:
        """Return the turns of a cycle: what the budget leaves, at least one, all within time."""
        spare = self._requests_per_cycle - prompt
        return min(length, max(1, spare, math.ceil(length / self._slow_cycles)))


def _order(slow: Sequence[T], *, host: bool) -> list[T | None]:
    if not host:
        return list(slow)
    order: list[T | None] = []
    rest = list(slow)
    step = HOST_EVERY - 1
    for start in range(0, max(1, len(rest)), step):
        order += [None, *rest[start : start + step]]
    return order
