"""Decoders of the older model, Thermal and Power: two resources for a whole chassis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exporter.readings import Reason
from exporter.redfish.samples import (
    CELSIUS,
    UNLIMITED,
    Limits,
    Sample,
    measured,
    number,
    obj,
    objects,
    status_of,
    text,
    upper_celsius,
)
from exporter.redfish.supplies import input_of, supply
from model.sources import redfish as spell
from model.sources.redfish import Quantity, Unit

if TYPE_CHECKING:
    from collections.abc import Iterable

WATTS, RPM, VOLTS = (
    Unit(Quantity.POWER),
    Unit(Quantity.FAN_SPEED),
    Unit(Quantity.VOLTAGE),
)


def thermal(uri: str, document: dict[str, Any]) -> Iterable[Sample]:
    """Decode temperatures and fans; what is listed as a temperature may be a margin."""
    for index, member in objects(document, "Temperatures"):
        yield _temperature(f"{uri}#/Temperatures/{index}", member)
    for index, member in objects(document, "Fans"):
        units = text(member, "ReadingUnits") or text(member, "Units")
        unit = spell.UNITS.get(units.lower(), RPM)
        raw = member.get("Reading", member.get("CurrentReading"))
        yield _member(f"{uri}#/Fans/{index}", member, raw, unit)


def power(uri: str, document: dict[str, Any]) -> Iterable[Sample]:
    """Decode controls, of which the first is the whole chassis, supplies and voltages."""
    for index, member in objects(document, "PowerControl"):
        if index == 0:
            yield from _control(f"{uri}#/PowerControl/0", member)
    for index, member in objects(document, "PowerSupplies"):
        key = f"{uri}#/PowerSupplies/{index}"
        yield from supply(key, member)
        yield from _supply_power(key, member)
    for index, member in objects(document, "Voltages"):
        raw = member.get("ReadingVolts")
        yield _member(f"{uri}#/Voltages/{index}", member, raw, VOLTS)


def _temperature(key: str, member: dict[str, Any]) -> Sample:
    raw = member.get("ReadingCelsius")
    if _ends_at_zero(member):
        return _member(key, member, raw, Unit(Quantity.MARGIN, -1.0))
    if spell.MARGIN_NAME.search(spell.words(text(member, "Name"))):
        return _member(key, member, raw, Unit(Quantity.MARGIN))
    upper = member.get("UpperThresholdCritical"), member.get("UpperThresholdFatal")
    return _member(key, member, raw, CELSIUS, limits=upper_celsius(*upper))


def _ends_at_zero(member: dict[str, Any]) -> bool:
    """Tell a distance to a limit, counted from below, from a temperature: its range ends at 0."""
    low, high = number(member.get("MinReadingRangeTemp")), number(member.get("MaxReadingRangeTemp"))
    return isinstance(low, float) and isinstance(high, float) and low < 0 and high <= 0


def _control(key: str, member: dict[str, Any]) -> Iterable[Sample]:
    raw = member.get("PowerConsumedWatts")
    yield _member(key, member, raw, WATTS, channel=spell.POWER)
    limit = obj(member, "PowerLimit").get("LimitInWatts")
    if raw is not None and limit is not None:
        # Where nothing is measured, a recorded BMC shows a limit below what the node draws.
        yield _member(f"{key}/limit", member, limit, WATTS, channel=spell.POWER_LIMIT)


def _supply_power(key: str, member: dict[str, Any]) -> Iterable[Sample]:
    if "PowerInputWatts" in member:
        raw = member.get("PowerInputWatts")
        yield _member(f"{key}/in", member, raw, WATTS, channel=spell.IN_WATTS)
        yield _member(f"{key}/all", member, raw, WATTS, channel=spell.POWER, rank=2)
    for name in ("PowerOutputWatts", "LastPowerOutputWatts"):
        if member.get(name) is not None:
            raw = member[name]
            yield _member(f"{key}/out", member, raw, WATTS, channel=spell.OUT_WATTS)
            break
    yield from input_of(key, member, member.get("LineInputVoltage"))


def _member(
    key: str,
    member: dict[str, Any],
    raw: Any,
    unit: Unit,
    *,
    channel: str = "",
    rank: int = 0,
    limits: Limits = UNLIMITED,
) -> Sample:
    status = status_of(member)
    value, missing = measured(raw, status, unit)
    return Sample(
        key,
        unit.quantity,
        value,
        missing,
        names=(text(member, "Name") or text(member, "FanName"),),
        context=text(member, "PhysicalContext"),
        health=status.health,
        channel=channel,
        rank=rank,
        # A supply has several readings and one status, which is counted with its health.
        trouble=Reason.UNKNOWN_STATUS if status.strange and not channel else None,
        limits=limits,
    )
