"""Recorded history of one node: what training, evaluation and a cold window start from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from simulator.draw import draw
from simulator.faults import story
from simulator.faults.story import Failure
from simulator.instruments.readout import CHANNEL_NAMES
from simulator.machine import Machine, Machines
from simulator.scenario import HEALTHY, Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulator.arrays import Floats

__all__ = ["Failure", "NodeHistory", "Recording", "record", "record_all"]

CHUNK_STEPS = 240
NODES_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class NodeHistory:
    """One node over time, as the exporter would have read it.

    `values` is float64 [gpu, step, channel], channels in the order of
    `simulator.instruments.shown.CHANNELS`: gauges in schema units, counters cumulative, node
    channels repeated on each GPU's row, NaN where nothing was read.  All times
    are seconds of simulated time; step i was read at `start_seconds` + i *
    `step_seconds`.  `onset_seconds` is when a fault began (None: healthy or a
    look-alike), whether it fails, is mended or heals, and may lie outside the record, as
    may `failure.time_seconds`: the label holds for horizons that reach beyond
    the last step.  `parameters` are those of the story that was told.
    """

    node: str
    rack: str
    start_seconds: float
    step_seconds: float
    channels: tuple[str, ...]
    values: Floats
    scenario: str
    onset_seconds: float | None
    failure: Failure | None
    lookalike: bool
    parameters: Scenario

    def with_values(self, values: Floats) -> NodeHistory:
        """Return the same history with other values."""
        return replace(self, values=values)


@dataclass(frozen=True, slots=True)
class Recording:
    """One history to record.

    `scenario` is a `Scenario`, or the name of a story whose parameters are then
    drawn from the seed: only what is drawn takes `mended_ratio`, a `Scenario` has its
    own.  Raises `ValueError` for one beside the other.
    """

    scenario: Scenario | str
    node: str
    seed: int
    rack: str = "rack-0"
    mended_ratio: float | None = None

    def __post_init__(self) -> None:
        if self.mended_ratio is not None and isinstance(self.scenario, Scenario):
            raise ValueError("mended_ratio: expected in the scenario, which is given whole")


def record(
    scenario: Scenario | str,
    *,
    node: str,
    seed: int,
    steps: int,
    gpus: int = 8,
    step_seconds: float = 60,
) -> NodeHistory:
    """Record one node; raises `ValueError` for an unknown scenario or impossible parameters."""
    wanted = [Recording(scenario, node, seed)]
    return next(record_all(wanted, steps=steps, gpus=gpus, step_seconds=step_seconds))


def record_all(
    recordings: Sequence[Recording],
    *,
    steps: int,
    gpus: int = 8,
    step_seconds: float = 60,
) -> Iterator[NodeHistory]:
    """Record many nodes, some at a time; several times faster than one by one.

    Each is simulated as if alone in its rack, so the outcome for a recording
    does not depend on its neighbours in the list.
    """
    for first in range(0, len(recordings), NODES_AT_ONCE):
        batch = recordings[first : first + NODES_AT_ONCE]
        plan = [
            Machine(r.node, r.rack, r.seed, _scenario(r, steps * float(step_seconds), gpus))
            for r in batch
        ]
        machines = Machines(plan, gpus=gpus, step_seconds=step_seconds, shared_racks=False)
        values = np.empty((len(plan), gpus, steps, len(CHANNEL_NAMES)))
        for begin in range(0, steps, CHUNK_STEPS):
            end = min(steps, begin + CHUNK_STEPS)
            values[:, :, begin:end] = machines.advance(end - begin).values
        for machine, node_values in zip(plan, values, strict=True):
            yield history_of(machine, node_values, 0.0, step_seconds)


def history_of(
    machine: Machine, values: Floats, start_seconds: float, step_seconds: float
) -> NodeHistory:
    """Attach to `values` [gpu, step, channel] what is known about the machine's scenario."""
    told = story(machine.scenario.kind)
    return NodeHistory(
        node=machine.node,
        rack=machine.rack,
        start_seconds=start_seconds,
        step_seconds=step_seconds,
        channels=CHANNEL_NAMES,
        values=values,
        scenario=machine.scenario.kind,
        onset_seconds=None if told.cause is None else machine.scenario.onset_seconds,
        failure=told.failure(machine.scenario),
        lookalike=told.lookalike,
        parameters=machine.scenario,
    )


def _scenario(recording: Recording, span_seconds: float, gpus: int) -> Scenario:
    chosen = recording.scenario
    if isinstance(chosen, str):
        chosen = draw(
            chosen,
            seed=recording.seed,
            span_seconds=span_seconds,
            gpus=gpus,
            mended_ratio=recording.mended_ratio,
        )
    story(chosen.kind)
    if chosen.kind != HEALTHY and chosen.gpu >= gpus:
        raise ValueError(f"gpu {chosen.gpu}: expected less than {gpus}")
    return chosen
