"""From the truth to readings: every channel as its source would show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from model.schema import Level
from simulator.instruments import sensors
from simulator.instruments.counters import Counters, latched
from simulator.instruments.shown import CHANNELS, SHOWN
from simulator.instruments.tray import Tray
from simulator.instruments.watch import Watch
from simulator.physics import board, links, memory, power

if TYPE_CHECKING:
    from simulator.arrays import Flags, Floats, Whole
    from simulator.noise import Noise
    from simulator.physics.board import Build
    from simulator.physics.stress import Stress
    from simulator.physics.trace import Trace
    from simulator.physics.workload import Activity

CHANNEL_NAMES: tuple[str, ...] = SHOWN
XID = "gpu_xid_code"
APPLICATION_XIDS = np.array([31.0, 13.0, 43.0, 45.0])
APPLICATION_XIDS_UP_TO = np.array([0.772, 0.906, 0.9993])
"""Shares of the codes, added up; and their rate while busy, both as counted on Summit in 2020."""
APPLICATION_XIDS_PER_SECOND = 5e-7
POWER_SPREAD = 0.01
HIDDEN_BY_PARTITIONS = frozenset(
    {
        "gpu_utilization_ratio",
        "gpu_remapped_rows_correctable_total",
        "gpu_remapped_rows_uncorrectable_total",
        "gpu_row_remap_pending",
        "gpu_row_remap_failed",
        "gpu_memory_spare_exhausted_banks",
    }
)
"""What cannot be read of a GPU while it is cut into instances."""
OCCUPIED_RATIO = 0.02
"""Framebuffer share above which a GPU has a tenant."""


@dataclass(frozen=True, slots=True)
class Block:
    """What the sources showed over some steps.

    `values` is [node, gpu, step, channel] in the order of `shown.SHOWN`: gauges in the
    schema's units, counters cumulative, node channels repeated on each GPU,
    NaN where nothing could be read.  `times` [step] in seconds; `page_up`,
    `bmc_up` [step, node]: whether each source answered, `host_on` whether the
    host has power, `scrape_seconds` what delays the page.  [step, node, gpu]:
    `dead` boards, those `hidden` from the page though alive, `occupied` ones
    (given to a workload, busy or not), and what the BMC sees of a board by
    itself: `core_celsius`, `memory_celsius`, `watts`.
    """

    times: Floats
    values: Floats
    page_up: Flags
    bmc_up: Flags
    host_on: Flags
    dead: Flags
    hidden: Flags
    scrape_seconds: Floats
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
        self._tray = Tray(noise, build)
        self._watch = Watch(noise, build)
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
        answered = sensors.answers(
            self._noise, "dcgm", steps, sensors.DCGM_GAPS_PER_SECOND, self._dt
        )
        answering = answered & ~(stress.page_down | stress.off)
        page_up, watched = self._watch.read(steps, stress, answering)
        bmc_up = ~stress.bmc_down & sensors.answers(
            self._noise, "bmc", steps, sensors.BMC_GAPS_PER_SECOND, self._dt
        )
        seen_by_bmc = self._tray.read(steps, stress, flow, trace)
        node = {name: np.where(bmc_up, value, np.nan) for name, value in seen_by_bmc.items()}
        values = self._table(gpu, node | watched, stress, page_up)
        return Block(
            times=stress.times,
            values=values,
            page_up=page_up,
            bmc_up=bmc_up,
            host_on=~stress.off,
            dead=stress.dead | stress.off[:, :, None],
            hidden=stress.unbound | stress.unread,
            scrape_seconds=stress.scrape_seconds,
            occupied=work.held > OCCUPIED_RATIO,
            core_celsius=trace.core,
            memory_celsius=trace.memory,
            watts=trace.watts,
        )

    def _gauges(
        self, steps: Whole, stress: Stress, work: Activity, trace: Trace
    ) -> dict[str, Floats]:
        def seen(truth: Floats, name: str, sigma: Floats | float, quantum: float) -> Floats:
            return sensors.read(truth, self._noise, name, steps, sigma=sigma, quantum=quantum)

        # Means over a second overshoot the limit that the driver holds over longer times.
        spread = 1.0 + POWER_SPREAD * trace.watts
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
            "gpu_power_watts": np.maximum(0.0, seen(trace.watts, "power", spread, 0.001)),
            "gpu_power_limit_watts": stress.power_limit_watts,
            "gpu_sm_clock_hertz": np.round(clock / 1.5e7) * 1.5e7,
            "gpu_memory_clock_hertz": np.full_like(core, board.MEMORY_CLOCK_HERTZ),
            "gpu_memory_used_bytes": np.round(work.held * board.MEMORY_BYTES / 2**20) * 2.0**20,
            "gpu_pcie_link_width": stress.pcie_lanes,
            "gpu_pcie_link_generation": np.where(
                work.busy > 0.0, stress.pcie_generation, board.LINK_IDLE_GENERATION
            ),
            **{name: np.round(np.clip(share, 0.0, 1.0), 6) for name, share in ratio.items()},
        }

    def _flags(self, stress: Stress, trace: Trace) -> dict[str, Floats]:
        hot, capped, starved = _withheld(stress, trace)
        return {
            "gpu_thermal_slowdown_active": hot.astype(np.float64),
            "gpu_power_brake_active": starved.astype(np.float64),
            "gpu_power_cap_active": capped.astype(np.float64),
            "gpu_row_remap_failed": stress.remap_failed.astype(np.float64),
            "gpu_recovery_action": stress.recovery_action,
        }

    def _errors(
        self, steps: Whole, stress: Stress, work: Activity, trace: Trace
    ) -> dict[str, Floats]:
        """Count everything that accumulates."""
        dt, noise = self._dt, self._noise
        hot, capped, _ = _withheld(stress, trace)
        rate = self._build.correctable_per_second + stress.correctable_per_second
        correctable = memory.correctable_expected(rate, work.memory, trace.memory, dt)
        remaps = stress.remaps_per_second * work.memory + memory.HEALTHY_REMAPS_PER_SECOND
        expected = {
            "gpu_memory_correctable_errors_total": correctable,
            "gpu_remapped_rows_correctable_total": remaps * dt,
            **links.expected_errors(stress, work.busy, dt),
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
        pick = self._noise.uniform("xid pick", steps, self._gpus)
        return np.asarray(APPLICATION_XIDS[np.searchsorted(APPLICATION_XIDS_UP_TO, pick)])

    def _codes(self, steps: Whole, stress: Stress, work: Activity) -> Floats:
        """Return the latched XID; programs crash now and then on healthy hardware."""
        chance = self._noise.uniform("application xid", steps, self._gpus)
        crashed = chance < APPLICATION_XIDS_PER_SECOND * self._dt * work.busy
        codes = np.where(crashed, self._application_codes(steps), 0.0)
        codes = np.where(stress.xid > 0.0, stress.xid, codes)
        shown = latched(codes, stress.reload | stress.restart, self._xid)
        self._xid = shown[-1].copy()
        return np.where(shown > 0.0, shown, self._no_xid[None])

    def _table(
        self, gpu: dict[str, Floats], node: dict[str, Floats], stress: Stress, page_up: Flags
    ) -> Floats:
        """Lay the channels out as [node, gpu, step, channel]; a dead GPU shows only its XID."""
        steps, nodes, gpus = stress.dead.shape
        table = np.full((nodes, gpus, steps, len(CHANNELS)), np.nan)
        with_code = page_up[:, :, None] & ~stress.unbound
        whole = with_code & ~(stress.dead | stress.unread)
        for column, channel in enumerate(CHANNELS):
            if channel.level is Level.NODE:
                table[:, :, :, column] = node[channel.name].T[:, None, :]
            else:
                shown = with_code if channel.name == XID else whole
                if channel.name in HIDDEN_BY_PARTITIONS:
                    shown = shown & ~stress.partitioned
                readable = np.where(shown, gpu[channel.name], np.nan)
                table[:, :, :, column] = readable.transpose(1, 2, 0)
        return table


def _withheld(stress: Stress, trace: Trace) -> tuple[Flags, Flags, Flags]:
    """Return what held the board below what it asked for: heat, its limit, or its regulators."""
    limit, delivered = stress.power_limit_watts, stress.supplied_watts
    hot = trace.granted < np.minimum(trace.wanted, np.minimum(limit, delivered))
    starved = ~hot & (delivered < np.minimum(trace.wanted, limit))
    capped = ~hot & ~starved & (limit < trace.wanted)
    return hot, capped, starved
