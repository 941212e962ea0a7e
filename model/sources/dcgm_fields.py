"""Which DCGM field feeds which channel, by what scale, in every name generation.

Names up to DCGM 4.5 come first in a row, then the names of DCGM 4.6; a list
written by a site may use either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LATCHED = "gpu_xid_code"
"""The one channel that outlives its GPU on the page."""
ENERGY = "gpu_energy_joules_total"
TEMPERATURE = "gpu_temperature_celsius"
MARGIN = "gpu_temperature_margin_celsius"
SHUTDOWN_MARGIN = "gpu_shutdown_margin_celsius"
TOTAL, USED = "gpu_memory_total_bytes", "gpu_memory_used_bytes"

SLOWDOWN, SHUTDOWN = "gpu_slowdown_temperature_celsius", "gpu_shutdown_temperature_celsius"
FREE, RESERVED = "gpu_memory_free_bytes", "gpu_memory_reserved_bytes"
INGREDIENTS: dict[str, tuple[float, float]] = {
    SLOWDOWN: (1.0, 130.0),
    SHUTDOWN: (1.0, 130.0),
    FREE: (0.0, 4e12),
    RESERVED: (0.0, 4e12),
}
"""What is no channel and only helps to make one, with its possible range."""


class ClockEvent:
    """Bits of the clock event mask (DCGM headers, field 112)."""

    POWER_CAP = 0x04
    HARDWARE_SLOWDOWN = 0x08
    SOFTWARE_THERMAL = 0x20
    HARDWARE_THERMAL = 0x40
    POWER_BRAKE = 0x80
    LIMIT = 0xFFFF
    """More than every bit that was ever assigned: beyond it is no mask but noise."""


def _thermal(mask: int) -> bool:
    return bool(mask & (ClockEvent.SOFTWARE_THERMAL | ClockEvent.HARDWARE_THERMAL))


def _brake(mask: int) -> bool:
    # Hardware slowdown is also raised by heat, which is the other flag's.
    slowdown = mask & ClockEvent.HARDWARE_SLOWDOWN and not mask & ClockEvent.HARDWARE_THERMAL
    return bool(mask & ClockEvent.POWER_BRAKE or slowdown)


def _power_cap(mask: int) -> bool:
    return bool(mask & ClockEvent.POWER_CAP)


@dataclass(frozen=True, slots=True)
class Field:
    """One DCGM field that feeds one channel: value times `scale` is in the channel's unit.

    `flag` picks one answer out of a bit mask.  Copies of a field (MIG
    instances, time slices) are folded to the larger one, or to the smaller
    where `lower_is_worse`; they are never added up.  Only the links of a GPU
    (`per_link`) are, since each is another thing.  The driver knows no negative
    number but in `signed` fields.
    """

    channel: str
    names: tuple[str, ...]
    scale: float = 1.0
    flag: Callable[[int], bool] | None = None
    zero_means_none: bool = False
    lower_is_worse: bool = False
    signed: bool = False
    per_link: bool = False


MEGAHERTZ, MILLIJOULE, NANOSECOND, MEBIBYTE, PERCENT = 1e6, 1e-3, 1e-9, float(1 << 20), 1e-2
CLOCK_EVENTS = ("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS")

# fmt: off
FIELDS: tuple[Field, ...] = (
    Field("gpu_temperature_celsius", ("DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_GPU_TEMP_CELSIUS")),
    Field("gpu_memory_temperature_celsius", ("DCGM_FI_DEV_MEMORY_TEMP", "DCGM_FI_DEV_MEMORY_TEMP_CELSIUS"), zero_means_none=True),
    Field(MARGIN, ("DCGM_FI_DEV_GPU_TEMP_LIMIT", "DCGM_FI_DEV_GPU_TEMP_MARGIN_CELSIUS"), lower_is_worse=True, signed=True),
    Field(SLOWDOWN, ("DCGM_FI_DEV_SLOWDOWN_TEMP", "DCGM_FI_DEV_GPU_TEMP_SLOWDOWN_CELSIUS"), zero_means_none=True, lower_is_worse=True),
    Field(SHUTDOWN, ("DCGM_FI_DEV_SHUTDOWN_TEMP", "DCGM_FI_DEV_GPU_TEMP_SHUTDOWN_CELSIUS"), zero_means_none=True, lower_is_worse=True),
    Field("gpu_power_watts", ("DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_BOARD_POWER_WATTS")),
    Field("gpu_power_limit_watts", ("DCGM_FI_DEV_ENFORCED_POWER_LIMIT", "DCGM_FI_DEV_BOARD_POWER_LIMIT_ENFORCED_WATTS")),
    Field("gpu_power_limit_watts", ("DCGM_FI_DEV_POWER_MGMT_LIMIT", "DCGM_FI_DEV_BOARD_POWER_LIMIT_REQUESTED_WATTS")),
    Field("gpu_power_instant_watts", ("DCGM_FI_DEV_POWER_USAGE_INSTANT", "DCGM_FI_DEV_BOARD_POWER_RAW_WATTS")),
    Field(ENERGY, ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",), MILLIJOULE),
    Field("gpu_sm_clock_hertz", ("DCGM_FI_DEV_SM_CLOCK",), MEGAHERTZ),
    Field("gpu_memory_clock_hertz", ("DCGM_FI_DEV_MEM_CLOCK",), MEGAHERTZ),
    # Both names count to 100, whatever the newer one says.
    Field("gpu_utilization_ratio", ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL_RATIO"), PERCENT),
    Field("gpu_memory_copy_utilization_ratio", ("DCGM_FI_DEV_MEM_COPY_UTIL",), PERCENT),
    Field("gpu_engine_active_ratio", ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO")),
    Field("gpu_sm_active_ratio", ("DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_SM_UTIL_RATIO")),
    Field("gpu_sm_occupancy_ratio", ("DCGM_FI_PROF_SM_OCCUPANCY", "DCGM_FI_PROF_SM_OCCUPANCY_RATIO")),
    Field("gpu_tensor_active_ratio", ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_FI_PROF_TENSOR_UTIL_RATIO")),
    Field("gpu_memory_active_ratio", ("DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_PROF_DRAM_UTIL_RATIO")),
    Field(USED, ("DCGM_FI_DEV_FB_USED",), MEBIBYTE),
    Field(TOTAL, ("DCGM_FI_DEV_FB_TOTAL",), MEBIBYTE, zero_means_none=True),
    Field(FREE, ("DCGM_FI_DEV_FB_FREE",), MEBIBYTE, lower_is_worse=True),
    Field(RESERVED, ("DCGM_FI_DEV_FB_RESERVED",), MEBIBYTE),
    Field("gpu_thermal_slowdown_active", CLOCK_EVENTS, flag=_thermal),
    Field("gpu_power_brake_active", CLOCK_EVENTS, flag=_brake),
    Field("gpu_power_cap_active", CLOCK_EVENTS, flag=_power_cap),
    # Nanoseconds, whatever the help text of older lists says.
    Field("gpu_thermal_violation_seconds_total", ("DCGM_FI_DEV_THERMAL_VIOLATION",), NANOSECOND),
    Field("gpu_power_violation_seconds_total", ("DCGM_FI_DEV_POWER_VIOLATION",), NANOSECOND),
    Field("gpu_board_limit_violation_seconds_total", ("DCGM_FI_DEV_BOARD_LIMIT_VIOLATION",), NANOSECOND),
    Field("gpu_reliability_violation_seconds_total", ("DCGM_FI_DEV_RELIABILITY_VIOLATION",), NANOSECOND),
    Field("gpu_software_thermal_slowdown_seconds_total", ("DCGM_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN_NS",), NANOSECOND),
    Field("gpu_hardware_thermal_slowdown_seconds_total", ("DCGM_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN_NS",), NANOSECOND),
    Field("gpu_power_brake_seconds_total", ("DCGM_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN_NS",), NANOSECOND),
    Field("gpu_power_cap_seconds_total", ("DCGM_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP_NS",), NANOSECOND),
    Field("gpu_memory_correctable_errors_total", ("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL",)),
    Field("gpu_memory_uncorrectable_errors_total", ("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",)),
    Field("gpu_memory_correctable_errors_lifetime_total", ("DCGM_FI_DEV_ECC_SBE_AGG_TOTAL",)),
    Field("gpu_memory_uncorrectable_errors_lifetime_total", ("DCGM_FI_DEV_ECC_DBE_AGG_TOTAL",)),
    Field("gpu_sram_error_limit_exceeded", ("DCGM_FI_DEV_THRESHOLD_SRM", "DCGM_FI_DEV_SRAM_EXCEEDED")),
    Field("gpu_memory_unrepairable", ("DCGM_FI_DEV_MEMORY_UNREPAIRABLE_FLAG", "DCGM_FI_DEV_MEMORY_UNREPAIRABLE")),
    Field("gpu_retired_pages_correctable_total", ("DCGM_FI_DEV_RETIRED_SBE", "DCGM_FI_DEV_PAGE_RETIRED_SBE_TOTAL")),
    Field("gpu_retired_pages_uncorrectable_total", ("DCGM_FI_DEV_RETIRED_DBE", "DCGM_FI_DEV_PAGE_RETIRED_DBE_TOTAL")),
    Field("gpu_page_retirement_pending", ("DCGM_FI_DEV_RETIRED_PENDING", "DCGM_FI_DEV_PAGE_RETIRED_PENDING")),
    Field("gpu_remapped_rows_correctable_total", ("DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "DCGM_FI_DEV_ROW_REMAP_CORRECTABLE_TOTAL")),
    Field("gpu_remapped_rows_uncorrectable_total", ("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "DCGM_FI_DEV_ROW_REMAP_UNCORRECTABLE_TOTAL")),
    Field("gpu_row_remap_pending", ("DCGM_FI_DEV_ROW_REMAP_PENDING",)),
    Field("gpu_row_remap_failed", ("DCGM_FI_DEV_ROW_REMAP_FAILURE", "DCGM_FI_DEV_ROW_REMAP_FAILED")),
    Field("gpu_memory_spare_exhausted_banks", ("DCGM_FI_DEV_BANKS_REMAP_ROWS_AVAIL_NONE", "DCGM_FI_DEV_BANK_REMAP_AVAIL_NONE")),
    Field("gpu_memory_spare_low_banks", ("DCGM_FI_DEV_BANKS_REMAP_ROWS_AVAIL_LOW", "DCGM_FI_DEV_BANK_REMAP_AVAIL_LOW")),
    Field("gpu_pcie_replays_total", ("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "DCGM_FI_DEV_PCIE_REPLAY_TOTAL")),
    Field("gpu_pcie_link_width", ("DCGM_FI_DEV_PCIE_LINK_WIDTH",), lower_is_worse=True),
    Field("gpu_pcie_correctable_errors_total", ("DCGM_FI_DEV_PCIE_COUNT_CORRECTABLE_ERRORS", "DCGM_FI_DEV_PCIE_CORRECTABLE_ERROR_TOTAL")),
    Field("gpu_pcie_link_generation", ("DCGM_FI_DEV_PCIE_LINK_GEN",), zero_means_none=True, lower_is_worse=True),
    # Bytes per second in every generation, whatever type the list of the site gives them.
    Field("gpu_pcie_sent_bytes_per_second", ("DCGM_FI_PROF_PCIE_TX_BYTES",)),
    Field("gpu_pcie_received_bytes_per_second", ("DCGM_FI_PROF_PCIE_RX_BYTES",)),
    Field("gpu_nvlink_sent_bytes_per_second", ("DCGM_FI_PROF_NVLINK_TX_BYTES",)),
    Field("gpu_nvlink_received_bytes_per_second", ("DCGM_FI_PROF_NVLINK_RX_BYTES",)),
    # Up to NVLink 4; a row of its own for NVLink 5, which no board has beside it.
    Field("gpu_nvlink_crc_errors_total", ("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_TOTAL")),
    Field("gpu_nvlink_crc_errors_total", ("DCGM_FI_DEV_NVLINK_COUNT_RX_ERRORS", "DCGM_FI_DEV_NVLINK_RX_ERROR_TOTAL")),
    Field("gpu_nvlink_crc_errors_total", ("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_PER_LINK_TOTAL",), per_link=True),
    Field("gpu_nvlink_crc_data_errors_total", ("DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_TOTAL")),
    Field("gpu_nvlink_crc_data_errors_total", ("DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_PER_LINK_TOTAL",), per_link=True),
    Field("gpu_nvlink_replay_errors_total", ("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_TOTAL")),
    Field("gpu_nvlink_replay_errors_total", ("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_PER_LINK_TOTAL",), per_link=True),
    Field("gpu_nvlink_recovery_errors_total", ("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_TOTAL")),
    Field("gpu_nvlink_recovery_errors_total", ("DCGM_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS", "DCGM_FI_DEV_NVLINK_RECOVERY_EVENT_TOTAL")),
    Field("gpu_nvlink_recovery_errors_total", ("DCGM_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_SUCCESSFUL_EVENTS", "DCGM_FI_DEV_NVLINK_RECOVERY_SUCCESSFUL_TOTAL")),
    Field("gpu_nvlink_recovery_errors_total", ("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_PER_LINK_TOTAL",), per_link=True),
    Field("gpu_nvlink_recovery_failures_total", ("DCGM_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS", "DCGM_FI_DEV_NVLINK_RECOVERY_FAILED_TOTAL")),
    Field("gpu_nvlink_symbol_errors_total", ("DCGM_FI_DEV_NVLINK_COUNT_RX_SYMBOL_ERRORS", "DCGM_FI_DEV_NVLINK_RX_SYMBOL_ERROR_TOTAL")),
    Field("gpu_nvlink_effective_errors_total", ("DCGM_FI_DEV_NVLINK_COUNT_EFFECTIVE_ERRORS", "DCGM_FI_DEV_NVLINK_EFFECTIVE_ERROR_TOTAL")),
    Field("gpu_fabric_manager_state", ("DCGM_FI_DEV_FABRIC_MANAGER_STATUS",)),
    Field("gpu_fabric_health", ("DCGM_FI_DEV_FABRIC_HEALTH_SUMMARY",)),
    Field(LATCHED, ("DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_XID_ERROR")),
    # A class, whatever type the list of the site gives it; one sample per health watch.
    Field("gpu_dcgm_health", ("DCGM_EXP_GPU_HEALTH_STATUS",)),
    Field("gpu_recovery_action", ("DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION", "DCGM_FI_DEV_GPU_RECOVERY_ACTION")),
    # Switches have no UUID, and on some boards one name for all of them.
    Field("node_nvswitch_temperature_celsius", ("DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT", "DCGM_FI_DEV_NVSWITCH_TEMP_CELSIUS"), zero_means_none=True),
    Field("node_nvswitch_fatal_code", ("DCGM_FI_DEV_NVSWITCH_FATAL_ERRORS", "DCGM_FI_DEV_SXID_FATAL_ERROR")),
    Field("node_nvswitch_nonfatal_code", ("DCGM_FI_DEV_NVSWITCH_NON_FATAL_ERRORS", "DCGM_FI_DEV_SXID_NON_FATAL_ERROR")),
)
# fmt: on
"""Where several rows feed one channel, the earliest wins for a GPU that has them all."""
