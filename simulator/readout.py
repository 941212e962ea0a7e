"""From the truth to readings: every channel as its source would show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from model.schema import Level
from simulator import board, cooling, links, memory, power, sensors
from simulator.counters import Counters, latched
from simulator.shown import CHANNELS, SHOWN

if TYPE_CHECKING:
    from simulator.arrays import Flags, Floats, Whole
    from simulator.board import Build
    from simulator.noise import Noise
    from simulator.stress import Stress
    from simulator.trace import Trace
    from simulator.workload import Activity

CHANNEL_NAMES: tuple[str, ...] = SHOWN
XID = "gpu_xid_code"
APPLICATION_XIDS = np.array([13.0, 31.0, 43.0, 45.0])
APPLICATION_XIDS_PER_SECOND = 6e-7
DAY_SECONDS = 86_400.0
OCCUPIED_RATIO = 0.02
"""Framebuffer share above which a GPU has a tenant."""


@dataclass(frozen=True, slots=True)
class Block:
    """What the sources showed over some steps.

    `values` is [node, gpu, step, channel] in the order of `shown.SHOWN`: gauges in the
    schema's units, counters cumulative, node channels repeated on each GPU,
    NaN where nothing could be read.  `times` [step] in seconds; `page_up`,
    `bmc_up` [step, node]: whether each source answered.  [step, node, gpu]:
    `dead` boards, `occupied` ones (given to a workload, busy or not), and what
    the BMC sees of a board by itself: `core_celsius`, `memory_celsius`, `watts`.
    """

    times: Floats
    values: Floats
    page_up: Flags
    bmc_up: Flags
    dead: Flags
    occupied: Flags
    core_celsius: Floats
    memory_celsius: Floats
    watts: Floats


class Readout:
    """The sensors and counters of some nodes; counters have a past, so it keeps them."""

    def __init__(self, noise: Noise, build: Build, gpus: int, step_seconds: float) -> None:
        self._noise = noise
        self._build = build
        self._gpus = gpus
        self._dt = step_seconds
        self._counters = Counters(noise, gpus)
        seen = noise.uniform("old xid", board.ZERO, gpus)[0]
        self._xid = np.where(seen < 0.06, self._application_codes(board.ZERO)[0], 0.0)
        # Before 4.8.1 dcgm-exporter shows 0 until the first XID, since then nothing.
        self._no_xid = np.where(noise.uniform("generation", board.ZERO, 1)[0] < 0.5, 0.0, np.nan)

    def read(
        self, steps: Whole, stress: Stress, work: Activity, flow: Floats, trace: Trace
    ) -> Block:
        """Return the readings of these steps and move the counters on."""
        gpu = self._gauges(steps, stress, work, trace)
        gpu |= self._flags(stress, trace)
        gpu |= self._errors(steps, stress, work, trace)
        gpu[XID] = self._codes(steps, stress, work)
        node = self._node(steps, stress.times, flow, trace)
        page_up = ~stress.page_down & sensors.answers(
            self._noise, "dcgm", steps, sensors.DCGM_GAPS_PER_SECOND, self._dt
        )
        bmc_up = sensors.answers(self._noise, "bmc", steps, sensors.BMC_GAPS_PER_SECOND, self._dt)
        values = self._table(gpu, node, stress.dead, page_up, bmc_up)
        return Block(
            times=stress.times,
            values=values,
            page_up=page_up,
            bmc_up=bmc_up,
            dead=stress.dead,
            occupied=work.held > OCCUPIED_RATIO,
            core_celsius=trace.core,
            memory_celsius=trace.memory,
            watts=trace.watts,
        )

    def _gauges(
        self, steps: Whole, stress: Stress, work: Activity, trace: Trace
    ) -> dict[str, Floats]:
        def seen(truth: Floats, name: str, sigma: float, quantum: float) -> Floats:
            return sensors.read(truth, self._noise, name, steps, sigma=sigma, quantum=quantum)

        core = seen(trace.core, "core", 0.25, 1.0)
        clock = power.sm_clock_hertz(work.busy, trace.watts, trace.wanted)
        ratio = {
            "gpu_utilization_ratio": np.round(work.busy, 2),
            "gpu_engine_active_ratio": work.busy * 0.985,
            "gpu_tensor_active_ratio": work.intensity * 0.55,
            "gpu_memory_active_ratio": work.memory,
        }
        return {
            "gpu_temperature_celsius": core,
            "gpu_memory_temperature_celsius": seen(trace.memory, "memory", 0.3, 1.0),
            "gpu_temperature_margin_celsius": board.SLOWDOWN_CELSIUS - core,
            "gpu_power_watts": np.maximum(0.0, seen(trace.watts, "power", 1.5, 0.001)),
            "gpu_power_limit_watts": stress.power_limit_watts,
            "gpu_sm_clock_hertz": np.round(clock / 1.5e7) * 1.5e7,
            "gpu_memory_clock_hertz": np.full_like(core, board.MEMORY_CLOCK_HERTZ),
            "gpu_memory_used_bytes": np.round(work.held * board.MEMORY_BYTES / 2**20) * 2.0**20,
            "gpu_pcie_link_width": np.full_like(core, board.LINK_LANES),
            **{name: np.round(np.clip(share, 0.0, 1.0), 6) for name, share in ratio.items()},
        }

    def _flags(self, stress: Stress, trace: Trace) -> dict[str, Floats]:
        hot, capped = _withheld(stress, trace)
        return {
            "gpu_thermal_slowdown_active": hot.astype(np.float64),
            "gpu_power_brake_active": np.zeros_like(trace.watts),
            "gpu_power_cap_active": capped.astype(np.float64),
            "gpu_row_remap_failed": stress.remap_failed.astype(np.float64),
            "gpu_recovery_action": stress.recovery_action,
        }

    def _errors(
        self, steps: Whole, stress: Stress, work: Activity, trace: Trace
    ) -> dict[str, Floats]:
        """Count everything that accumulates."""
        dt, noise = self._dt, self._noise
        hot, capped = _withheld(stress, trace)
        rate = self._build.correctable_per_second + stress.correctable_per_second
        correctable = memory.correctable_expected(rate, work.memory, trace.memory, dt)
        remaps = stress.remaps_per_second * work.memory + memory.HEALTHY_REMAPS_PER_SECOND
        expected = {
            "gpu_memory_correctable_errors_total": correctable,
            "gpu_remapped_rows_correctable_total": remaps * dt,
            "gpu_pcie_replays_total": links.expected(links.PCIE_REPLAYS_PER_SECOND, work.busy, dt),
            "gpu_nvlink_crc_errors_total": links.expected(
                links.NVLINK_CRC_PER_SECOND, work.busy, dt
            ),
            "gpu_nvlink_replay_errors_total": links.expected(
                links.NVLINK_REPLAYS_PER_SECOND, work.busy, dt
            ),
            "gpu_nvlink_recovery_errors_total": links.expected(
                links.NVLINK_RECOVERIES_PER_SECOND, work.busy, dt
            ),
        }
        growth = {name: noise.poisson(name, steps, rates) for name, rates in expected.items()}
        growth |= {
            "gpu_energy_joules_total": trace.watts * dt,
            "gpu_thermal_violation_seconds_total": np.where(hot, dt, 0.0),
            "gpu_power_violation_seconds_total": np.where(capped, dt, 0.0),
            "gpu_memory_uncorrectable_errors_total": stress.uncorrectable,
            "gpu_remapped_rows_uncorrectable_total": np.zeros_like(trace.watts),
            "pending_rows": growth["gpu_remapped_rows_correctable_total"],
        }
        totals = self._counters.grow(growth, stress.reload)
        rows = (
            totals["gpu_remapped_rows_correctable_total"]
            + totals["gpu_remapped_rows_uncorrectable_total"]
        )
        totals["gpu_memory_spare_exhausted_banks"] = memory.exhausted_banks(rows)
        totals["gpu_row_remap_pending"] = (totals.pop("pending_rows") > 0.0).astype(np.float64)
        return totals

    def _application_codes(self, steps: Whole) -> Floats:
        pick = self._noise.uniform("xid pick", steps, self._gpus) * APPLICATION_XIDS.size
        return np.asarray(APPLICATION_XIDS[pick.astype(np.int64)])

    def _codes(self, steps: Whole, stress: Stress, work: Activity) -> Floats:
        """Return the latched XID; programs crash now and then on healthy hardware."""
        chance = self._noise.uniform("application xid", steps, self._gpus)
        crashed = chance < APPLICATION_XIDS_PER_SECOND * self._dt * work.busy
        codes = np.where(crashed, self._application_codes(steps), 0.0)
        codes = np.where(stress.xid > 0.0, stress.xid, codes)
        shown = latched(codes, stress.reload | stress.restart, self._xid)
        self._xid = shown[-1].copy()
        return np.where(shown > 0.0, shown, self._no_xid[None])

    def _node(self, steps: Whole, times: Floats, flow: Floats, trace: Trace) -> dict[str, Floats]:
        """Return the BMC's channels as [step, node]."""
        noise = self._noise

        def seen(truth: Floats, name: str, sigma: float, quantum: float) -> Floats:
            read = sensors.read(truth[:, :, None], noise, name, steps, sigma=sigma, quantum=quantum)
            return np.asarray(read[:, :, 0])

        day = np.sin(2.0 * np.pi * (times / DAY_SECONDS - 0.4))[:, None]
        wander = noise.drift("inlet", times, 5_400.0, 1)[:, :, 0]
        inlet = self._build.inlet_celsius + 0.8 * day + 0.35 * wander
        rpm = cooling.fan_rpm(inlet, trace.heat * (1.0 - cooling.LIQUID_SHARE))
        drawn = power.drawn_watts(trace.heat, cooling.fan_watts(rpm))
        back = trace.supply + trace.rise
        return {
            "node_inlet_temperature_celsius": seen(inlet, "inlet", 0.08, 0.25),
            "node_power_watts": seen(drawn, "node power", 12.0, 1.0),
            "node_fan_speed_rpm": seen(rpm, "fan", 40.0, 30.0),
            "node_coolant_supply_temperature_celsius": seen(trace.supply, "supply", 0.06, 0.1),
            "node_coolant_return_temperature_celsius": seen(back, "return", 0.08, 0.1),
            "node_coolant_flow_liters_per_minute": np.maximum(0.0, seen(flow, "flow", 0.04, 0.05)),
            "node_leak_detected": np.zeros_like(flow),
            "node_power_supplies_failed": np.zeros_like(flow),
        }

    def _table(
        self,
        gpu: dict[str, Floats],
        node: dict[str, Floats],
        dead: Flags,
        page_up: Flags,
        bmc_up: Flags,
    ) -> Floats:
        """Lay the channels out as [node, gpu, step, channel]; a dead GPU shows only its XID."""
        steps, nodes, gpus = dead.shape
        table = np.full((nodes, gpus, steps, len(CHANNELS)), np.nan)
        for column, channel in enumerate(CHANNELS):
            if channel.level is Level.NODE and channel.name in node:
                readable = np.where(bmc_up, node[channel.name], np.nan)
                table[:, :, :, column] = readable.T[:, None, :]
            elif channel.name in gpu:
                shown = page_up[:, :, None] & (True if channel.name == XID else ~dead)
                readable = np.where(shown, gpu[channel.name], np.nan)
                table[:, :, :, column] = readable.transpose(1, 2, 0)
        return table


def _withheld(stress: Stress, trace: Trace) -> tuple[Flags, Flags]:
    """Return whether heat, and whether the power limit, held the board below what it asked for."""
    limit = stress.power_limit_watts
    hot = trace.granted < np.minimum(trace.wanted, limit)
    capped = ~hot & (limit < trace.wanted)
    return hot, capped
