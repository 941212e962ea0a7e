"""Which sensor speaks for which channel of the node, by the names that vendors give.

Redfish has no name for "the node's inlet": every vendor has its own, most have
several, and some label every sensor `Intake`.  So a sensor is known by its name,
its quantity and, for liquids, its physical context; the rank says how well the
name fits, and only the best rank found speaks for a channel.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from model.sources.redfish import (
    BOARD,
    BUS_AMPERES,
    BUS_VOLTS,
    CPU,
    CPU_MARGIN,
    DEW_POINT,
    DIMM,
    ENERGY,
    FAN,
    FAN_RATIO,
    FLOW,
    HUMIDITY,
    IN_AMPERES,
    IN_VOLTS,
    IN_WATTS,
    INLET,
    LEAK_MARGIN,
    NIC,
    OUT_WATTS,
    OUTLET,
    POWER,
    PUMP,
    PUMP_RATIO,
    RETURN,
    RETURN_PRESSURE,
    RULES,
    SUPPLY,
    SUPPLY_PRESSURE,
    SUPPLY_TEMPERATURE,
    Quantity,
    Rule,
    words,
)


@dataclass(frozen=True, slots=True)
class Spelling:
    """One way to recognise a channel's sensor; `rank` 0 fits best."""

    channel: str
    rank: int
    quantity: Quantity
    rule: Rule
    wanted: re.Pattern[str]
    unwanted: re.Pattern[str] | None = None


_T, _W, _F = Quantity.TEMPERATURE, Quantity.POWER, Quantity.FAN_SPEED
_LIQUID = r"(?:coolant|liquid|water|fluid)"
_NOT_AIR_IN = re.compile(
    rf"\b(?:p s|psu\d*|ps\d*|power supply|gpu\d*|gb\d*|sxm\d*|cpu\d*|dimm|vr|nvme|ssd|pci\w*|nic|exhaust|outlet|{_LIQUID})\b"
)
_NOT_AIR_OUT = re.compile(
    rf"\b(?:p s|psu\d*|ps\d*|power supply|gpu\d*|sxm\d*|vr|nvme|ssd|pci\w*|nic|{_LIQUID})\b"
)
_NOT_NODE_POWER = re.compile(
    r"\b(?:hgx|gpu\w*|cpu\w*|dimm|memory|psu\d*|ps\d*|fan\w*|limit|cap|standby|module)\b"
)
_REGULATOR = re.compile(r"\b(?:vr\w*|vdd\w*|vdr|vcore|soc|vpp|volt\w*|vcc\w*|dimm|pmm)\b")
_OPTICS = re.compile(r"\b(?:qsfp\d*|osfp\d*|sfp\d*|volt\w*)\b")
_PS = r"(?:p s|psu|ps|power supply)"


def _names(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


SPELLINGS: tuple[Spelling, ...] = (
    Spelling(DEW_POINT, 1, _T, Rule.HIGHEST, _names(r"\bdew ?point\b")),
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
    Spelling(
        SUPPLY_PRESSURE,
        1,
        Quantity.PRESSURE,
        Rule.LOWEST,
        _names(rf"\b{_LIQUID} (?:inlet|supply|in)\b", rf"\b(?:inlet|supply) {_LIQUID}\b"),
    ),
    Spelling(
        RETURN_PRESSURE,
        1,
        Quantity.PRESSURE,
        Rule.HIGHEST,
        _names(rf"\b{_LIQUID} (?:outlet|return|out)\b", rf"\b(?:outlet|return) {_LIQUID}\b"),
    ),
    # Air on its way out, the hottest: mixed with less of the room's than any other.
    Spelling(
        OUTLET,
        1,
        _T,
        Rule.HIGHEST,
        _names(r"^(?!hgx|processor module)(?:.*\b)?(?:exhaust|outlet)\b"),
        _NOT_AIR_OUT,
    ),
    Spelling(OUTLET, 3, _T, Rule.HIGHEST, _names(r"\b(?:exhaust|outlet)\b"), _NOT_AIR_OUT),
    Spelling(
        CPU,
        1,
        _T,
        Rule.HIGHEST,
        _names(
            r"\bcpu ?\d* (?:pkg ?)?(?:tmp|temp\w*)(?: avg)?(?: \d+)?$",
            r"^temp cpu ?\d+$",
            r"^cpu ?\d+$",
        ),
        _REGULATOR,
    ),
    Spelling(
        CPU_MARGIN,
        1,
        Quantity.MARGIN,
        Rule.LOWEST,
        _names(r"\bcpu ?\d*\b"),
        re.compile(r"\bgpu\w*\b"),
    ),
    Spelling(
        DIMM,
        1,
        _T,
        Rule.HIGHEST,
        _names(r"\bdimm", r"^temp cpu ?\d+ [a-p]{4}$"),
        re.compile(r"\b(?:vdd\w*|vpp|vdr|vr)\b"),
    ),
    Spelling(
        NIC,
        1,
        _T,
        Rule.HIGHEST,
        _names(
            r"\b(?:nic|nic\d+|cx\d|connect ?x\d?|bf\d|cassini|lan|network controller|mb_10g)\b",
            r"\bocp \d+\b",
        ),
        _OPTICS,
    ),
    Spelling(
        SUPPLY_TEMPERATURE,
        1,
        _T,
        Rule.HIGHEST,
        _names(rf"\b{_PS} ?\d+(?: temp\w*)?(?: \d+)?$", rf"\b{_PS} ?\d+ temp hot ?spot$"),
        re.compile(r"\b(?:inlet|zone|ambient)\b"),
    ),
    Spelling(
        BOARD,
        1,
        _T,
        Rule.HIGHEST,
        _names(
            r"\b(?:vr|vreg|vrm\w*|hsc|hsc\d+|re ?timer|re ?timer\d+|pex sw|pcie? sw|plx|pch|chipset|pcb\d*|pdb\d*|ibc|module)\b"
        ),
        re.compile(r"\b(?:gpu\w*|cpu \d+ temp|inlet|exhaust|outlet|ssd|nvme|limit)\b"),
    ),
    Spelling(
        ENERGY, 1, Quantity.ENERGY, Rule.ONLY, _names(r"^node$", r"^(?:total|system|node) energy\b")
    ),
    Spelling(
        IN_WATTS,
        1,
        _W,
        Rule.FITTED_SUM,
        _names(rf"^{_PS} ?\d+ (?:input|in) (?:power|pwr)$", r"^pwr psu ?\d+$"),
    ),
    Spelling(
        OUT_WATTS,
        1,
        _W,
        Rule.FITTED_SUM,
        _names(rf"^{_PS} ?\d+ (?:output|out) (?:power|pwr)$"),
    ),
    Spelling(
        IN_VOLTS,
        1,
        Quantity.VOLTAGE,
        Rule.LOWEST,
        _names(rf"^{_PS} ?\d+ (?:(?:input|in) )?(?:voltage|volt)(?: \d+)?$"),
    ),
    Spelling(
        IN_AMPERES,
        1,
        Quantity.CURRENT,
        Rule.FITTED_SUM,
        _names(rf"^{_PS} ?\d+ (?:(?:input|in) )?(?:current|cur)(?: \d+)?$"),
    ),
    Spelling(
        BUS_VOLTS,
        1,
        Quantity.VOLTAGE,
        Rule.LOWEST,
        _names(r"\bhsc(?: \d+)? volt in(?: \d+)?$", r"^volt \w+ hsc$"),
    ),
    Spelling(
        BUS_AMPERES,
        1,
        Quantity.CURRENT,
        Rule.SUM,
        _names(r"\bhsc(?: \d+)? (?:cur|current)(?: \d+)?$"),
    ),
    Spelling(LEAK_MARGIN, 1, Quantity.VOLTAGE, Rule.LOWEST, _names(r"\bleak")),
    Spelling(
        FAN_RATIO,
        1,
        Quantity.RATIO,
        Rule.SLOWEST_TURNED,
        _names(r"\bfan"),
        re.compile(r"\b(?:(?:psu|ps)\d*|power supply|pwm|duty)\b"),
    ),
    Spelling(PUMP, 1, _F, Rule.SLOWEST_TURNED, _names(r"\bpump")),
    Spelling(PUMP_RATIO, 1, Quantity.RATIO, Rule.SLOWEST_TURNED, _names(r"\bpump")),
    Spelling(HUMIDITY, 1, Quantity.HUMIDITY, Rule.HIGHEST, _names(r"\bhumid", r"\brh\b")),
)
"""Searched in this order; the first that fits decides."""

HINTS: tuple[tuple[re.Pattern[str], str], ...] = (
    # Cray EX: what this id measures is only said by the sensor's Name, "Node" or something else.
    (re.compile(r"^chassis voltage regulator\d+ input power$"), POWER),
    (re.compile(r"^chassis voltage regulator\d+ input energy$"), ENERGY),
)
"""Ids that say too little to decide, but enough to look."""

_P = Quantity.PRESSURE
CONTEXTS: dict[tuple[Quantity, str], str] = {
    (_T, "LiquidInlet"): SUPPLY,
    (_T, "LiquidOutlet"): RETURN,
    (_P, "LiquidInlet"): SUPPLY_PRESSURE,
    (_P, "LiquidOutlet"): RETURN_PRESSURE,
}
"""`PhysicalContext` decides for liquids: a name such as "Inlet" alone would be taken for air."""


def spelling_of(quantity: Quantity, context: str, *names: str) -> tuple[str, int, Rule] | None:
    """Return channel, rank and rule of the sensor with these names, or None for any other."""
    liquid = CONTEXTS.get((quantity, context))
    if liquid is not None:
        return liquid, 0, RULES[liquid]
    for name in filter(None, names):
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
