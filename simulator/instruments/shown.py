"""The channels that the simulated sources show: those that a story can touch."""

from __future__ import annotations

from model.schema import BY_NAME, Channel

SHOWN: tuple[str, ...] = (
    "gpu_temperature_celsius",
    "gpu_memory_temperature_celsius",
    "gpu_temperature_margin_celsius",
    "gpu_power_watts",
    "gpu_power_limit_watts",
    "gpu_energy_joules_total",
    "gpu_sm_clock_hertz",
    "gpu_memory_clock_hertz",
    "gpu_utilization_ratio",
    "gpu_engine_active_ratio",
    "gpu_tensor_active_ratio",
    "gpu_memory_active_ratio",
    "gpu_memory_used_bytes",
    "gpu_thermal_slowdown_active",
    "gpu_power_brake_active",
    "gpu_power_cap_active",
    "gpu_thermal_violation_seconds_total",
    "gpu_power_violation_seconds_total",
    "gpu_memory_correctable_errors_total",
    "gpu_memory_uncorrectable_errors_total",
    "gpu_remapped_rows_correctable_total",
    "gpu_remapped_rows_uncorrectable_total",
    "gpu_row_remap_pending",
    "gpu_row_remap_failed",
    "gpu_memory_spare_exhausted_banks",
    "gpu_pcie_replays_total",
    "gpu_pcie_link_width",
    "gpu_nvlink_crc_errors_total",
    "gpu_nvlink_replay_errors_total",
    "gpu_nvlink_recovery_errors_total",
    "gpu_xid_code",
    "gpu_recovery_action",
    "node_inlet_temperature_celsius",
    "node_power_watts",
    "node_fan_speed_rpm",
    "node_coolant_supply_temperature_celsius",
    "node_coolant_return_temperature_celsius",
    "node_coolant_flow_liters_per_minute",
    "node_leak_detected",
    "node_power_supplies_failed",
    "gpu_pcie_link_generation",
    "node_fans_failed",
    "node_board_temperature_celsius",
    "node_coolant_supply_pressure_pascals",
    "node_coolant_return_pressure_pascals",
    "node_humidity_ratio",
    "node_leak_detector_margin_volts",
    "node_bus_voltage_volts",
    "node_power_supply_efficiency_ratio",
    "node_power_supply_temperature_celsius",
    "node_power_supplies_without_input",
    "node_dcgm_scrape_seconds",
    "node_dcgm_failed_reads_total",
)
CHANNELS: tuple[Channel, ...] = tuple(BY_NAME[name] for name in SHOWN)
"""In the order of the arrays."""

OUTLIVE_THE_HOST = frozenset(
    {
        "node_leak_detected",
        "node_leak_detector_margin_volts",
        "node_humidity_ratio",
        "node_power_supplies_failed",
        "node_power_supplies_without_input",
    }
)
"""What a BMC can still say when the host is off; its other sensors then mean nothing."""
