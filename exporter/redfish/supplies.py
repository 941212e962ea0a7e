"""Decoders of power supplies: health, feed, power and how much of it is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exporter.readings import Missing, Reason
from exporter.redfish.samples import CELSIUS, Sample, measured, number, obj, status_of, text
from model.sources import redfish as spell
from model.sources.redfish import Quantity, Unit

if TYPE_CHECKING:
    from collections.abc import Iterable

WATTS, VOLTS, AMPERES = (
    Unit(Quantity.POWER),
    Unit(Quantity.VOLTAGE),
    Unit(Quantity.CURRENT),
)
METRICS: tuple[tuple[str, str, Unit], ...] = (
    ("InputPowerWatts", spell.IN_WATTS, WATTS),
    ("OutputPowerWatts", spell.OUT_WATTS, WATTS),
    ("InputVoltage", spell.IN_VOLTS, VOLTS),
    ("InputCurrentAmps", spell.IN_AMPERES, AMPERES),
    ("TemperatureCelsius", spell.SUPPLY_TEMPERATURE, CELSIUS),
)
LOADED_WATTS = 50.0
"""Below this a supply's efficiency says more of its meter than of its age."""


def supply(uri: str, document: dict[str, Any]) -> Iterable[Sample]:
    """Say whether a power supply failed, whether its feed is gone, and what it loses.

    An unplugged supply says UnavailableOffline and Critical; one without a
    readable health is unknown, neither well nor failed; one without any status
    says nothing of it.
    """
    if "Status" in document:
        yield _failed(uri, document)
    if text(document, "LineInputStatus"):
        yield from input_of(uri, document, None)
    into, out = document.get("PowerInputWatts"), document.get("PowerOutputWatts")
    yield from efficiency(uri, into, out)


def metrics(uri: str, document: dict[str, Any]) -> Iterable[Sample]:
    """Decode PowerSupplyMetrics, excerpts with the units in their names."""
    status = status_of(document)
    for name, channel, unit in METRICS:
        if name in document:
            raw = obj(document, name).get("Reading")
            value, missing = measured(raw, status, unit)
            key = f"{uri}#/{name}"
            # No better than a sensor of that name, which may come with what is read anyway.
            yield Sample(
                key,
                unit.quantity,
                value,
                missing,
                health=status.health,
                channel=channel,
                rank=1,
            )
    into, out = (
        obj(document, name).get("Reading") for name in ("InputPowerWatts", "OutputPowerWatts")
    )
    yield from efficiency(uri, into, out)


def input_of(uri: str, document: dict[str, Any], volts: Any) -> Iterable[Sample]:
    """Say whether the feed is gone, and its voltage where one is given."""
    status = status_of(document)
    voltage = number(volts)
    feed = text(document, "LineInputStatus")
    dead = voltage == 0 and status.health in {"Warning", "Critical"}
    gone, missing = None, None
    if status.state == spell.ABSENT:
        missing = Missing.SENSOR_ABSENT
    elif feed in spell.NO_FEED or status.state == "UnavailableOffline" or dead:
        gone = 1.0
    elif feed == "Normal" or (isinstance(voltage, float) and voltage > 0):
        gone = 0.0
    else:
        missing = Missing.UNREADABLE
    yield Sample(f"{uri}#/feed", Quantity.COUNT, gone, missing, channel=spell.WITHOUT_INPUT)
    if volts is not None:
        value, none = measured(volts, status, VOLTS)
        yield Sample(f"{uri}#/volts", Quantity.VOLTAGE, value, none, channel=spell.IN_VOLTS)


def efficiency(uri: str, into: Any, out: Any) -> Iterable[Sample]:
    """Yield output by input power, where both are numbers and there is a load."""
    taken, given = number(into), number(out)
    if isinstance(taken, float) and isinstance(given, float) and taken >= LOADED_WATTS:
        key = f"{uri}#/efficiency"
        yield Sample(key, Quantity.RATIO, given / taken, channel=spell.EFFICIENCY)


def _failed(uri: str, document: dict[str, Any]) -> Sample:
    status = status_of(document)
    value, missing = None, None
    if status.state == spell.ABSENT:
        missing = Missing.SENSOR_ABSENT
    elif not status.health:
        missing = Missing.UNREADABLE
    else:
        value = float(status.health == "Critical")
    trouble = Reason.UNKNOWN_STATUS if status.strange else None
    channel = spell.SUPPLIES_FAILED
    return Sample(uri, Quantity.COUNT, value, missing, channel=channel, trouble=trouble)
