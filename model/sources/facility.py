"""How facility equipment spells its channels, and which of them speak for a node's rack.

Pure tables.  CoolantConnector, Pump, Circuit and their like carry the unit in
the name of a property, so the property decides; power shelves and switch trays
that are only a chassis are known by the ids of their sensors.  Channels are
named without `facility_`.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from model.sources.redfish import Quantity, Rule, words


class Equipment(StrEnum):
    """What a piece of equipment is; also the metric label."""

    CDU = "cdu"
    HEAT_EXCHANGER = "heat_exchanger"
    IMMERSION_UNIT = "immersion_unit"
    RACK_PDU = "rack_pdu"
    FLOOR_PDU = "floor_pdu"
    POWER_SHELF = "power_shelf"
    SWITCH_TRAY = "switch_tray"


COLLECTIONS: dict[str, dict[str, Equipment]] = {
    "ThermalEquipment": {
        "CDUs": Equipment.CDU,
        "HeatExchangers": Equipment.HEAT_EXCHANGER,
        "ImmersionUnits": Equipment.IMMERSION_UNIT,
    },
    "PowerEquipment": {
        "RackPDUs": Equipment.RACK_PDU,
        "FloorPDUs": Equipment.FLOOR_PDU,
        "PowerShelves": Equipment.POWER_SHELF,
    },
}
"""Links of the service root, and in them the collections of equipment."""
OLD_ROOTS = {"PowerEquipment": "PowerDistribution"}
"""What firmware of before 2019.4 calls the link."""
CHASSIS: dict[Equipment, re.Pattern[str]] = {
    Equipment.POWER_SHELF: re.compile(r"^power ?shelf\b"),
    Equipment.SWITCH_TRAY: re.compile(r"\bnv ?switch\b"),
}
"""Equipment that shows itself as chassis alone, by the words of their ids."""

FLOW, RISE = "flow_liters_per_minute", "temperature_rise_celsius"
SUPPLY, RETURN = "supply_temperature_celsius", "return_temperature_celsius"
SUPPLY_PRESSURE, RETURN_PRESSURE = "supply_pressure_pascals", "return_pressure_pascals"
DROP, HEAT = "pressure_drop_pascals", "heat_watts"
"""What one loop says; with the loop's name in front they are channels."""
COOLANT, WATER = "coolant_", "water_"
"""The loop to the racks and the one to the building."""
VALVE = "water_valve_ratio"
HEAT_RESIDUAL, RISE_RESIDUAL = "heat_residual_ratio", "temperature_rise_residual_celsius"
DEW_MARGIN = "dew_point_margin_celsius"

LEAK, LEAK_FAULTS = "leak_detected", "leak_detectors_unreadable"
PUMPS_FAILED, SUPPLIES_FAILED = "pumps_failed", "power_supplies_failed"
SUPPLIES_STANDBY = "power_supplies_standby"
POWER, ENERGY, OUTPUT = "power_watts", "energy_joules_total", "output_watts"
BRANCH_LOAD, BREAKERS = "branch_load_ratio", "breakers_tripped"
UNBALANCE, NEUTRAL = "phase_unbalance_ratio", "neutral_current_amperes"
IN_VOLTS, IN_AMPERES = "input_voltage_volts", "input_current_amperes"
EFFICIENCY = "supply_efficiency_ratio"
FAN_RPM = "fan_speed_rpm"

RULES: dict[str, Rule] = {
    LEAK: Rule.ANY,
    LEAK_FAULTS: Rule.COUNT,
    PUMPS_FAILED: Rule.COUNT,
    SUPPLIES_FAILED: Rule.COUNT,
    SUPPLIES_STANDBY: Rule.COUNT,
    BREAKERS: Rule.COUNT,
    POWER: Rule.SUM,
    ENERGY: Rule.SUM,
    OUTPUT: Rule.SUM,
    "output_current_amperes": Rule.SUM,
    COOLANT + FLOW: Rule.SUM,
    WATER + FLOW: Rule.SUM,
    COOLANT + HEAT: Rule.SUM,
    WATER + HEAT: Rule.SUM,
    COOLANT + SUPPLY_PRESSURE: Rule.LOWEST,
    WATER + SUPPLY_PRESSURE: Rule.LOWEST,
    "reservoir_level_ratio": Rule.LOWEST,
    "reservoir_pressure_pascals": Rule.LOWEST,
    "output_voltage_volts": Rule.LOWEST,
    IN_VOLTS: Rule.LOWEST,
    EFFICIENCY: Rule.LOWEST,
    DEW_MARGIN: Rule.LOWEST,
    FAN_RPM: Rule.LOWEST,
    "fan_speed_ratio": Rule.LOWEST,
    "power_factor_ratio": Rule.LOWEST,
}
"""How the parts of one piece of equipment become one value; where nothing is said, the highest."""


class Term(NamedTuple):
    """Where a property goes: a channel, and the factor to its unit."""

    channel: str
    scale: float = 1.0


CONNECTOR: dict[str, Term] = {
    "FlowLitersPerMinute": Term(FLOW),
    "SupplyTemperatureCelsius": Term(SUPPLY),
    "ReturnTemperatureCelsius": Term(RETURN),
    "SupplyPressurekPa": Term(SUPPLY_PRESSURE, 1e3),
    "ReturnPressurekPa": Term(RETURN_PRESSURE, 1e3),
}
"""Of a loop, by the loop's own names."""
ENVIRONMENT: dict[str, Term] = {
    "PowerWatts": Term(POWER),
    "EnergykWh": Term(ENERGY, 3.6e6),
    "TemperatureCelsius": Term("ambient_temperature_celsius"),
    "HumidityPercent": Term("humidity_ratio", 0.01),
    "DewPointCelsius": Term("dew_point_celsius"),
    "PowerLoadPercent": Term("power_load_ratio", 0.01),
}
PUMP: dict[str, Term] = {"PumpSpeedPercent": Term("pump_speed_ratio", 0.01)}
RESERVOIR: dict[str, Term] = {
    "FluidLevelPercent": Term("reservoir_level_ratio", 0.01),
    "InternalPressurekPa": Term("reservoir_pressure_pascals", 1e3),
}
MAINS: dict[str, Term] = {
    "Voltage": Term(IN_VOLTS),
    "FrequencyHz": Term("frequency_hertz"),
    "UnbalancedCurrentPercent": Term(UNBALANCE, 0.01),
}
BUS: dict[str, Term] = {
    "Voltage": Term("output_voltage_volts"),
    "CurrentAmps": Term("output_current_amperes"),
    "PowerWatts": Term(OUTPUT),
}
"""A branch that is a direct-current bus: what a power shelf delivers."""
SUPPLY_METRICS: dict[str, Term] = {
    "InputVoltage": Term(IN_VOLTS),
    "TemperatureCelsius": Term("supply_temperature_celsius"),
}
IN_WATTS, OUT_WATTS = "InputPowerWatts", "OutputPowerWatts"
"""Of one supply; no channels, but what its efficiency is made of."""
LINES = ("Line1", "Line2", "Line3")
LINE_VOLTAGES = ("Line1ToNeutral", "Line2ToNeutral", "Line3ToNeutral")
BREAKER_STATES: dict[str, bool] = {"Normal": False, "Tripped": True, "Off": True}
ZERO_NEEDS_HISTORY = frozenset(
    {
        POWER,
        OUTPUT,
        ENERGY,
        FAN_RPM,
        "fan_speed_ratio",
        "pump_speed_ratio",
        "pump_speed_rpm",
        IN_VOLTS,
        "output_voltage_volts",
        "frequency_hertz",
        "supply_temperature_celsius",
        "ambient_temperature_celsius",
        *(
            loop + name
            for loop in (COOLANT, WATER)
            for name in (FLOW, SUPPLY, RETURN, SUPPLY_PRESSURE, RETURN_PRESSURE)
        ),
    }
)
"""Of these a 0 counts once the sensor has read something else, or is reported ill.

What is not fitted reads 0 for ever: a second fan, the other loop of a sidecar unit.
"""
STANDBY = frozenset({"StandbySpare", "StandbyOffline", "Standby", "Sleep", "Ready"})
"""States of a supply at rest; the last three are not in the standard and were seen."""


class SensorTerm(NamedTuple):
    """A sensor that is known by its id."""

    quantity: Quantity
    wanted: re.Pattern[str]
    channel: str


_PS = r"^(?:ps|psu|power supply|power supply unit) ?\d+"


def _sensor(quantity: Quantity, pattern: str, channel: str) -> SensorTerm:
    return SensorTerm(quantity, re.compile(pattern), channel)


SENSORS: tuple[SensorTerm, ...] = (
    _sensor(Quantity.POWER, r"^total power in(?:put)?$", POWER),
    _sensor(Quantity.POWER, r"^total power out(?:put)?$", OUTPUT),
    _sensor(Quantity.POWER, r"\bnv ?switch \d+ power\b", POWER),
    _sensor(Quantity.VOLTAGE, rf"{_PS} input voltage$", IN_VOLTS),
    _sensor(Quantity.VOLTAGE, rf"{_PS} output voltage$", "output_voltage_volts"),
    _sensor(Quantity.CURRENT, rf"{_PS} output current$", "output_current_amperes"),
    _sensor(Quantity.TEMPERATURE, rf"{_PS} temp hot ?spot$", "supply_temperature_celsius"),
    _sensor(Quantity.TEMPERATURE, rf"{_PS} temp in(?:put|let)$", "ambient_temperature_celsius"),
    _sensor(Quantity.FAN_SPEED, rf"{_PS} fan ?\d+$", FAN_RPM),
    _sensor(Quantity.RATIO, r"^power load$", "power_load_ratio"),
    _sensor(Quantity.RATIO, rf"{_PS} power ?factor$", "power_factor_ratio"),
    _sensor(Quantity.POWER, rf"{_PS} input power$", IN_WATTS),
    _sensor(Quantity.POWER, rf"{_PS} output power$", OUT_WATTS),
)
"""Sensors of equipment that is only a chassis; the first that fits decides."""


def sensor_channel(quantity: Quantity, name: str) -> str:
    """Return the channel of the sensor with this id, or an empty string for any other."""
    text = words(name)
    for term in SENSORS:
        if term.quantity is quantity and term.wanted.search(text):
            return term.channel
    return ""


class Coolant(NamedTuple):
    """What flows: density in kg/m3 and heat capacity in kJ/(kg K); water at 30 C by default."""

    density: float = 995.7
    heat_capacity: float = 4.178


def heat_watts(flow: float, rise: float, coolant: Coolant) -> float:
    """Return the heat (W) that `flow` (L/min) takes up over a temperature rise of `rise` kelvin.

    Q = flow/60 * density/1000 * heat capacity * rise * 1000.
    """
    return flow / 60 * coolant.density * coolant.heat_capacity * rise


RACK = "rack_"


class RackTerm(NamedTuple):
    """A channel of the rack: the facility channels it may come from, in order, and the rule.

    Only equipment of these kinds is asked; of the channels, the first that any
    of them delivers.
    """

    sources: tuple[str, ...]
    rule: Rule
    kinds: frozenset[Equipment]


_LIQUID = frozenset({Equipment.CDU, Equipment.IMMERSION_UNIT})
_COOLING = _LIQUID | {Equipment.HEAT_EXCHANGER}
_FEEDING = frozenset({Equipment.RACK_PDU, Equipment.POWER_SHELF})
_ANY = frozenset(Equipment)

RACK_TERMS: dict[str, RackTerm] = {
    "coolant_supply_temperature_celsius": RackTerm((COOLANT + SUPPLY,), Rule.HIGHEST, _LIQUID),
    "coolant_return_temperature_celsius": RackTerm((COOLANT + RETURN,), Rule.HIGHEST, _LIQUID),
    "coolant_flow_liters_per_minute": RackTerm((COOLANT + FLOW,), Rule.LOWEST, _LIQUID),
    "coolant_supply_pressure_pascals": RackTerm((COOLANT + SUPPLY_PRESSURE,), Rule.LOWEST, _LIQUID),
    "coolant_pressure_drop_pascals": RackTerm((COOLANT + DROP,), Rule.HIGHEST, _LIQUID),
    "coolant_heat_watts": RackTerm((COOLANT + HEAT,), Rule.SUM, _LIQUID),
    "water_supply_temperature_celsius": RackTerm((WATER + SUPPLY,), Rule.HIGHEST, _COOLING),
    "pump_speed_ratio": RackTerm(("pump_speed_ratio",), Rule.HIGHEST, _LIQUID),
    "reservoir_level_ratio": RackTerm(("reservoir_level_ratio",), Rule.LOWEST, _LIQUID),
    "filter_pressure_drop_pascals": RackTerm(
        ("filter_pressure_drop_pascals",), Rule.HIGHEST, _LIQUID
    ),
    "dew_point_margin_celsius": RackTerm((DEW_MARGIN,), Rule.LOWEST, _COOLING),
    "leak_detected": RackTerm((LEAK,), Rule.ANY, _ANY),
    "humidity_ratio": RackTerm(("humidity_ratio",), Rule.HIGHEST, _ANY),
    "power_watts": RackTerm((OUTPUT, POWER), Rule.SUM, _FEEDING),
    "power_supplies_failed": RackTerm((SUPPLIES_FAILED,), Rule.COUNT, _FEEDING),
    "branch_load_ratio": RackTerm((BRANCH_LOAD,), Rule.HIGHEST, _FEEDING),
    "phase_unbalance_ratio": RackTerm((UNBALANCE,), Rule.HIGHEST, _FEEDING),
    "breakers_tripped": RackTerm((BREAKERS,), Rule.COUNT, _FEEDING),
}
"""Channels of the rack, named without `rack_`; where several pieces deliver, the worst."""
