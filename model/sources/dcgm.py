"""How dcgm-exporter spells our channels, in both of its name generations.

One table and pure look-ups.  Names up to DCGM 4.5 come first in a row, then the
names of DCGM 4.6; a list written by a site may use either, and collectors in
between may lower the case or append `_total`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from model import schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SLOWDOWN = "gpu_slowdown_temperature_celsius"
"""A board constant, not a channel: only the margin is made from it."""
MARGIN = "gpu_temperature_margin_celsius"
TEMPERATURE = "gpu_temperature_celsius"
LATCHED = "gpu_xid_code"
"""The one channel that outlives its GPU on the page."""

LEGACY_HINT = (
    "names of dcgm-exporter 1.x (dcgm_gpu_temp, label uuid), expected DCGM_FI_DEV_*: "
    "run dcgm-exporter 2.0 or later"
)
RATIO_ROUNDING = 1.001
"""A ratio up to here is rounding of the source and reads as 1."""

INT32_BLANKS = frozenset(range(2_147_483_632, 2_147_483_636))
FP64_BLANKS = frozenset(range(140_737_488_355_328, 140_737_488_355_332))
INT64_BLANKS = (9.2e18, float(2**63))
"""A band: exact int64 blanks lose their last digits as floats, and no counter gets this far."""


class Unusable(StrEnum):
    """Why a number on the page is not a reading."""

    SENTINEL = "sentinel"
    ZERO_MEANS_NONE = "zero_means_none"
    NOT_FINITE = "not_finite"
    OUT_OF_RANGE = "out_of_range"


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
    where `lower_is_worse`; they are never added up.  The driver knows no
    negative number but in `signed` fields.
    """

    channel: str
    names: tuple[str, ...]
    scale: float = 1.0
    flag: Callable[[int], bool] | None = None
    zero_means_none: bool = False
    lower_is_worse: bool = False
    signed: bool = False


MEGAHERTZ, MILLIJOULE, NANOSECOND, MEBIBYTE, PERCENT = 1e6, 1e-3, 1e-9, float(1 << 20), 1e-2
CLOCK_EVENTS = ("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS")

# fmt: off
FIELDS: tuple[Field, ...] = (
    Field("gpu_temperature_celsius", ("DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_GPU_TEMP_CELSIUS")),
    Field("gpu_memory_temperature_celsius", ("DCGM_FI_DEV_MEMORY_TEMP", "DCGM_FI_DEV_MEMORY_TEMP_CELSIUS"), zero_means_none=True),
    Field(MARGIN, ("DCGM_FI_DEV_GPU_TEMP_LIMIT", "DCGM_FI_DEV_GPU_TEMP_MARGIN_CELSIUS"), lower_is_worse=True, signed=True),
    Field(SLOWDOWN, ("DCGM_FI_DEV_SLOWDOWN_TEMP", "DCGM_FI_DEV_GPU_TEMP_SLOWDOWN_CELSIUS"), zero_means_none=True, lower_is_worse=True),
    Field("gpu_power_watts", ("DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_BOARD_POWER_WATTS")),
    Field("gpu_power_limit_watts", ("DCGM_FI_DEV_ENFORCED_POWER_LIMIT", "DCGM_FI_DEV_BOARD_POWER_LIMIT_ENFORCED_WATTS")),
    Field("gpu_power_limit_watts", ("DCGM_FI_DEV_POWER_MGMT_LIMIT", "DCGM_FI_DEV_BOARD_POWER_LIMIT_REQUESTED_WATTS")),
    Field("gpu_energy_joules_total", ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",), MILLIJOULE),
    Field("gpu_sm_clock_hertz", ("DCGM_FI_DEV_SM_CLOCK",), MEGAHERTZ),
    Field("gpu_memory_clock_hertz", ("DCGM_FI_DEV_MEM_CLOCK",), MEGAHERTZ),
    # Both names count to 100, whatever the newer one says.
    Field("gpu_utilization_ratio", ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL_RATIO"), PERCENT),
    Field("gpu_engine_active_ratio", ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO")),
    Field("gpu_tensor_active_ratio", ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_FI_PROF_TENSOR_UTIL_RATIO")),
    Field("gpu_memory_active_ratio", ("DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_PROF_DRAM_UTIL_RATIO")),
    Field("gpu_memory_used_bytes", ("DCGM_FI_DEV_FB_USED",), MEBIBYTE),
    Field("gpu_thermal_slowdown_active", CLOCK_EVENTS, flag=_thermal),
    Field("gpu_power_brake_active", CLOCK_EVENTS, flag=_brake),
    Field("gpu_power_cap_active", CLOCK_EVENTS, flag=_power_cap),
    # Nanoseconds, whatever the help text of older lists says.
    Field("gpu_thermal_violation_seconds_total", ("DCGM_FI_DEV_THERMAL_VIOLATION",), NANOSECOND),
    Field("gpu_power_violation_seconds_total", ("DCGM_FI_DEV_POWER_VIOLATION",), NANOSECOND),
    Field("gpu_memory_correctable_errors_total", ("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL",)),
    Field("gpu_memory_uncorrectable_errors_total", ("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",)),
    Field("gpu_remapped_rows_correctable_total", ("DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "DCGM_FI_DEV_ROW_REMAP_CORRECTABLE_TOTAL")),
    Field("gpu_remapped_rows_uncorrectable_total", ("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "DCGM_FI_DEV_ROW_REMAP_UNCORRECTABLE_TOTAL")),
    Field("gpu_row_remap_pending", ("DCGM_FI_DEV_ROW_REMAP_PENDING",)),
    Field("gpu_row_remap_failed", ("DCGM_FI_DEV_ROW_REMAP_FAILURE", "DCGM_FI_DEV_ROW_REMAP_FAILED")),
    Field("gpu_memory_spare_exhausted_banks", ("DCGM_FI_DEV_BANKS_REMAP_ROWS_AVAIL_NONE", "DCGM_FI_DEV_BANK_REMAP_AVAIL_NONE")),
    Field("gpu_pcie_replays_total", ("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "DCGM_FI_DEV_PCIE_REPLAY_TOTAL")),
    Field("gpu_pcie_link_width", ("DCGM_FI_DEV_PCIE_LINK_WIDTH",), lower_is_worse=True),
    # Up to NVLink 4; a row of its own for NVLink 5, which no board has beside it.
    Field("gpu_nvlink_crc_errors_total", ("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_TOTAL")),
    Field("gpu_nvlink_crc_errors_total", ("DCGM_FI_DEV_NVLINK_COUNT_RX_ERRORS", "DCGM_FI_DEV_NVLINK_RX_ERROR_TOTAL")),
    Field("gpu_nvlink_replay_errors_total", ("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_TOTAL")),
    Field("gpu_nvlink_recovery_errors_total", ("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_TOTAL")),
    Field("gpu_nvlink_recovery_errors_total", ("DCGM_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS", "DCGM_FI_DEV_NVLINK_RECOVERY_EVENT_TOTAL")),
    Field(LATCHED, ("DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_XID_ERROR")),
    Field("gpu_recovery_action", ("DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION", "DCGM_FI_DEV_GPU_RECOVERY_ACTION")),
)
# fmt: on
"""Where two rows feed one channel, the earlier one wins for a GPU that has both."""

CHANNELS: tuple[str, ...] = tuple(
    dict.fromkeys(field.channel for field in FIELDS if field.channel in schema.BY_NAME)
)
"""Every channel that dcgm-exporter can deliver."""

_BY_NAME: dict[str, tuple[Field, ...]] = {
    name: tuple(field for field in FIELDS if name in field.names)
    for name in {name for field in FIELDS for name in field.names}
}
_SLOWDOWN_RANGE = (1.0, 130.0)


def fields(name: str) -> tuple[Field, ...]:
    """Return the rows that a metric name feeds: several for the clock mask, none if unknown."""
    known = _BY_NAME.get(name)
    if known is not None:
        return known
    upper = name.upper()
    return _BY_NAME.get(upper) or _BY_NAME.get(upper.removesuffix("_TOTAL"), ())


def is_legacy(name: str) -> bool:
    """Tell whether a metric name is one of dcgm-exporter 1.x."""
    return name.startswith("dcgm_") and not name.startswith(("dcgm_fi_", "dcgm_exp_"))


def is_sentinel(value: float) -> bool:
    """Tell whether a number means blank, not found, not supported or not permitted.

    32-bit blanks are matched exactly: real counters pass them on their way up.
    """
    low, high = INT64_BLANKS
    return value in INT32_BLANKS or value in FP64_BLANKS or low <= value <= high


def convert(field: Field, value: float) -> float | Unusable:
    """Turn a number of the page into the channel's unit, or say why it is not a reading."""
    if not math.isfinite(value):
        return Unusable.NOT_FINITE
    if is_sentinel(value):
        return Unusable.SENTINEL
    if value == 0 and field.zero_means_none:
        return Unusable.ZERO_MEANS_NONE
    if value < 0 and not field.signed:
        return Unusable.OUT_OF_RANGE
    if field.flag is not None:
        return _answer(field.flag, value)
    return _bounded(field.channel, value * field.scale)


def margin(values: Mapping[str, float]) -> float | None:
    """Return the distance to slowdown from board constant and temperature, where both are known."""
    if SLOWDOWN not in values or TEMPERATURE not in values:
        return None
    return values[SLOWDOWN] - values[TEMPERATURE]


def _answer(flag: Callable[[int], bool], value: float) -> float | Unusable:
    if value != int(value) or not 0 <= value <= ClockEvent.LIMIT:
        return Unusable.OUT_OF_RANGE
    return float(flag(int(value)))


def _bounded(name: str, value: float) -> float | Unusable:
    if name == SLOWDOWN:
        low, high = _SLOWDOWN_RANGE
        return value if low <= value <= high else Unusable.OUT_OF_RANGE
    channel = schema.BY_NAME[name]
    if channel.unit == "ratio" and 1 < value <= RATIO_ROUNDING:
        return 1.0
    return value if channel.plausible(value) else Unusable.OUT_OF_RANGE
