"""What is known of the node as a whole."""

from __future__ import annotations

from model.channels.channel import (
    AMPERES,
    COUNT,
    FLAG,
    MARGIN,
    PASCALS,
    RATIO,
    TEMPERATURE,
    C,
    Cause,
    Channel,
    F,
    G,
    Kind,
    Level,
    Origin,
)

THERMAL, POWER, LINK = Cause.THERMAL, Cause.POWER, Cause.INTERCONNECT
DEVICE, FACILITY = Cause.DEVICE, Cause.FACILITY
UNSHOWN = "the BMC shows no such sensor"
UNMARKED = "the sensors carry no threshold"


def _node(
    name: str,
    unit: str,
    kind: Kind,
    cause: Cause,
    bounds: tuple[float, float],
    text: str,
    absent: str,
) -> Channel:
    return Channel(name, unit, Level.NODE, kind, cause, *bounds, text, absent, Origin.REDFISH)


def _switch(name: str, kind: Kind, cause: Cause, bounds: tuple[float, float], text: str) -> Channel:
    absent = "no NVSwitch in the node, or not in dcgm-exporter's counter list"
    unit = "celsius" if name.endswith("_celsius") else ""
    return Channel(name, unit, Level.NODE, kind, cause, *bounds, text, absent, Origin.DCGM)


def _watch(name: str, unit: str, kind: Kind, text: str, absent: str) -> Channel:
    origin = Origin.EXPORTER
    return Channel(name, unit, Level.NODE, kind, DEVICE, *COUNT, text, absent, origin)


# fmt: off
NODE_CHANNELS: tuple[Channel, ...] = (
    _node("node_inlet_temperature_celsius", "celsius", G, FACILITY, (-20, 90), "Air at the node's inlet", "the BMC shows no such sensor"),
    _node("node_power_watts", "watts", G, POWER, (1, 100_000), "Power drawn by the node", "the BMC shows no such sensor"),
    _node("node_fan_speed_rpm", "rpm", G, THERMAL, (0, 60_000), "Slowest fan that ever turned", "liquid-cooled, or the BMC shows no fans"),
    _node("node_coolant_supply_temperature_celsius", "celsius", G, FACILITY, (0, 90), "Coolant entering the node", "air-cooled, or no sensor"),
    _node("node_coolant_return_temperature_celsius", "celsius", G, FACILITY, (0, 110), "Coolant leaving the node", "air-cooled, or no sensor"),
    _node("node_coolant_flow_liters_per_minute", "liters_per_minute", G, FACILITY, (0, 500), "Coolant flow through the node", "air-cooled, or no sensor"),
    _node("node_leak_detected", "", F, FACILITY, FLAG, "A leak detector that is enabled reads warning or critical", "no detector, or none readable: unknown, not dry"),
    _node("node_power_supplies_failed", "", G, POWER, (0, 64), "Power supplies whose health is critical", "the BMC shows no power supplies"),
    _node("node_outlet_temperature_celsius", "celsius", G, THERMAL, TEMPERATURE, "Hottest air at the node's outlet", UNSHOWN),
    _node("node_inlet_margin_celsius", "celsius", G, FACILITY, MARGIN, "Distance of the inlet to its critical threshold; lower is worse", UNMARKED),
    _node("node_temperature_margin_celsius", "celsius", G, THERMAL, MARGIN, "Smallest distance of any temperature to its own critical threshold; lower is worse", UNMARKED),
    _node("node_cpu_temperature_celsius", "celsius", G, THERMAL, TEMPERATURE, "Hottest processor", UNSHOWN),
    _node("node_cpu_margin_celsius", "celsius", G, THERMAL, MARGIN, "Smallest headroom of a processor; lower is worse", UNMARKED),
    _node("node_dimm_temperature_celsius", "celsius", G, THERMAL, TEMPERATURE, "Hottest memory module", UNSHOWN),
    _node("node_nic_temperature_celsius", "celsius", G, THERMAL, TEMPERATURE, "Hottest network adapter", UNSHOWN),
    _node("node_board_temperature_celsius", "celsius", G, THERMAL, TEMPERATURE, "Hottest place of the boards: regulators, retimers, hot-swap controllers", UNSHOWN),
    _node("node_power_supply_temperature_celsius", "celsius", G, POWER, TEMPERATURE, "Hottest power supply", UNSHOWN),
    _node("node_power_limit_watts", "watts", G, POWER, (1, 100_000), "Power limit of the node", "no limit is set, or the BMC shows none"),
    _node("node_energy_joules_total", "joules", C, POWER, COUNT, "Energy drawn by the node", UNSHOWN),
    _node("node_power_supply_input_watts", "watts", G, POWER, (0, 100_000), "Input power of all power supplies", UNSHOWN),
    _node("node_power_supply_output_watts", "watts", G, POWER, (0, 100_000), "Output power of all power supplies", UNSHOWN),
    _node("node_power_supply_efficiency_ratio", "ratio", G, POWER, RATIO, "Output over input of the worst power supply under load; falls with age", UNSHOWN),
    _node("node_power_supplies_without_input", "", G, POWER, (0, 64), "Power supplies whose feed is gone", "the BMC shows no power supplies"),
    _node("node_input_voltage_volts", "volts", G, POWER, (0, 1_000), "Lowest input voltage of a power supply that has a feed", UNSHOWN),
    _node("node_input_current_amperes", "amperes", G, POWER, AMPERES, "Input current of all power supplies", UNSHOWN),
    _node("node_bus_voltage_volts", "volts", G, POWER, (0, 1_000), "Lowest voltage of the bus that feeds the boards", UNSHOWN),
    _node("node_bus_current_amperes", "amperes", G, POWER, AMPERES, "Current into the boards", UNSHOWN),
    _node("node_fan_speed_ratio", "ratio", G, THERMAL, RATIO, "Slowest fan that ever turned, as a share of its full speed", "liquid-cooled, or the BMC gives rpm alone"),
    _node("node_fans_failed", "", G, THERMAL, (0, 256), "Fans whose health is critical, or that turned and stand still", "liquid-cooled, or the BMC shows no fans"),
    _node("node_pump_speed_rpm", "rpm", G, THERMAL, (0, 60_000), "Slowest pump that ever turned", "no pump in the node"),
    _node("node_pump_speed_ratio", "ratio", G, THERMAL, RATIO, "Slowest pump that ever turned, as a share of its full speed", "no pump in the node"),
    _node("node_coolant_supply_pressure_pascals", "pascals", G, FACILITY, PASCALS, "Coolant pressure where it enters", "air-cooled, or no sensor"),
    _node("node_coolant_return_pressure_pascals", "pascals", G, FACILITY, PASCALS, "Coolant pressure where it leaves", "air-cooled, or no sensor"),
    _node("node_leak_detectors_unreadable", "", G, FACILITY, (0, 256), "Leak detectors that are enabled and cannot be read: unknown is not dry", "no detector"),
    _node("node_leak_detector_margin_volts", "volts", G, FACILITY, (-60, 60), "Smallest distance of a leak detector's voltage to a critical threshold; lower is worse", "no analogue detector, or no threshold"),
    _node("node_humidity_ratio", "ratio", G, FACILITY, RATIO, "Relative humidity at the node", UNSHOWN),
    _node("node_dew_point_celsius", "celsius", G, FACILITY, (-60, 60), "Dew point at the node", UNSHOWN),
    _node("node_dew_point_margin_celsius", "celsius", G, FACILITY, (-60, 110), "Coolant supply above the dew point; lower is worse", "one of the two is not known"),
    _node("node_processors_failed", "", G, DEVICE, (0, 1_024), "Processors, GPUs included, whose health is critical", "the BMC shows no processors"),
    _node("node_processors_warning", "", G, DEVICE, (0, 1_024), "Processors, GPUs included, whose health is warning", "the BMC shows no processors"),
    _node("node_gpus_in_bmc", "", G, DEVICE, (0, 256), "GPUs that the BMC lists as enabled: a second witness for one that left DCGM", "the BMC shows no GPUs"),
    _switch("node_nvswitch_temperature_celsius", G, THERMAL, TEMPERATURE, "Hottest NVSwitch"),
    _switch("node_nvswitch_fatal_code", G, LINK, (0, 1e6), "Last fatal SXID of any NVSwitch, latched; 0 is none"),
    _switch("node_nvswitch_nonfatal_code", G, LINK, (0, 1e6), "Last non-fatal SXID of any NVSwitch, latched; 0 is none"),
)
"""What the BMC says of its node, and dcgm-exporter of the node's switches."""

WATCH_CHANNELS: tuple[Channel, ...] = (
    _watch("node_gpus_missing", "", G, "GPUs that must report and do not, while the source answers", "GPUs cannot be counted, or nobody knows how many there should be"),
    _watch("node_dcgm_scrape_seconds", "seconds", G, "How long the last read of dcgm-exporter took; DCGM blocks under error storms", "not asked yet, or no such source"),
    _watch("node_dcgm_age_seconds", "seconds", G, "Age of the last page with readings", "never read, or no such source"),
    _watch("node_dcgm_failed_reads_total", "", C, "Reads of dcgm-exporter that gave nothing", "no such source"),
    _watch("node_dcgm_channels_lost", "", G, "Channels that dcgm-exporter delivered once and does not any more", "no page read yet"),
    _watch("node_bmc_read_seconds", "seconds", G, "How long the last read of the BMC took", "not asked yet, or no such source"),
    _watch("node_bmc_age_seconds", "seconds", G, "Age of the BMC's last answer with readings", "never read, or no such source"),
    _watch("node_bmc_failed_reads_total", "", C, "Reads of the BMC that gave nothing", "no such source"),
)
"""What the exporter sees of its sources; it alone can tell a silence from a zero."""
# fmt: on
