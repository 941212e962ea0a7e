"""A running cluster in simulated time: advanced by whoever asks, as far as the clock has come."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulator.faults import story
from simulator.faults.story import Reach
from simulator.history import history_of
from simulator.instruments.readout import CHANNEL_NAMES
from simulator.machine import Machine, Machines
from simulator.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulator.arrays import Flags, Floats
    from simulator.history import NodeHistory
    from simulator.instruments.readout import Block
    from simulator.physics.workload import Workload

STEP_SECONDS = 15.0
CHUNK_STEPS = 256
COLUMN: dict[str, int] = {name: column for column, name in enumerate(CHANNEL_NAMES)}


@dataclass(frozen=True, slots=True)
class NodeReading:
    """What one node shows now.

    `values` is [gpu, channel] in schema order, NaN where nothing can be read;
    `page_up` and `bmc_up` tell whether dcgm-exporter and the BMC answer; [gpu]:
    `dead`, `hidden` from the page though alive, `occupied` by a workload, and
    the BMC's own view of each board.  `host_on` tells whether the host has
    power, `scrape_seconds` how much longer than usual the page takes.
    """

    node: str
    time_seconds: float
    values: Floats
    page_up: bool
    bmc_up: bool
    host_on: bool
    scrape_seconds: float
    dead: Flags
    hidden: Flags
    occupied: Flags
    core_celsius: Floats
    memory_celsius: Floats
    watts: Floats

    def gpu(self, channel: str) -> Floats:
        """Return one channel as [gpu]; raises `KeyError` for an unknown one."""
        return np.asarray(self.values[:, COLUMN[channel]])

    def of_node(self, channel: str) -> float:
        """Return one node channel; NaN while the BMC does not answer."""
        return float(self.values[0, COLUMN[channel]])


class Fleet:
    """Some machines, their past as far as `keep_seconds`, and a clock that runs `speed` times.

    `prefill_seconds` of simulated time have passed before `start`; until then
    the clock stands still.  Safe to read from many threads.
    """

    def __init__(
        self,
        plan: Sequence[Machine],
        *,
        monotonic: Callable[[], float],
        speed: float,
        prefill_seconds: float,
        gpus: int = 8,
        step_seconds: float = STEP_SECONDS,
        keep_seconds: float = 14_400.0,
    ) -> None:
        if speed <= 0:
            raise ValueError(f"speed {speed}: expected more than 0")
        self.plan = tuple(plan)
        self.gpus = gpus
        self.speed = speed
        self.step_seconds = step_seconds
        self.prefill_seconds = prefill_seconds
        self._monotonic = monotonic
        self._lanes = {machine.node: lane for lane, machine in enumerate(self.plan)}
        self._machines = Machines(self.plan, gpus=gpus, step_seconds=step_seconds)
        self._blocks: deque[Block] = deque()
        self._kept_steps = 0
        self._keep_steps = max(1, round(keep_seconds / step_seconds))
        self._lock = threading.Lock()
        self._started: float | None = None
        with self._lock:
            self._catch_up()

    def start(self) -> None:
        """Let the clock run."""
        self._started = self._monotonic()

    def now_seconds(self) -> float:
        """Return simulated seconds."""
        if self._started is None:
            return self.prefill_seconds
        return self.prefill_seconds + (self._monotonic() - self._started) * self.speed

    def reading(self, node: str) -> NodeReading:
        """Return what `node` shows now; raises `KeyError` for an unknown one."""
        lane = self._lanes[node]
        with self._lock:
            self._catch_up()
            block = self._blocks[-1]
        return NodeReading(
            node=node,
            time_seconds=float(block.times[-1]),
            values=block.values[lane, :, -1],
            page_up=bool(block.page_up[-1, lane]),
            bmc_up=bool(block.bmc_up[-1, lane]),
            host_on=bool(block.host_on[-1, lane]),
            scrape_seconds=float(block.scrape_seconds[-1, lane]),
            dead=block.dead[-1, lane],
            hidden=block.hidden[-1, lane],
            occupied=block.occupied[-1, lane],
            core_celsius=block.core_celsius[-1, lane],
            memory_celsius=block.memory_celsius[-1, lane],
            watts=block.watts[-1, lane],
        )

    def history(self, node: str, steps: int, step_seconds: float = 60.0) -> NodeHistory:
        """Return the last `steps` of `node` up to now, at most what is kept.

        Raises `ValueError` where `step_seconds` is no multiple of the fleet's step.
        """
        stride = round(step_seconds / self.step_seconds)
        if stride < 1 or abs(stride * self.step_seconds - step_seconds) > 1e-9:
            raise ValueError(
                f"step_seconds {step_seconds}: expected a multiple of {self.step_seconds}"
            )
        lane = self._lanes[node]
        with self._lock:
            self._catch_up()
            values = np.concatenate([block.values[lane] for block in self._blocks], axis=1)
            newest = float(self._blocks[-1].times[-1])
        picked = values[:, ::-1][:, ::stride][:, :steps][:, ::-1]
        start = newest - (picked.shape[1] - 1) * step_seconds
        return history_of(self.plan[lane], picked, start, step_seconds)

    def failed(self, node: str) -> bool:
        """Tell whether the failure that the story of `node` leads to, if any, has come."""
        scenario = self.plan[self._lanes[node]].scenario
        failure = story(scenario.kind).failure(scenario)
        return failure is not None and self.now_seconds() >= failure.time_seconds

    def vacate(self, node: str) -> None:
        """Take the work off `node`: its GPUs idle from the next step on."""
        with self._lock:
            self._machines.vacated[self._lanes[node]] = True

    def occupy(self, node: str) -> None:
        """Give `node` work again."""
        with self._lock:
            self._machines.vacated[self._lanes[node]] = False

    def _catch_up(self) -> None:
        target = int(self.now_seconds() // self.step_seconds) + 1
        while self._machines.step < target:
            block = self._machines.advance(min(CHUNK_STEPS, target - self._machines.step))
            self._blocks.append(block)
            self._kept_steps += block.times.size
            while self._kept_steps - self._blocks[0].times.size >= self._keep_steps:
                self._kept_steps -= self._blocks.popleft().times.size


def lay_out(
    *,
    nodes: int,
    racks: int,
    seed: int,
    workload: Workload,
    scenario: Scenario | None = None,
    struck: int = 0,
) -> list[Machine]:
    """Plan a fleet: nodes spread over racks in order, `scenario` on node `struck` (from 0).

    A scenario that reaches a rack strikes all nodes of the rack of `struck`.
    Raises `ValueError` for an impossible plan.
    """
    if not 1 <= racks <= nodes:
        raise ValueError(f"racks {racks}: expected 1 to the number of nodes, {nodes}")
    if not 0 <= struck < nodes:
        raise ValueError(f"node {struck}: expected 0 to {nodes - 1}")
    rack_of = [index * racks // nodes for index in range(nodes)]
    plan = []
    for index in range(nodes):
        told = Scenario(workload=workload)
        if scenario is not None and _reached(scenario, index, struck, rack_of):
            told = scenario
        plan.append(Machine(f"gpu-{index:02d}", f"rack-{rack_of[index]:02d}", seed, told))
    return plan


def _reached(scenario: Scenario, index: int, struck: int, rack_of: list[int]) -> bool:
    if story(scenario.kind).reach is Reach.RACK:
        return rack_of[index] == rack_of[struck]
    return index == struck
