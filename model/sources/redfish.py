"""How BMCs spell the node's channels: units, words, names, and which sensor speaks for the node.

Pure tables.  Redfish has no name for "the node's inlet": every vendor has its
own, most have several, and some label every sensor `Intake`.  So a sensor is
known by its name, its quantity and, for liquids, its physical context; the rank
says how well the name fits, and only the best rank found speaks for a channel.
What GPUs report is not here: dcgm-exporter says it better.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Quantity(StrEnum):
    """What a sensor measures, in the unit of the channels: celsius, watts, rpm, L/min, pascals."""

    TEMPERATURE = "temperature"
    POWER = "power"
    FAN_SPEED = "fan_speed"
    FLOW = "flow"
    PRESSURE = "pressure"
    RATIO = "ratio"
    LEAK = "leak"
    SUPPLY_FAILURE = "supply_failure"


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

UNITS: dict[str, Unit] = {
    "cel": _CELSIUS, "c": _CELSIUS, "celsius": _CELSIUS, "degc": _CELSIUS, "degrees c": _CELSIUS,
    "[degf]": Unit(Quantity.TEMPERATURE, 5 / 9, -160 / 9), "f": Unit(Quantity.TEMPERATURE, 5 / 9, -160 / 9),
    "w": _WATT, "watt": _WATT, "watts": _WATT, "kw": Unit(Quantity.POWER, 1e3),
    "rpm": _RPM, "{rev}/min": _RPM,
    "%": _PERCENT, "percent": _PERCENT,
    "l/min": _LITERS, "lpm": _LITERS, "l/s": Unit(Quantity.FLOW, 60.0), "m3/h": Unit(Quantity.FLOW, 1000 / 60),
    "[gal_us]/min": Unit(Quantity.FLOW, 3.785411784), "gpm": Unit(Quantity.FLOW, 3.785411784),
    "pa": Unit(Quantity.PRESSURE), "kpa": Unit(Quantity.PRESSURE, 1e3), "bar": Unit(Quantity.PRESSURE, 1e5),
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
}
"""`ReadingType`, in lower case, for the BMCs that name no unit."""


def unit_of(reading_type: str, units: str) -> Unit | None:
    """Return how to read a sensor; the unit that it names wins over its type."""
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


@dataclass(frozen=True, slots=True)
class Spelling:
    """One way to recognise a channel's sensor; `rank` 0 fits best."""

    channel: str
    rank: int
    quantity: Quantity
    rule: Rule
    wanted: re.Pattern[str]
    unwanted: re.Pattern[str] | None = None


INLET = "node_inlet_temperature_celsius"
POWER = "node_power_watts"
FAN = "node_fan_speed_rpm"
SUPPLY = "node_coolant_supply_temperature_celsius"
RETURN = "node_coolant_return_temperature_celsius"
FLOW = "node_coolant_flow_liters_per_minute"
LEAK = "node_leak_detected"
SUPPLIES_FAILED = "node_power_supplies_failed"
CHANNELS = (INLET, POWER, FAN, SUPPLY, RETURN, FLOW, LEAK, SUPPLIES_FAILED)
HOST_SIDE = frozenset({INLET, POWER, FAN, SUPPLY, RETURN, FLOW})
"""Channels that say nothing of the node while its host is off; leaks and supplies still do."""

GOOD_RANK = 2
"""With this rank or better a channel is settled and nothing dearer is searched for it."""

_T, _W, _F = Quantity.TEMPERATURE, Quantity.POWER, Quantity.FAN_SPEED
_LIQUID = r"(?:coolant|liquid|water|fluid)"
_NOT_AIR_IN = re.compile(
    rf"\b(?:p s|psu\d*|ps\d*|power supply|gpu\d*|gb\d*|sxm\d*|cpu\d*|dimm|vr|nvme|ssd|pci\w*|nic|exhaust|outlet|{_LIQUID})\b"
)
_NOT_NODE_POWER = re.compile(
    r"\b(?:hgx|gpu\w*|cpu\w*|dimm|memory|psu\d*|ps\d*|fan\w*|limit|cap|standby|module)\b"
)


def _names(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


SPELLINGS: tuple[Spelling, ...] = (
    # Air: whatever stands between the room and a sensor only warms it, so the lowest is nearest.
    Spelling(INLET, 0, _T, Rule.LOWEST, _names(r"\bambient\b"), _NOT_AIR_IN),
    Spelling(
        INLET,
        1,
        _T,
        Rule.LOWEST,
        _names(
            r"^(?!hgx)(?:.*\b)?(?:system|sys|system board|chassis|node|front|front panel|tray)(?: \d+)? (?:inlet|intake)\b"
        ),
        _NOT_AIR_IN,
    ),
    Spelling(
        INLET,
        2,
        _T,
        Rule.LOWEST,
        _names(r"\bfront io\b", r"^(?:temp )?(?:inlet|intake)(?: temp\w*)?(?: \d+)?$", r"^inlet\b"),
        _NOT_AIR_IN,
    ),
    Spelling(
        INLET, 3, _T, Rule.LOWEST, _names(r"\b(?:inlet|intake)\b", r"^system temp$"), _NOT_AIR_IN
    ),
    # Power of the whole node as one sensor; else the sum of what the hot-swap controllers feed.
    Spelling(
        POWER,
        1,
        _W,
        Rule.ONLY,
        _names(
            r"\b(?:pwr|power) system\b",
            r"\bsystem(?: input)? power\b",
            r"\bsystem board pwr consumption\b",
            r"\btotal (?:system )?power\b",
            r"\bpower reading for the chassis\b",
            r"^chassis(?: \d+)? total hsc power\b",
            r"^(?:node|chassis)(?: \d+)?(?: total)?(?: input)? (?:power|pwr)\b",
            r"^node$",
        ),
        _NOT_NODE_POWER,
    ),
    Spelling(
        POWER, 3, _W, Rule.SUM, _names(r"\bhsc \d+ (?:pwr|power)\b"), re.compile(r"\bstandby\b")
    ),
    Spelling(
        FAN,
        1,
        _F,
        Rule.SLOWEST_TURNED,
        _names(r"\bfan"),
        re.compile(r"\b(?:(?:psu|ps)\d*|power supply|pwm|duty|percent)\b"),
    ),
    Spelling(
        SUPPLY,
        1,
        _T,
        Rule.LOWEST,
        _names(rf"\b{_LIQUID} (?:inlet|supply|in)\b", rf"\b(?:inlet|supply) {_LIQUID}\b"),
    ),
    Spelling(
        RETURN,
        1,
        _T,
        Rule.HIGHEST,
        _names(rf"\b{_LIQUID} (?:outlet|return|out)\b", rf"\b(?:outlet|return) {_LIQUID}\b"),
    ),
    Spelling(FLOW, 1, Quantity.FLOW, Rule.SUM, _names(rf"\b{_LIQUID}\b", r"\bflow\b")),
)
"""Searched in this order; the first that fits decides."""

HINTS: tuple[tuple[re.Pattern[str], str], ...] = (
    # Cray EX: what this id measures is only said by the sensor's Name, "Node" or something else.
    (re.compile(r"^chassis voltage regulator\d+ input power$"), POWER),
)
"""Ids that say too little to decide, but enough to look."""

LIQUID_CONTEXTS: dict[tuple[Quantity, str], str] = {
    (_T, "LiquidInlet"): SUPPLY,
    (_T, "LiquidOutlet"): RETURN,
}
"""`PhysicalContext` decides for liquids: a name such as "Inlet" alone would be taken for air."""

RULES: dict[str, Rule] = {
    LEAK: Rule.ANY,
    SUPPLIES_FAILED: Rule.COUNT,
    SUPPLY: Rule.LOWEST,
    RETURN: Rule.HIGHEST,
    FLOW: Rule.SUM,
    POWER: Rule.ONLY,
    INLET: Rule.LOWEST,
    FAN: Rule.SLOWEST_TURNED,
}
"""Rules for sensors that the resource's own structure assigns to a channel."""

PART_CHASSIS = re.compile(
    r"ERoT|IRoT|CPLD|FPGA|GPU|NVSwitch|PCIeRetimer|PCIeSwitch|_CPU_|^CPU_|CBC_|NVME|eeprom|Storage|Enclosure\.Internal|DPU|^DE0|Mezz|EVENT_LISTENER",
    re.IGNORECASE,
)
"""Ids of chassis that are parts (chips, roots of trust, backplanes): no sensor of the node there."""

PLATFORM_REPORT = re.compile(r"PlatformEnvironment", re.IGNORECASE)
"""Metric reports that are a snapshot of the platform; others are histories or counters."""

QUANTITY_WORDS: dict[Quantity, frozenset[str]] = {
    Quantity.TEMPERATURE: frozenset({"temp", "temperature"}),
    Quantity.POWER: frozenset({"power", "pwr"}),
    Quantity.FAN_SPEED: frozenset({"fan"}),
    Quantity.FLOW: frozenset({"flow"}),
}
"""Words in a sensor's id that tell its quantity where, as in metric reports, no unit is given."""

AVERAGE = re.compile(r"(?:^|[^a-z])a(?:ve|vg|verage)|mean|Av(?:e|g|erage)")
"""A `MetricId` that marks the average among several values of one property."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def words(name: str) -> str:
    """Return `name` as lower-case words: `HGX_Chassis_0_TotalHSC` is `hgx chassis 0 total hsc`."""
    spaced = _CAMEL.sub(" ", name)
    return " ".join(re.sub(r"[^A-Za-z0-9]+", " ", spaced).lower().split())


def spelling_of(quantity: Quantity, context: str, *names: str) -> tuple[str, int, Rule] | None:
    """Return channel, rank and rule of the sensor with these names, or None for any other."""
    liquid = LIQUID_CONTEXTS.get((quantity, context))
    if liquid is not None:
        return liquid, 0, RULES[liquid]
    for name in names:
        text = words(name)
        for spelling in SPELLINGS:
            if spelling.quantity is quantity and _fits(spelling, text):
                return spelling.channel, spelling.rank, spelling.rule
    return None


def hinted(name: str) -> frozenset[str]:
    """Return the channels that a sensor may speak for, judging by its id alone."""
    text = words(name)
    known = {spelling.channel for spelling in SPELLINGS if _fits(spelling, text)}
    return frozenset(known | {channel for pattern, channel in HINTS if pattern.search(text)})


def _fits(spelling: Spelling, text: str) -> bool:
    unwanted = spelling.unwanted is not None and spelling.unwanted.search(text)
    return not unwanted and spelling.wanted.search(text) is not None
