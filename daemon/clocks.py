"""Clocks as values, so that every wait and every age can be tested without waiting."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Clock:
    """A wall clock for what people read, and a monotonic one for what is measured (seconds)."""

    wall: Callable[[], float]
    monotonic: Callable[[], float]


def system_clock() -> Clock:
    """Return the machine's own clocks: the only place that names them."""
    return Clock(wall=time.time, monotonic=time.monotonic)  # noqa: TID251 - the one source
