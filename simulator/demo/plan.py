"""What one trial is: how many nodes, what happens to which, how fast time runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.faults import EVERY
from simulator.scenario import HEALTHY

if TYPE_CHECKING:
    from pathlib import Path

SCALE_LIMIT = 60.0
"""Above it Prometheus would have to scrape more often than the deadline floor allows."""
NAMESPACE = "training"
OWN_NAMESPACE = "forewarn"
JOB = "pretrain"
OBSERVE, MIGRATE = "observe", "migrate"
MODES = (OBSERVE, MIGRATE)
RACK = "rack-00"


@dataclass(frozen=True, slots=True)
class Plan:
    """One trial.

    `onset_seconds` and `duration_seconds` are simulated time after the start;
    `scale` divides every duration.  One node more than the job needs stays
    free, so that the work has somewhere to go.  `mode` is remediation's.
    """

    folder: Path
    scenario: str = "thermal-interface"
    nodes: int = 4
    scale: float = 60.0
    onset_seconds: float = 2_400.0
    duration_seconds: float = 5_400.0
    severity: float = 0.9
    seed: int = 7
    real_cluster: bool = False
    mode: str = MIGRATE

    def __post_init__(self) -> None:
        if self.nodes < 2:
            raise ValueError(f"nodes {self.nodes}: expected at least 2, one of them free")
        if not 1 <= self.scale <= SCALE_LIMIT:
            raise ValueError(f"scale {self.scale:g}: expected 1 to {SCALE_LIMIT:g}")
        if self.scenario not in EVERY:
            raise ValueError(f"scenario {self.scenario!r}: expected one of {', '.join(EVERY)}")
        if self.mode not in MODES:
            raise ValueError(f"mode {self.mode!r}: expected one of {', '.join(MODES)}")

    @property
    def names(self) -> tuple[str, ...]:
        """Node names, as the simulator gives them."""
        return tuple(f"gpu-{index:02d}" for index in range(self.nodes))

    @property
    def busy(self) -> int:
        """How many nodes the job takes."""
        return self.nodes - 1

    @property
    def observes(self) -> bool:
        """Whether remediation only says what it would do."""
        return self.mode == OBSERVE

    @property
    def fails(self) -> bool:
        """Whether the story ends in a failure; a look-alike must stay quiet instead."""
        return self.scenario != HEALTHY and not EVERY[self.scenario].lookalike

    @property
    def end_seconds(self) -> float:
        """Simulated time at which the failure comes, or the look-alike is over."""
        return self.onset_seconds + self.duration_seconds
