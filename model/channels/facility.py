"""What CDUs, rack PDUs, power shelves and cooling doors say."""

from __future__ import annotations

from model.channels.channel import (
    AMPERES,
    COOLANT,
    COUNT,
    FLAG,
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


def _rack(name: str, unit: str, kind: Kind, bounds: tuple[float, float], text: str) -> Channel:
    absent = "no facility exporter is named, or it does not know this for the node's rack"
    return _facility(name, unit, Level.NODE, kind, bounds, text, absent)


def _plant(name: str, unit: str, kind: Kind, bounds: tuple[float, float], text: str) -> Channel:
    absent = "the equipment does not show it"
    return _facility(name, unit, Level.FACILITY, kind, bounds, text, absent)


def _facility(
    name: str,
    unit: str,
    level: Level,
    kind: Kind,
    bounds: tuple[float, float],
    text: str,
    absent: str,
) -> Channel:
    cause, origin = Cause.FACILITY, Origin.FACILITY
    return Channel(name, unit, level, kind, cause, *bounds, text, absent, origin)


# fmt: off
RACK_CHANNELS: tuple[Channel, ...] = (
    _rack("rack_coolant_supply_temperature_celsius", "celsius", G, COOLANT, "Coolant that the rack's CDU supplies"),
    _rack("rack_coolant_return_temperature_celsius", "celsius", G, COOLANT, "Coolant that comes back to the rack's CDU"),
    _rack("rack_coolant_flow_liters_per_minute", "liters_per_minute", G, (0, 20_000), "Coolant flow of the rack's CDU"),
    _rack("rack_coolant_supply_pressure_pascals", "pascals", G, PASCALS, "Pressure of the coolant supplied"),
    _rack("rack_coolant_pressure_drop_pascals", "pascals", G, PASCALS, "Difference between supply and return pressure"),
    _rack("rack_coolant_heat_watts", "watts", G, (0, 1e7), "Heat that the CDU removes, from flow and temperatures"),
    _rack("rack_water_supply_temperature_celsius", "celsius", G, COOLANT, "Facility water that reaches the CDU"),
    _rack("rack_pump_speed_ratio", "ratio", G, RATIO, "Fastest pump of the rack's CDU"),
    _rack("rack_reservoir_level_ratio", "ratio", G, RATIO, "Lowest reservoir of the rack's CDU"),
    _rack("rack_filter_pressure_drop_pascals", "pascals", G, PASCALS, "Largest pressure drop over a filter"),
    _rack("rack_dew_point_margin_celsius", "celsius", G, (-60, 110), "Coolant supply above the dew point; lower is worse"),
    _rack("rack_leak_detected", "", F, FLAG, "A leak detector of the rack's equipment reads warning or critical"),
    _rack("rack_humidity_ratio", "ratio", G, RATIO, "Relative humidity at the rack"),
    _rack("rack_power_watts", "watts", G, (0, 1e7), "Power that the rack's PDUs or shelves deliver"),
    _rack("rack_power_supplies_failed", "", G, (0, 4_096), "Power supplies of the rack's shelves whose health is critical"),
    _rack("rack_branch_load_ratio", "ratio", G, (0, 10), "Highest current of a branch over its rating"),
    _rack("rack_phase_unbalance_ratio", "ratio", G, (0, 10), "Unbalance of the rack's phases"),
    _rack("rack_breakers_tripped", "", G, (0, 4_096), "Breakers of the rack that are not closed"),
)
"""What a node learns of the equipment of its rack; where there are several, the worst."""

FACILITY_CHANNELS: tuple[Channel, ...] = (
    _plant("facility_coolant_supply_temperature_celsius", "celsius", G, COOLANT, "Coolant to the racks"),
    _plant("facility_coolant_return_temperature_celsius", "celsius", G, COOLANT, "Coolant from the racks"),
    _plant("facility_coolant_flow_liters_per_minute", "liters_per_minute", G, (0, 20_000), "Coolant flow to the racks"),
    _plant("facility_coolant_supply_pressure_pascals", "pascals", G, PASCALS, "Pressure of the coolant to the racks"),
    _plant("facility_coolant_return_pressure_pascals", "pascals", G, PASCALS, "Pressure of the coolant from the racks"),
    _plant("facility_coolant_pressure_drop_pascals", "pascals", G, PASCALS, "Difference of both pressures, whichever the equipment calls supply"),
    _plant("facility_coolant_heat_watts", "watts", G, (0, 1e8), "Heat removed, from flow, density, heat capacity and both temperatures"),
    _plant("facility_water_supply_temperature_celsius", "celsius", G, COOLANT, "Facility water to the equipment"),
    _plant("facility_water_return_temperature_celsius", "celsius", G, COOLANT, "Facility water from the equipment"),
    _plant("facility_water_flow_liters_per_minute", "liters_per_minute", G, (0, 50_000), "Facility water flow"),
    _plant("facility_water_supply_pressure_pascals", "pascals", G, PASCALS, "Pressure of the facility water supplied"),
    _plant("facility_water_return_pressure_pascals", "pascals", G, PASCALS, "Pressure of the facility water returned"),
    _plant("facility_water_heat_watts", "watts", G, (0, 1e8), "Heat given to the facility water, from flow and both temperatures"),
    _plant("facility_water_valve_ratio", "ratio", G, RATIO, "Opening of the facility water valve"),
    _plant("facility_heat_residual_ratio", "ratio", G, (-10, 10), "Reported heat less the recomputed one, over the larger: 0 is consistent"),
    _plant("facility_temperature_rise_residual_celsius", "celsius", G, (-200, 200), "Reported temperature rise less the recomputed one: 0 is consistent"),
    _plant("facility_pump_speed_ratio", "ratio", G, RATIO, "Fastest pump"),
    _plant("facility_pump_speed_rpm", "rpm", G, (0, 60_000), "Fastest pump"),
    _plant("facility_pumps_failed", "", G, (0, 256), "Pumps whose health is critical"),
    _plant("facility_reservoir_level_ratio", "ratio", G, RATIO, "Lowest reservoir"),
    _plant("facility_reservoir_pressure_pascals", "pascals", G, PASCALS, "Lowest pressure in a reservoir"),
    _plant("facility_filter_pressure_drop_pascals", "pascals", G, PASCALS, "Largest pressure drop over a filter"),
    _plant("facility_filter_service_ratio", "ratio", G, (0, 100), "Service hours of the oldest filter over its rating"),
    _plant("facility_leak_detected", "", F, FLAG, "A leak detector that is enabled reads warning or critical"),
    _plant("facility_leak_detectors_unreadable", "", G, (0, 1_024), "Leak detectors that are enabled and cannot be read"),
    _plant("facility_ambient_temperature_celsius", "celsius", G, TEMPERATURE, "Air at the equipment"),
    _plant("facility_air_supply_temperature_celsius", "celsius", G, TEMPERATURE, "Air that a door or fan coil supplies"),
    _plant("facility_air_return_temperature_celsius", "celsius", G, TEMPERATURE, "Air that a door or fan coil takes in"),
    _plant("facility_humidity_ratio", "ratio", G, RATIO, "Relative humidity at the equipment"),
    _plant("facility_dew_point_celsius", "celsius", G, (-60, 60), "Dew point at the equipment"),
    _plant("facility_dew_point_margin_celsius", "celsius", G, (-60, 110), "Coolant supply above the dew point; lower is worse"),
    _plant("facility_fan_speed_ratio", "ratio", G, RATIO, "Slowest fan that ever turned, as a share of its full speed"),
    _plant("facility_fan_speed_rpm", "rpm", G, (0, 60_000), "Slowest fan that ever turned"),
    _plant("facility_power_watts", "watts", G, (0, 1e8), "Power through the equipment"),
    _plant("facility_energy_joules_total", "joules", C, COUNT, "Energy through the equipment"),
    _plant("facility_power_load_ratio", "ratio", G, (0, 10), "Load over rating"),
    _plant("facility_power_factor_ratio", "ratio", G, RATIO, "Power factor"),
    _plant("facility_input_voltage_volts", "volts", G, (0, 100_000), "Lowest input voltage of a live phase"),
    _plant("facility_input_current_amperes", "amperes", G, AMPERES, "Highest current of a phase"),
    _plant("facility_neutral_current_amperes", "amperes", G, AMPERES, "Current of the neutral; rises with unbalance"),
    _plant("facility_frequency_hertz", "hertz", G, (0, 1_000), "Mains frequency"),
    _plant("facility_phase_unbalance_ratio", "ratio", G, (0, 10), "Unbalance of the phases"),
    _plant("facility_branch_load_ratio", "ratio", G, (0, 10), "Highest current of a branch over its rating"),
    _plant("facility_breakers_tripped", "", G, (0, 4_096), "Breakers that are not closed"),
    _plant("facility_output_watts", "watts", G, (0, 1e8), "Output power of all supplies"),
    _plant("facility_output_voltage_volts", "volts", G, (0, 10_000), "Lowest output voltage of a supply that delivers"),
    _plant("facility_output_current_amperes", "amperes", G, (0, 100_000), "Output current of all supplies"),
    _plant("facility_supply_efficiency_ratio", "ratio", G, RATIO, "Output over input of the worst supply under load"),
    _plant("facility_supply_temperature_celsius", "celsius", G, TEMPERATURE, "Hottest supply"),
    _plant("facility_power_supplies_failed", "", G, (0, 4_096), "Supplies whose health is critical"),
    _plant("facility_power_supplies_standby", "", G, (0, 4_096), "Supplies at rest on purpose; not a fault"),
)
"""One piece of equipment on the facility exporter's page.

`coolant` is the loop to the racks (Redfish: secondary), `water` the one to the
building (primary).
"""
# fmt: on
