"""What dcgm-exporter says of each GPU."""

from __future__ import annotations

from model.channels.channel import (
    COUNT,
    FLAG,
    RATIO,
    C,
    Cause,
    Channel,
    F,
    G,
    Kind,
    Level,
    Origin,
)

THERMAL, MEMORY, POWER = Cause.THERMAL, Cause.MEMORY, Cause.POWER
LINK, DEVICE = Cause.INTERCONNECT, Cause.DEVICE
UNLISTED = "not in the exporter's counter list, or not supported by the board"


def _gpu(
    name: str,
    unit: str,
    kind: Kind,
    cause: Cause,
    bounds: tuple[float, float],
    text: str,
    absent: str,
) -> Channel:
    return Channel(name, unit, Level.GPU, kind, cause, *bounds, text, absent, Origin.DCGM)


# fmt: off
GPU_CHANNELS: tuple[Channel, ...] = (
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
    _gpu("gpu_row_remap_pending", "", F, MEMORY, FLAG, "A remap waits for the next reset", UNLISTED),
    _gpu("gpu_row_remap_failed", "", F, MEMORY, FLAG, "A remap failed: replacement path", "before Ampere, or MIG"),
    _gpu("gpu_memory_spare_exhausted_banks", "", G, MEMORY, (0, 1e6), "Memory banks without a spare row", UNLISTED),
    _gpu("gpu_pcie_replays_total", "", C, LINK, COUNT, "PCIe packets sent again", UNLISTED),
    _gpu("gpu_pcie_link_width", "", G, LINK, (0, 64), "PCIe lanes in use; must not fall", UNLISTED),
    _gpu("gpu_nvlink_crc_errors_total", "", C, LINK, COUNT, "NVLink CRC or receive errors, all links", "no NVLink, or not in the counter list"),
    _gpu("gpu_nvlink_replay_errors_total", "", C, LINK, COUNT, "NVLink replays, all links", "no NVLink, or not in the counter list"),
    _gpu("gpu_nvlink_recovery_errors_total", "", C, LINK, COUNT, "NVLink recoveries, all links", "no NVLink, or not in the counter list"),
    _gpu("gpu_xid_code", "", G, DEVICE, (0, 1_000), "Last XID code, latched until the source restarts; 0 and absent both mean none seen", "no XID seen since 4.8.1"),
    _gpu("gpu_recovery_action", "", G, DEVICE, (0, 4), "The driver's own verdict: 0 none, 1 GPU reset, 2 reboot, 3 drain P2P, 4 drain and reset", UNLISTED),
    _gpu("gpu_sm_active_ratio", "ratio", G, DEVICE, RATIO, "Multiprocessors with a warp", "profiling not available"),
    _gpu("gpu_sm_occupancy_ratio", "ratio", G, DEVICE, RATIO, "Resident warps of the possible ones", "profiling not available"),
    _gpu("gpu_memory_copy_utilization_ratio", "ratio", G, DEVICE, RATIO, "Share of time in which memory was read or written; says nothing of how full it is", "absent under MIG"),
    _gpu("gpu_memory_total_bytes", "bytes", G, DEVICE, (1, 4e12), "Framebuffer in all, reserved memory included", "unified memory has none, sometimes absent under MIG"),
    _gpu("gpu_power_instant_watts", "watts", G, POWER, (0, 3_000), "Board power, not averaged", UNLISTED),
    _gpu("gpu_shutdown_margin_celsius", "celsius", G, THERMAL, (-30, 150), "Distance to thermal shutdown; lower is worse", UNLISTED),
    _gpu("gpu_software_thermal_slowdown_seconds_total", "seconds", C, THERMAL, COUNT, "Time in which the driver held clocks down because of heat", UNLISTED),
    _gpu("gpu_hardware_thermal_slowdown_seconds_total", "seconds", C, THERMAL, COUNT, "Time in which the board itself held clocks down because of heat", UNLISTED),
    _gpu("gpu_power_brake_seconds_total", "seconds", C, POWER, COUNT, "Time under the external power brake", UNLISTED),
    _gpu("gpu_power_cap_seconds_total", "seconds", C, POWER, COUNT, "Time under the power limit; grows on any capped GPU", UNLISTED),
    _gpu("gpu_board_limit_violation_seconds_total", "seconds", C, POWER, COUNT, "Time spent below requested clocks because of a board limit", UNLISTED),
    _gpu("gpu_reliability_violation_seconds_total", "seconds", C, DEVICE, COUNT, "Time spent below requested clocks to protect the part", UNLISTED),
    _gpu("gpu_memory_correctable_errors_lifetime_total", "", C, MEMORY, COUNT, "Single-bit errors over the life of the board; survives driver loads", "ECC off, unsupported, or not in the counter list"),
    _gpu("gpu_memory_uncorrectable_errors_lifetime_total", "", C, MEMORY, COUNT, "Double-bit errors over the life of the board; survives driver loads", "ECC off, unsupported, or not in the counter list"),
    _gpu("gpu_sram_error_limit_exceeded", "", F, MEMORY, FLAG, "SRAM error limit passed: field diagnostic", UNLISTED),
    _gpu("gpu_memory_unrepairable", "", F, MEMORY, FLAG, "Memory that no spare can repair: replacement path", "newest boards only"),
    _gpu("gpu_memory_spare_low_banks", "", G, MEMORY, (0, 1e6), "Memory banks with few spare rows left", UNLISTED),
    _gpu("gpu_retired_pages_correctable_total", "", C, MEMORY, COUNT, "Pages retired after single-bit errors", "Ampere and later remap rows instead"),
    _gpu("gpu_retired_pages_uncorrectable_total", "", C, MEMORY, COUNT, "Pages retired after double-bit errors", "Ampere and later remap rows instead"),
    _gpu("gpu_page_retirement_pending", "", F, MEMORY, FLAG, "A page retirement waits for the next reset", "Ampere and later remap rows instead"),
    _gpu("gpu_pcie_correctable_errors_total", "", C, LINK, COUNT, "Correctable PCIe errors", "newer boards only"),
    _gpu("gpu_pcie_link_generation", "", G, LINK, (1, 16), "PCIe generation in use; falls when idle", UNLISTED),
    _gpu("gpu_pcie_sent_bytes_per_second", "bytes_per_second", G, LINK, (0, 1e13), "PCIe bytes sent; a rate, though older lists type it as a counter", "profiling not available"),
    _gpu("gpu_pcie_received_bytes_per_second", "bytes_per_second", G, LINK, (0, 1e13), "PCIe bytes received; a rate, though older lists type it as a counter", "profiling not available"),
    _gpu("gpu_nvlink_sent_bytes_per_second", "bytes_per_second", G, LINK, (0, 1e13), "NVLink bytes sent", "no NVLink, or profiling not available"),
    _gpu("gpu_nvlink_received_bytes_per_second", "bytes_per_second", G, LINK, (0, 1e13), "NVLink bytes received", "no NVLink, or profiling not available"),
    _gpu("gpu_nvlink_crc_data_errors_total", "", C, LINK, COUNT, "NVLink CRC errors in data, all links", "no NVLink up to the fourth generation, or not in the counter list"),
    _gpu("gpu_nvlink_recovery_failures_total", "", C, LINK, COUNT, "NVLink recoveries that failed: the link is down", "before NVLink 5, or not in the counter list"),
    _gpu("gpu_nvlink_symbol_errors_total", "", C, LINK, COUNT, "NVLink symbol errors, all links", "before NVLink 5, or not in the counter list"),
    _gpu("gpu_nvlink_effective_errors_total", "", C, LINK, COUNT, "NVLink errors left after correction, all links", "before NVLink 5, or not in the counter list"),
    _gpu("gpu_fabric_manager_state", "", G, LINK, (0, 6), "0 not supported, 1 not started, 2 in progress, 3 success, 4 failure, 5 unrecognised, 6 driver too old", "no NVSwitch fabric, or not in the counter list"),
    _gpu("gpu_fabric_health", "", G, LINK, (0, 3), "0 not supported, 1 healthy, 2 unhealthy, 3 limited capacity", "no NVSwitch fabric, or not in the counter list"),
    _gpu("gpu_dcgm_health", "", G, DEVICE, (0, 20), "Worst DCGM health watch: 0 pass, 10 warn, 20 fail; latched by DCGM", UNLISTED),
    _gpu("gpu_hardware_xid_events_total", "", C, DEVICE, COUNT, "XID events that ask for a reset, a reboot or a repair, since the exporter started", "no whole page read yet"),
    _gpu("gpu_precursor_xid_events_total", "", C, DEVICE, COUNT, "XID events that may come before a failure, since the exporter started", "no whole page read yet"),
    _gpu("gpu_application_xid_events_total", "", C, DEVICE, COUNT, "XID events of application or driver software, since the exporter started", "no whole page read yet"),
    _gpu("gpu_unchanged_seconds", "seconds", G, DEVICE, (0, 9e9), "How long the energy counter has stood still: the age of a copy that claims to be new", "no energy counter"),
)
# fmt: on
