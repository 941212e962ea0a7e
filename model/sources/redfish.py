"""How BMCs spell quantities and states, and which channels of a node they speak for.

Pure tables; `redfish_names` says which sensor is which channel's.  What GPUs
report is not here: dcgm-exporter says it better.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Quantity(StrEnum):
    """What a sensor measures, in the unit of the channels: celsius, watts, rpm, L/min, joules."""

    TEMPERATURE = "temperature"
    POWER = "power"
    FAN_SPEED = "fan_speed"
    FLOW = "flow"
    PRESSURE = "pressure"
    RATIO = "ratio"
    VOLTAGE = "voltage"
    CURRENT = "current"
    ENERGY = "energy"
    HUMIDITY = "humidity"
    MARGIN = "margin"
    """The distance of a temperature to its limit; lower is worse."""
    LEAK = "leak"
    COUNT = "count"
    """One of those that are counted, 1, or none, 0."""


class Rule(StrEnum):
    """How several sensors become one channel."""

    ONLY = "only"
    """There can be one; several that disagree are ambiguous."""
    LOWEST = "lowest"
    HIGHEST = "highest"
    SUM = "sum"
    """All must be known."""
    COUNT = "count"
    """The sum over those that are known."""
    FITTED_SUM = "fitted_sum"
    """The sum of those that delivered when the tree was walked: an empty bay never does."""
    SLOWEST_TURNED = "slowest_turned"
    """The lowest of those that ever turned: an empty fan bay reads 0 for ever."""
    ANY = "any"
    """1 when one says so; 0 only when all are known."""


@dataclass(frozen=True, slots=True)
class Unit:
    """`value * scale + offset` is in the quantity's own unit."""

    quantity: Quantity
    scale: float = 1.0
    offset: float = 0.0


_CELSIUS, _WATT, _RPM = (
    Unit(Quantity.TEMPERATURE),
    Unit(Quantity.POWER),
    Unit(Quantity.FAN_SPEED),
)
_LITERS, _PERCENT = Unit(Quantity.FLOW), Unit(Quantity.RATIO, 0.01)
_VOLT, _AMPERE, _JOULE = Unit(Quantity.VOLTAGE), Unit(Quantity.CURRENT), Unit(Quantity.ENERGY)

UNITS: dict[str, Unit] = {
    "cel": _CELSIUS, "c": _CELSIUS, "celsius": _CELSIUS, "degc": _CELSIUS, "degrees c": _CELSIUS,
    "[degf]": Unit(Quantity.TEMPERATURE, 5 / 9, -160 / 9), "f": Unit(Quantity.TEMPERATURE, 5 / 9, -160 / 9),
    "w": _WATT, "watt": _WATT, "watts": _WATT, "kw": Unit(Quantity.POWER, 1e3),
    "rpm": _RPM, "{rev}/min": _RPM,
    "%": _PERCENT, "percent": _PERCENT,
    "l/min": _LITERS, "lpm": _LITERS, "l/s": Unit(Quantity.FLOW, 60.0), "m3/h": Unit(Quantity.FLOW, 1000 / 60),
    "[gal_us]/min": Unit(Quantity.FLOW, 3.785411784), "gpm": Unit(Quantity.FLOW, 3.785411784),
    "pa": Unit(Quantity.PRESSURE), "kpa": Unit(Quantity.PRESSURE, 1e3), "bar": Unit(Quantity.PRESSURE, 1e5),
    "v": _VOLT, "volts": _VOLT, "mv": Unit(Quantity.VOLTAGE, 1e-3),
    "a": _AMPERE, "amps": _AMPERE, "ma": Unit(Quantity.CURRENT, 1e-3),
    "j": _JOULE, "joules": _JOULE, "kj": Unit(Quantity.ENERGY, 1e3),
    "w.h": Unit(Quantity.ENERGY, 3.6e3), "kw.h": Unit(Quantity.ENERGY, 3.6e6), "kwh": Unit(Quantity.ENERGY, 3.6e6),
    "psi": Unit(Quantity.PRESSURE, 6894.757293), "[psi]": Unit(Quantity.PRESSURE, 6894.757293),
}  # fmt: skip
"""Spellings of `ReadingUnits`, in lower case."""

READING_TYPES: dict[str, Unit] = {
    "temperature": _CELSIUS,
    "power": _WATT,
    "rotational": _RPM,
    "percent": _PERCENT,
    "liquidflowlpm": _LITERS,
    "liquidflow": Unit(Quantity.FLOW, 60.0),  # DMTF: litres per second
    "pressurekpa": Unit(Quantity.PRESSURE, 1e3),
    "pressurepa": Unit(Quantity.PRESSURE),
    "voltage": _VOLT,
    "current": _AMPERE,
    "energyjoules": _JOULE,
    "energywh": Unit(Quantity.ENERGY, 3.6e3),
    "energykwh": Unit(Quantity.ENERGY, 3.6e6),
}
"""`ReadingType`, in lower case, for the BMCs that name no unit."""


def unit_of(reading_type: str, units: str) -> Unit | None:
    """Return how to read a sensor; the unit that it names wins over its type."""
    if reading_type.strip().lower() == "humidity":
        return Unit(Quantity.HUMIDITY, 0.01)
    named = UNITS.get(units.strip().lower())
    return named or READING_TYPES.get(reading_type.strip().lower())


SENTINELS = frozenset({"n/a", "na", "none", "null", "unknown", "not available", "unavailable", "-"})
"""Texts that stand where a number belongs and mean that there is none."""
NOT_FINITE = frozenset({"nan", "inf", "+inf", "-inf", "infinity", "-infinity", "+infinity"})

ABSENT = "Absent"
NOT_READING = frozenset(
    {"Disabled", "StandbyOffline", "InTest", "Starting", "UnavailableOffline", "Deferring"}
)
"""States in which a sensor's reading means nothing, whatever it says."""
STATES = NOT_READING | {
    ABSENT, "Enabled", "StandbySpare", "Quiesced", "Updating", "Qualified", "Degraded",
}  # fmt: skip
HEALTHS = frozenset({"OK", "Warning", "Critical"})
HOST_NOT_ON = frozenset({"Off", "PoweringOn", "PoweringOff"})

LEAKING: dict[str, bool] = {"OK": False, "Warning": True, "Critical": True, "LeakDetected": True}
"""What an enabled detector's state says; LeakDetected is not in the standard and was seen."""


INLET = "node_inlet_temperature_celsius"
OUTLET = "node_outlet_temperature_celsius"
INLET_MARGIN = "node_inlet_margin_celsius"
TEMPERATURE_MARGIN = "node_temperature_margin_celsius"
CPU, CPU_MARGIN = "node_cpu_temperature_celsius", "node_cpu_margin_celsius"
DIMM, NIC = "node_dimm_temperature_celsius", "node_nic_temperature_celsius"
BOARD = "node_board_temperature_celsius"
SUPPLY_TEMPERATURE = "node_power_supply_temperature_celsius"
POWER, POWER_LIMIT = "node_power_watts", "node_power_limit_watts"
ENERGY = "node_energy_joules_total"
IN_WATTS, OUT_WATTS = "node_power_supply_input_watts", "node_power_supply_output_watts"
EFFICIENCY = "node_power_supply_efficiency_ratio"
WITHOUT_INPUT, SUPPLIES_FAILED = "node_power_supplies_without_input", "node_power_supplies_failed"
IN_VOLTS, IN_AMPERES = "node_input_voltage_volts", "node_input_current_amperes"
BUS_VOLTS, BUS_AMPERES = "node_bus_voltage_volts", "node_bus_current_amperes"
FAN, FAN_RATIO = "node_fan_speed_rpm", "node_fan_speed_ratio"
FANS_FAILED = "node_fans_failed"
PUMP, PUMP_RATIO = "node_pump_speed_rpm", "node_pump_speed_ratio"
SUPPLY = "node_coolant_supply_temperature_celsius"
RETURN = "node_coolant_return_temperature_celsius"
FLOW = "node_coolant_flow_liters_per_minute"
SUPPLY_PRESSURE = "node_coolant_supply_pressure_pascals"
RETURN_PRESSURE = "node_coolant_return_pressure_pascals"
LEAK, LEAK_FAULTS = "node_leak_detected", "node_leak_detectors_unreadable"
LEAK_MARGIN = "node_leak_detector_margin_volts"
HUMIDITY, DEW_POINT = "node_humidity_ratio", "node_dew_point_celsius"
DEW_MARGIN = "node_dew_point_margin_celsius"
PROCESSORS_FAILED, PROCESSORS_WARNING = "node_processors_failed", "node_processors_warning"
GPUS = "node_gpus_in_bmc"

PROMPT = (INLET, POWER, SUPPLY, RETURN, FLOW, LEAK)
"""Channels that are read each cycle; what only the others need is read in turn."""
READ = (
    *PROMPT, FAN, FAN_RATIO, SUPPLIES_FAILED, OUTLET, CPU, CPU_MARGIN, DIMM, NIC, BOARD,
    SUPPLY_TEMPERATURE, POWER_LIMIT, ENERGY, IN_WATTS, OUT_WATTS, EFFICIENCY, WITHOUT_INPUT,
    IN_VOLTS, IN_AMPERES, BUS_VOLTS, BUS_AMPERES, PUMP, PUMP_RATIO, SUPPLY_PRESSURE,
    RETURN_PRESSURE, LEAK_FAULTS, LEAK_MARGIN, HUMIDITY, DEW_POINT, PROCESSORS_FAILED,
    PROCESSORS_WARNING, GPUS,
)  # fmt: skip
"""Channels that sensors or parts speak for."""
DERIVED = (INLET_MARGIN, TEMPERATURE_MARGIN, FANS_FAILED, DEW_MARGIN)
"""Channels that follow from what was read for the others."""
CHANNELS = (*READ, *DERIVED)
NOT_HOST_SIDE = frozenset(
    {LEAK, LEAK_FAULTS, LEAK_MARGIN, SUPPLIES_FAILED, WITHOUT_INPUT, HUMIDITY, DEW_POINT, ENERGY}
)
"""What is true of a node whose host is off, too; all else is then a sensor that talks on."""
HOST_SIDE = frozenset(CHANNELS) - NOT_HOST_SIDE

ZERO_IS_NONE = frozenset({POWER, POWER_LIMIT, IN_VOLTS, ENERGY})
"""Of these a 0 is never a reading."""
ZERO_NEEDS_HISTORY = frozenset({FAN, FAN_RATIO, PUMP, PUMP_RATIO, IN_WATTS, OUT_WATTS, IN_AMPERES})
"""Of these a 0 counts once the sensor has read something else, or is reported ill."""

GOOD_RANK = 2
"""With this rank or better a channel is settled and nothing dearer is searched for it."""

RULES: dict[str, Rule] = {
    LEAK: Rule.ANY,
    LEAK_FAULTS: Rule.COUNT,
    SUPPLIES_FAILED: Rule.COUNT,
    WITHOUT_INPUT: Rule.COUNT,
    PROCESSORS_FAILED: Rule.COUNT,
    PROCESSORS_WARNING: Rule.COUNT,
    GPUS: Rule.SUM,
    SUPPLY: Rule.LOWEST,
    RETURN: Rule.HIGHEST,
    FLOW: Rule.SUM,
    SUPPLY_PRESSURE: Rule.LOWEST,
    RETURN_PRESSURE: Rule.HIGHEST,
    POWER: Rule.ONLY,
    POWER_LIMIT: Rule.ONLY,
    ENERGY: Rule.ONLY,
    IN_WATTS: Rule.FITTED_SUM,
    OUT_WATTS: Rule.FITTED_SUM,
    IN_AMPERES: Rule.FITTED_SUM,
    IN_VOLTS: Rule.LOWEST,
    EFFICIENCY: Rule.LOWEST,
    SUPPLY_TEMPERATURE: Rule.HIGHEST,
    INLET: Rule.LOWEST,
    OUTLET: Rule.HIGHEST,
    FAN: Rule.SLOWEST_TURNED,
    FAN_RATIO: Rule.SLOWEST_TURNED,
    PUMP: Rule.SLOWEST_TURNED,
    PUMP_RATIO: Rule.SLOWEST_TURNED,
    HUMIDITY: Rule.HIGHEST,
    DEW_POINT: Rule.HIGHEST,
}
"""Rules for sensors that the resource's own structure assigns to a channel."""

NO_FEED = frozenset({"LossOfInput", "OutOfRange"})
"""`LineInputStatus` of a power supply whose feed is gone or useless."""

MARGIN_NAME = re.compile(r"\b(?:t ?limit|temp limit|margin|dts|headroom)\b")
"""Names of what is listed among temperatures and is the distance to a limit."""

PART_CHASSIS = re.compile(
    r"ERoT|IRoT|CPLD|FPGA|GPU|NVSwitch|PCIeRetimer|PCIeSwitch|^CPU_|CBC_|NVME|eeprom|Storage|Enclosure\.Internal|^DE0|Mezz|EVENT_LISTENER",
    re.IGNORECASE,
)
"""Ids of chassis that are parts (chips, roots of trust, backplanes): no sensor of the node there."""

PLATFORM_REPORT = re.compile(r"PlatformEnvironment", re.IGNORECASE)
"""Metric reports that are a snapshot of the platform; others are histories or counters."""

QUANTITY_WORDS: dict[Quantity, frozenset[str]] = {
    Quantity.MARGIN: frozenset({"limit", "tlimit", "margin"}),
    Quantity.TEMPERATURE: frozenset({"temp", "temperature"}),
    Quantity.POWER: frozenset({"power", "pwr"}),
    Quantity.FAN_SPEED: frozenset({"fan"}),
    Quantity.FLOW: frozenset({"flow"}),
    Quantity.ENERGY: frozenset({"energy"}),
    Quantity.VOLTAGE: frozenset({"volt", "voltage"}),
    Quantity.CURRENT: frozenset({"cur", "current"}),
}
"""Words in a sensor's id that tell its quantity where, as in metric reports, no unit is given."""

AVERAGE = re.compile(r"(?:^|[^a-z])a(?:ve|vg|verage)|mean|Av(?:e|g|erage)")
"""A `MetricId` that marks the average among several values of one property."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def words(name: str) -> str:
    """Return `name` as lower-case words: `HGX_Chassis_0_TotalHSC` is `hgx chassis 0 total hsc`."""
    spaced = _CAMEL.sub(" ", name)
    return " ".join(re.sub(r"[^A-Za-z0-9]+", " ", spaced).lower().split())
