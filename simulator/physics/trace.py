"""What really happened to the machines, before any sensor has looked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulator.arrays import Floats


@dataclass(frozen=True, slots=True)
class Trace:
    """The truth that sensors look at: [step, node, gpu]; `supply`, `rise`, `heat` [step, node]."""

    watts: Floats
    wanted: Floats
    granted: Floats
    core: Floats
    memory: Floats
    supply: Floats
    rise: Floats
    heat: Floats
