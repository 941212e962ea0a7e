"""Readings of one node at chosen moments."""

from __future__ import annotations

from simulator.fleet import Fleet, NodeReading
from simulator.machine import Machine
from simulator.physics.workload import Workload
from simulator.scenario import Scenario
from tests.simulator.histories import HOUR

SEED = 5


def reading_at(seconds: float, scenario: Scenario | None = None, **changes: object) -> NodeReading:
    """What node n1 shows at a time in seconds."""
    told = scenario if scenario is not None else Scenario(workload=Workload.TRAINING)
    fleet = Fleet(
        [Machine("n1", "rack-0", SEED, told)],
        monotonic=lambda: 0.0,
        speed=1.0,
        prefill_seconds=seconds,
        step_seconds=60.0,
        **changes,  # type: ignore[arg-type]
    )
    return fleet.reading("n1")


def training_now() -> NodeReading:
    return reading_at(2 * HOUR)
