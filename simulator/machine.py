"""Machines in motion: one set of equations for live serving and for recorded history.

`Machines.advance` moves some nodes by any number of steps.  What feeds back
(power, temperature, coolant) is stepped in time over [node, gpu]; what does not
(workload, stress, errors, sensors) is computed for all steps at once.  Chunking
does not change the outcome.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulator import noise
from simulator.faults import told_by
from simulator.instruments.readout import Block, Readout
from simulator.physics import board, cooling, power, thermal, workload
from simulator.physics.rack import Racks
from simulator.physics.stress import calm
from simulator.physics.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.arrays import Flags, Floats, Whole
    from simulator.physics.stress import Stress
    from simulator.physics.workload import Activity
    from simulator.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Machine:
    """One node to simulate; machines with the same `rack` share its coolant loop."""

    node: str
    rack: str
    seed: int
    scenario: Scenario


@dataclass(slots=True)
class Heat:
    """Temperatures that have a past: [node, gpu] core and memory; [node] supply and rise."""

    core: Floats
    memory: Floats
    supply: Floats
    rise: Floats


@dataclass(frozen=True, slots=True)
class Load:
    """What drives the equations: [step, node, gpu], but `flow` and `host` [step, node]."""

    wanted_watts: Floats
    limit_watts: Floats
    floor_watts: Floats
    kelvin_per_watt: Floats
    memory_watts: Floats
    flow: Floats
    host: Floats
    supply_kelvin: Floats


class Machines:
    """Some nodes of `gpus` GPUs each, at simulated time `step` times `step_seconds`.

    With `shared_racks` off every node stands in its rack as if alone.
    """

    def __init__(
        self,
        plan: Sequence[Machine],
        *,
        gpus: int,
        step_seconds: float,
        shared_racks: bool = True,
    ) -> None:
        self.plan = tuple(plan)
        self.gpus = gpus
        self.step_seconds = step_seconds
        self.step = 0
        self.vacated: Flags = np.zeros(len(self.plan), dtype=bool)
        self._stories = [told_by(machine.scenario) for machine in self.plan]
        racks = [m.rack if shared_racks else str(lane) for lane, m in enumerate(self.plan)]
        self._racks = Racks(racks)
        self._noise = noise.Noise([noise.key(m.seed, m.rack, m.node) for m in self.plan])
        rack_noise = noise.Noise([noise.key(m.seed, m.rack) for m in self.plan])
        self._build = board.build(self._noise, rack_noise, gpus)
        self._readout = Readout(self._noise, self._build, gpus, step_seconds)
        self._heat: Heat | None = None

    def advance(self, steps: int) -> Block:
        """Move on by `steps` and return what the sources showed at each of them."""
        index = np.arange(self.step, self.step + steps, dtype=np.int64)
        times = index.astype(np.float64) * self.step_seconds
        stress = self._stress(times)
        work = self._work(times, index, stress)
        load = self._load(times, index, stress, work)
        trace = self._run(load)
        self.step += steps
        return self._readout.read(index, stress, work, load.flow, trace)

    def _stress(self, times: Floats) -> Stress:
        stress = calm(times, self.step_seconds, len(self.plan), self.gpus)
        for lane, machine in enumerate(self.plan):
            self._stories[lane].tell(machine.scenario, stress, lane)
        return stress

    def _work(self, times: Floats, index: Whole, stress: Stress) -> Activity:
        """Return the activity of all nodes as [step, node, gpu]; nothing runs where halted."""
        lanes = [
            workload.activity(
                machine.scenario.workload, self._noise.one(lane), times, index, self.gpus
            )
            for lane, machine in enumerate(self.plan)
        ]
        gone = stress.dead | stress.unbound
        runs = (~(stress.halted | stress.off | self.vacated))[:, :, None] & ~gone
        whole = workload.Activity(
            busy=np.stack([lane.busy for lane in lanes], axis=1),
            intensity=np.stack([lane.intensity for lane in lanes], axis=1),
            memory=np.stack([lane.memory for lane in lanes], axis=1),
            held=np.stack([lane.held for lane in lanes], axis=1),
        )
        return workload.disturbed(whole, stress, runs, times)

    def _load(self, times: Floats, index: Whole, stress: Stress, work: Activity) -> Load:
        build = self._build
        pump = 1.0 + 0.008 * self._noise.drift("pump", times, 900.0, 1)[:, :, 0]
        ratio = stress.flow_ratio * pump
        if stress.bubble_ratio.any():
            gas = self._noise.normal("bubbles", index, 1)[:, :, 0]
            ratio = ratio * np.maximum(0.1, 1.0 + stress.bubble_ratio * gas)
        alive = ~(stress.dead | stress.off[:, :, None])
        floor = (build.idle_watts + stress.floor_watts) * alive
        return Load(
            wanted_watts=floor + build.dynamic_watts * work.intensity,
            limit_watts=np.minimum(stress.power_limit_watts, stress.supplied_watts),
            floor_watts=floor,
            kelvin_per_watt=thermal.resistance(
                build.solid_kelvin_per_watt,
                build.film_kelvin_per_watt,
                stress.interface_ratio,
                ratio[:, :, None] * stress.plate_flow_ratio,
            ),
            memory_watts=thermal.MEMORY_WATTS * work.memory,
            flow=build.flow_liters_per_minute * ratio,
            host=power.host_watts(work.busy) * ~stress.off,
            supply_kelvin=stress.supply_kelvin,
        )

    def _run(self, load: Load) -> Trace:
        """Step the equations that feed back on themselves."""
        heat = self._heat if self._heat is not None else self._settled(load)
        shape = load.wanted_watts.shape
        trace = Trace(*(np.empty(shape) for _ in range(5)), *(np.empty(shape[:2]) for _ in "abc"))
        for step in range(shape[0]):
            self._step(step, heat, load, trace)
        self._heat = heat
        return trace

    def _step(self, step: int, heat: Heat, load: Load, trace: Trace) -> None:
        build, dt = self._build, self.step_seconds
        kelvin_per_watt = load.kelvin_per_watt[step]
        coolant = heat.supply[:, None] + heat.rise[:, None] * build.upstream_ratio
        wanted = power.demand(load.wanted_watts[step], load.floor_watts[step], heat.core)
        granted = thermal.granted_watts(
            kelvin_per_watt, coolant, board.HELD_CELSIUS, load.floor_watts[step]
        )
        watts = np.minimum(np.minimum(wanted, granted), load.limit_watts[step])
        settled = coolant + kelvin_per_watt * watts
        heat.core = thermal.approach(heat.core, settled, dt, thermal.CORE_SECONDS)
        beside = heat.core + build.memory_kelvin_per_watt * load.memory_watts[step]
        beside += build.memory_kelvin
        heat.memory = thermal.approach(heat.memory, beside, dt, thermal.MEMORY_SECONDS)
        total = watts.sum(axis=1) + load.host[step]
        rise = cooling.rise_kelvin(total, load.flow[step])
        heat.rise = thermal.approach(heat.rise, rise, dt, cooling.RISE_SECONDS)
        point = build.supply_celsius + load.supply_kelvin[step]
        supply = cooling.supply_celsius(point, self._racks.mean(total))
        heat.supply = thermal.approach(heat.supply, supply, dt, cooling.LOOP_SECONDS)
        trace.watts[step], trace.wanted[step], trace.granted[step] = watts, wanted, granted
        trace.core[step], trace.memory[step] = heat.core, heat.memory
        trace.supply[step], trace.rise[step], trace.heat[step] = heat.supply, heat.rise, total

    def _settled(self, load: Load) -> Heat:
        """Return the temperatures at which the first step's load would settle."""
        watts = load.wanted_watts[0]
        total = watts.sum(axis=1) + load.host[0]
        point = self._build.supply_celsius + load.supply_kelvin[0]
        supply = cooling.supply_celsius(point, self._racks.mean(total))
        rise = cooling.rise_kelvin(total, load.flow[0])
        coolant = supply[:, None] + rise[:, None] * self._build.upstream_ratio
        core = np.minimum(coolant + load.kelvin_per_watt[0] * watts, board.HELD_CELSIUS)
        memory = core + self._build.memory_kelvin_per_watt * load.memory_watts[0]
        memory += self._build.memory_kelvin
        return Heat(core, memory, supply, rise)
