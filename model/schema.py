"""The channels: what is measured, in which unit, on which level, and what missing means.

One table for the exporter's page, the window, training and the simulator.
Channel names are metric names without the `forewarn_` prefix.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA_VERSION = 1
STEP_SECONDS = 60
WINDOW_STEPS = 64
NAMESPACE = "forewarn_"


class Level(StrEnum):
    """Whether a channel has one value per GPU or one per node."""

    GPU = "gpu"
    NODE = "node"


class Kind(StrEnum):
    """A gauge enters the window as it is, a flag as 0 or 1, a counter as its increment per step."""

    GAUGE = "gauge"
    FLAG = "flag"
    COUNTER = "counter"


class Cause(StrEnum):
    """Competing causes of failure; their hazards add up to the node's."""

    MEMORY = "memory"
    INTERCONNECT = "interconnect"
    THERMAL = "thermal"
    POWER = "power"
    DEVICE = "device"
    FACILITY = "facility"


HORIZONS: dict[str, int] = {"1h": 3_600, "6h": 21_600, "24h": 86_400, "72h": 259_200}
"""Horizon label → seconds, in increasing order."""


@dataclass(frozen=True, slots=True)
class Channel:
    """One measured quantity.

    `low` and `high` bound what is physically possible (for a counter: per
    reading); a value outside is missing, never clipped.  `absent` says, for a
    person, what it means when the source does not deliver it.
    """

    name: str
    unit: str
    level: Level
    kind: Kind
    cause: Cause
    low: float
    high: float
    text: str
    absent: str

    @property
    def metric(self) -> str:
        """The Prometheus family that carries this channel."""
        return NAMESPACE + self.name

    def plausible(self, value: float) -> bool:
        """Tell whether `value` is finite and physically possible (NaN is not)."""
        return self.low <= value <= self.high


def _gpu(
    name: str,
    unit: str,
    kind: Kind,
    cause: Cause,
    bounds: tuple[float, float],
    text: str,
    absent: str,
) -> Channel:
    return Channel(name, unit, Level.GPU, kind, cause, *bounds, text, absent)


def _node(
    name: str,
    unit: str,
    kind: Kind,
    cause: Cause,
    bounds: tuple[float, float],
    text: str,
    absent: str,
) -> Channel:
    return Channel(name, unit, Level.NODE, kind, cause, *bounds, text, absent)


G, F, C = Kind.GAUGE, Kind.FLAG, Kind.COUNTER
THERMAL, MEMORY, POWER = Cause.THERMAL, Cause.MEMORY, Cause.POWER
LINK, DEVICE, FACILITY = Cause.INTERCONNECT, Cause.DEVICE, Cause.FACILITY
COUNT = (0.0, 9.0e18)
FLAG = (0.0, 1.0)
UNLISTED = "not in the exporter's counter list, or not supported by the board"

# fmt: off
CHANNELS: tuple[Channel, ...] = (
    _gpu("gpu_temperature_celsius", "celsius", G, THERMAL, (-20, 130), "Core temperature", "vGPU guests have none"),
    _gpu("gpu_memory_temperature_celsius", "celsius", G, THERMAL, (-20, 130), "Memory temperature", "boards without the sensor report 0 or nothing"),
    _gpu("gpu_temperature_margin_celsius", "celsius", G, THERMAL, (-30, 150), "Distance to thermal slowdown; lower is worse", UNLISTED),
    _gpu("gpu_power_watts", "watts", G, POWER, (0, 3_000), "Board power, averaged by the driver", "vGPU guests have none"),
    _gpu("gpu_power_limit_watts", "watts", G, POWER, (1, 3_000), "Power limit in force", UNLISTED),
    _gpu("gpu_energy_joules_total", "joules", C, DEVICE, COUNT, "Energy since driver load; must grow, so it shows a stale source", "vGPU guests have none"),
    _gpu("gpu_sm_clock_hertz", "hertz", G, POWER, (0, 5e9), "Streaming multiprocessor clock", UNLISTED),
    _gpu("gpu_memory_clock_hertz", "hertz", G, POWER, (0, 2e10), "Memory clock", UNLISTED),
    _gpu("gpu_utilization_ratio", "ratio", G, DEVICE, (0, 1), "Share of time in which a kernel ran", "absent under MIG"),
    _gpu("gpu_engine_active_ratio", "ratio", G, DEVICE, (0, 1), "Graphics engine active", "profiling not available"),
    _gpu("gpu_tensor_active_ratio", "ratio", G, DEVICE, (0, 1), "Tensor pipe active", "profiling not available"),
    _gpu("gpu_memory_active_ratio", "ratio", G, DEVICE, (0, 1), "Memory interface active", "profiling not available"),
    _gpu("gpu_memory_used_bytes", "bytes", G, DEVICE, (0, 4e12), "Framebuffer in use", "sometimes absent under MIG"),
    _gpu("gpu_thermal_slowdown_active", "", F, THERMAL, FLAG, "Clocks held down by heat, software or hardware", UNLISTED),
    _gpu("gpu_power_brake_active", "", F, POWER, FLAG, "Clocks held down by the external power brake or hardware slowdown", UNLISTED),
    _gpu("gpu_power_cap_active", "", F, POWER, FLAG, "Clocks held down by the power limit; normal at full load", UNLISTED),
    _gpu("gpu_thermal_violation_seconds_total", "seconds", C, THERMAL, COUNT, "Time spent below requested clocks because of heat", UNLISTED),
    _gpu("gpu_power_violation_seconds_total", "seconds", C, POWER, COUNT, "Time spent below requested clocks because of power; grows on any capped GPU", UNLISTED),
    _gpu("gpu_memory_correctable_errors_total", "", C, MEMORY, COUNT, "Single-bit errors since driver load", "ECC off, unsupported, or not in the counter list"),
    _gpu("gpu_memory_uncorrectable_errors_total", "", C, MEMORY, COUNT, "Double-bit errors since driver load", "ECC off, unsupported, or not in the counter list"),
    _gpu("gpu_remapped_rows_correctable_total", "", C, MEMORY, COUNT, "Rows remapped after correctable errors", "before Ampere, or MIG"),
    _gpu("gpu_remapped_rows_uncorrectable_total", "", C, MEMORY, COUNT, "Rows remapped after uncorrectable errors", "before Ampere, or MIG"),
    _gpu("gpu_row_remap_pending", "", F, MEMORY, FLAG, "A remap waits for the next reset", UNLISTED ), _gpu( "gpu_row_remap_failed", "", F, MEMORY, FLAG, "A remap failed: replacement path", "before Ampere, or MIG"),
    _gpu("gpu_memory_spare_exhausted_banks", "", G, MEMORY, (0, 1e6), "Memory banks without a spare row", UNLISTED),
    _gpu("gpu_pcie_replays_total", "", C, LINK, COUNT, "PCIe packets sent again", UNLISTED),
    _gpu("gpu_pcie_link_width", "", G, LINK, (0, 64), "PCIe lanes in use; must not fall", UNLISTED),
    _gpu("gpu_nvlink_crc_errors_total", "", C, LINK, COUNT, "NVLink CRC or receive errors, all links", "no NVLink, or not in the counter list"),
    _gpu("gpu_nvlink_replay_errors_total", "", C, LINK, COUNT, "NVLink replays, all links", "no NVLink, or not in the counter list"),
    _gpu("gpu_nvlink_recovery_errors_total", "", C, LINK, COUNT, "NVLink recoveries, all links", "no NVLink, or not in the counter list"),
    _gpu("gpu_xid_code", "", G, DEVICE, (0, 1_000), "Last XID code, latched until the source restarts; 0 and absent both mean none seen", "no XID seen since 4.8.1"),
    _gpu("gpu_recovery_action", "", G, DEVICE, (0, 4), "The driver's own verdict: 0 none, 1 GPU reset, 2 reboot, 3 drain P2P, 4 drain and reset", UNLISTED),
    _node("node_inlet_temperature_celsius", "celsius", G, FACILITY, (-20, 90), "Air at the node's inlet", "the BMC shows no such sensor"),
    _node("node_power_watts", "watts", G, POWER, (1, 100_000), "Power drawn by the node", "the BMC shows no such sensor"),
    _node("node_fan_speed_rpm", "rpm", G, THERMAL, (0, 60_000), "Slowest fan that ever turned", "liquid-cooled, or the BMC shows no fans"),
    _node("node_coolant_supply_temperature_celsius", "celsius", G, FACILITY, (0, 90), "Coolant entering the node", "air-cooled, or no sensor"),
    _node("node_coolant_return_temperature_celsius", "celsius", G, FACILITY, (0, 110), "Coolant leaving the node", "air-cooled, or no sensor"),
    _node("node_coolant_flow_liters_per_minute", "liters_per_minute", G, FACILITY, (0, 500), "Coolant flow through the node", "air-cooled, or no sensor"),
    _node("node_leak_detected", "", F, FACILITY, FLAG, "A leak detector that is enabled reads warning or critical", "no detector, or none readable: unknown, not dry"),
    _node("node_power_supplies_failed", "", G, POWER, (0, 64), "Power supplies whose health is critical", "the BMC shows no power supplies"),
)
# fmt: on
"""Every channel, in the order in which artefacts list them."""

BY_NAME: dict[str, Channel] = {channel.name: channel for channel in CHANNELS}


def channels(level: Level) -> tuple[Channel, ...]:
    """Return the channels of one level, in schema order."""
    return tuple(channel for channel in CHANNELS if channel.level is level)


def fingerprint(names: Iterable[str]) -> str:
    """Return a digest over the meaning of the named channels, in the given order.

    An artefact stays loadable when channels are added elsewhere in the table,
    and is refused when the unit, level, kind or range of one that it uses
    changes.  Raises `KeyError` for an unknown name.
    """
    lines = (
        f"{c.name}|{c.unit}|{c.level}|{c.kind}|{c.low!r}|{c.high!r}"
        for c in (BY_NAME[name] for name in names)
    )
    digest = hashlib.sha256("\n".join((str(SCHEMA_VERSION), *lines)).encode())
    return digest.hexdigest()[:16]
