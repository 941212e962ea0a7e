"""What every story says of itself and does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model.schema import Cause
    from simulator.physics.stress import Stress
    from simulator.scenario import Scenario

HOUR = 3_600.0


class Reach(StrEnum):
    """Whom one occurrence strikes."""

    GPU = "gpu"
    NODE = "node"
    RACK = "rack"


class Pace(StrEnum):
    """How a fault announces itself; of a sudden one nobody is promised days."""

    GRADUAL = "gradual"
    """It develops from its onset to its failure, for hours or days."""
    SUDDEN = "sudden"
    """Minutes of warning at most, or signs that are no measurements."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure that interrupts work: when (simulated seconds), which GPU (None: the node), why."""

    time_seconds: float
    gpu: int | None
    cause: str
    kind: str


class Story(ABC):
    """One kind of story; `cause` is None for what is no fault."""

    kind: str
    summary: str
    cause: Cause | None = None
    reach: Reach = Reach.GPU
    pace: Pace = Pace.GRADUAL
    duration_seconds: tuple[float, float]
    """Range from which a duration is drawn, evenly in its logarithm."""

    @property
    def lookalike(self) -> bool:
        """Whether this must stay quiet although something visibly happens."""
        return self.cause is None

    @abstractmethod
    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Write into `stress` what happens to node `lane` where nobody mends it."""

    def tell(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Write into `stress` what happens to node `lane`, until it is mended if it is."""
        mended = scenario.mended_seconds
        if mended is None:
            self.strike(scenario, stress, lane)
            return
        unmended = stress.calm_node()
        self.strike(scenario, unmended, 0)
        stress.adopt(unmended, lane, stress.times < mended)

    def failure(self, scenario: Scenario) -> Failure | None:
        """Return the failure that `scenario` leads to, or None: no fault, or mended before."""
        if self.cause is None or scenario.mended_ratio is not None:
            return None
        gpu = scenario.gpu if self.reach is Reach.GPU else None
        return Failure(scenario.end_seconds, gpu, str(self.cause), self.kind)
