"""The counter list: every family on the page, and where its values come from.

Names, HELP, TYPE and units follow recorded bodies of dcgm-exporter 4.x.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulator.physics import board

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.arrays import Floats
    from simulator.fleet import NodeReading

RESERVED_MIB = 640
MIB = 2.0**20
IDLE_BIT, POWER_CAP_BIT, SLOWDOWN_BIT = 1, 4, 8
SOFTWARE_HEAT_BIT, HARDWARE_HEAT_BIT, POWER_BRAKE_BIT = 32, 64, 128
HARDWARE_HEAT_MARGIN_CELSIUS = -2.0


@dataclass(frozen=True, slots=True)
class Family:
    """One family: its values are [gpu] from a reading, `whole` ones print as integers."""

    name: str
    kind: str
    text: str
    whole: bool
    values: Callable[[NodeReading], Floats]


def _of(channel: str, scale: float = 1.0) -> Callable[[NodeReading], Floats]:
    return lambda reading: np.asarray(reading.gpu(channel) * scale)


def _free_mib(reading: NodeReading) -> Floats:
    used = reading.gpu("gpu_memory_used_bytes") / MIB
    return np.asarray(board.MEMORY_BYTES // MIB - RESERVED_MIB - used)


def _reasons(reading: NodeReading) -> Floats:
    """Return the clock event mask."""
    hot = reading.gpu("gpu_thermal_slowdown_active")
    margin = reading.gpu("gpu_temperature_margin_celsius")
    bits = (
        IDLE_BIT * (reading.gpu("gpu_utilization_ratio") == 0.0)
        + POWER_CAP_BIT * reading.gpu("gpu_power_cap_active")
        + (SLOWDOWN_BIT + POWER_BRAKE_BIT) * reading.gpu("gpu_power_brake_active")
        + SOFTWARE_HEAT_BIT * hot
        + HARDWARE_HEAT_BIT * hot * (margin <= HARDWARE_HEAT_MARGIN_CELSIUS)
    )
    return np.asarray(bits)


def _gauge(
    name: str, text: str, values: Callable[[NodeReading], Floats], *, whole: bool = True
) -> Family:
    return Family(name, "gauge", text, whole, values)


def _counter(name: str, text: str, values: Callable[[NodeReading], Floats]) -> Family:
    return Family(name, "counter", text, True, values)


XID_FAMILY = "DCGM_FI_DEV_XID_ERRORS"
# fmt: off
FAMILIES: tuple[Family, ...] = (
    _gauge("DCGM_FI_DEV_SM_CLOCK", "SM clock, MHz.", _of("gpu_sm_clock_hertz", 1e-6)),
    _gauge("DCGM_FI_DEV_MEM_CLOCK", "Memory clock, MHz.", _of("gpu_memory_clock_hertz", 1e-6)),
    _gauge("DCGM_FI_DEV_MEMORY_TEMP", "HBM/GDDR temperature, C.", _of("gpu_memory_temperature_celsius")),
    _gauge("DCGM_FI_DEV_GPU_TEMP", "Core temperature, C.", _of("gpu_temperature_celsius")),
    _gauge("DCGM_FI_DEV_GPU_TEMP_LIMIT", "Margin to the nearest slowdown point, C.", _of("gpu_temperature_margin_celsius")),
    _gauge("DCGM_FI_DEV_POWER_USAGE", "Board power, W.", _of("gpu_power_watts"), whole=False),
    _gauge("DCGM_FI_DEV_POWER_MGMT_LIMIT", "Power limit, W.", _of("gpu_power_limit_watts"), whole=False),
    _counter("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "Energy since driver load, mJ.", _of("gpu_energy_joules_total", 1e3)),
    _counter("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "PCIe replays.", _of("gpu_pcie_replays_total")),
    _gauge("DCGM_FI_DEV_PCIE_LINK_GEN", "PCIe generation now.", _of("gpu_pcie_link_generation")),
    _gauge("DCGM_FI_DEV_PCIE_LINK_WIDTH", "PCIe lanes now.", _of("gpu_pcie_link_width")),
    _gauge("DCGM_FI_DEV_GPU_UTIL", "Busy time, %.", _of("gpu_utilization_ratio", 100.0)),
    _gauge("DCGM_FI_DEV_MEM_COPY_UTIL", "Memory interface busy time, %.", _of("gpu_memory_active_ratio", 100.0)),
    _gauge(XID_FAMILY, "Last XID seen.", _of("gpu_xid_code")),
    _gauge("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "Clock event reasons, bit mask.", _reasons),
    _counter("DCGM_FI_DEV_POWER_VIOLATION", "Time limited by power, ns.", _of("gpu_power_violation_seconds_total", 1e9)),
    _counter("DCGM_FI_DEV_THERMAL_VIOLATION", "Time limited by heat, ns.", _of("gpu_thermal_violation_seconds_total", 1e9)),
    _gauge("DCGM_FI_DEV_FB_FREE", "Framebuffer free, MiB.", _free_mib),
    _gauge("DCGM_FI_DEV_FB_USED", "Framebuffer used, MiB.", _of("gpu_memory_used_bytes", 1.0 / MIB)),
    _counter("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "Single-bit errors since driver load.", _of("gpu_memory_correctable_errors_total")),
    _counter("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "Double-bit errors since driver load.", _of("gpu_memory_uncorrectable_errors_total")),
    _counter("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "Rows remapped after uncorrectable errors", _of("gpu_remapped_rows_uncorrectable_total")),
    _counter("DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "Rows remapped after correctable errors", _of("gpu_remapped_rows_correctable_total")),
    _gauge("DCGM_FI_DEV_ROW_REMAP_FAILURE", "1 when a row could not be remapped", _of("gpu_row_remap_failed")),
    _gauge("DCGM_FI_DEV_ROW_REMAP_PENDING", "1 when a remap waits for a reset", _of("gpu_row_remap_pending")),
    _gauge("DCGM_FI_DEV_BANKS_REMAP_ROWS_AVAIL_NONE", "Banks without a spare row.", _of("gpu_memory_spare_exhausted_banks")),
    _counter("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "NVLink flit CRC errors.", _of("gpu_nvlink_crc_errors_total")),
    _counter("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", "NVLink replays.", _of("gpu_nvlink_replay_errors_total")),
    _counter("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "NVLink recoveries.", _of("gpu_nvlink_recovery_errors_total")),
    _gauge("DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION", "Recovery action asked by the driver.", _of("gpu_recovery_action")),
    _gauge("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "Graphics/compute engine active, 0 to 1.", _of("gpu_engine_active_ratio"), whole=False),
    _gauge("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "Tensor pipe active, 0 to 1.", _of("gpu_tensor_active_ratio"), whole=False),
    _gauge("DCGM_FI_PROF_DRAM_ACTIVE", "Memory interface active, 0 to 1.", _of("gpu_memory_active_ratio"), whole=False),
)
# fmt: on
