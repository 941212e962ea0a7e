"""Decoders: one resource of the standard in, samples out.

Tolerant by field, never by document: a member that cannot be read costs that
member.  None of them raises for any JSON object.
"""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from exporter.readings import Missing, Reason
from exporter.redfish.samples import (
    Sample,
    leaf,
    measured,
    number,
    obj,
    objects,
    status_of,
    text,
)
from model.sources import redfish as spell
from model.sources.redfish import Quantity, Unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

CELSIUS, WATTS, RPM = (
    Unit(Quantity.TEMPERATURE),
    Unit(Quantity.POWER),
    Unit(Quantity.FAN_SPEED),
)
LITERS = Unit(Quantity.FLOW)
OFFSET = re.compile(r"([+-]\d\d)(\d\d)$")


class Kind(StrEnum):
    """Which decoder reads a resource."""

    REPORT = "report"
    THERMAL = "thermal"
    POWER = "power"
    THERMAL_METRICS = "thermal_metrics"
    ENVIRONMENT = "environment"
    SENSOR = "sensor"
    SUPPLY = "supply"
    LEAK = "leak"
    CONNECTOR = "connector"


def decode(kind: Kind, uri: str, document: dict[str, Any], *, stale_after: float) -> list[Sample]:
    """Return the samples of one resource; `stale_after` (seconds) only concerns reports."""
    if kind is Kind.REPORT:
        return list(_report(document, stale_after))
    return list(DECODERS[kind](uri, document))


def sensor(uri: str, document: dict[str, Any]) -> Iterable[Sample]:
    """Decode a Sensor; a headroom is not a temperature, an unknown unit is not a reading."""
    unit = spell.unit_of(text(document, "ReadingType"), text(document, "ReadingUnits"))
    if unit is None or text(document, "ReadingBasis") not in {"", "Zero"}:
        return
    status = status_of(document)
    raw = document.get("Reading") if document.get("Enabled") is not False else None
    value, missing = measured(raw, status, unit)
    yield Sample(
        uri,
        unit.quantity,
        value,
        missing,
        names=(text(document, "Name"), leaf(uri)),
        context=text(document, "PhysicalContext"),
        ailing=status.ailing,
        trouble=Reason.UNKNOWN_STATUS if status.strange else None,
    )


def thermal(uri: str, document: dict[str, Any]) -> Iterable[Sample]:
    """Decode the older Thermal resource: temperatures, and fans that are counted in rpm."""
    for index, member in objects(document, "Temperatures"):
        if not _is_margin(member):
            raw = member.get("ReadingCelsius")
            yield _member(f"{uri}#/Temperatures/{index}", member, raw, CELSIUS)
    for index, member in objects(document, "Fans"):
        units = text(member, "ReadingUnits") or text(member, "Units")
        unit = spell.UNITS.get(units.lower(), RPM)
        if unit.quantity is Quantity.FAN_SPEED:
            raw = member.get("Reading", member.get("CurrentReading"))
            yield _member(f"{uri}#/Fans/{index}", member, raw, unit)


def power(uri: str, document: dict[str, Any]) -> Iterable[Sample]:
    """Decode the older Power resource; its first control is the whole chassis."""
    for index, member in objects(document, "PowerControl"):
        if index == 0:
            raw = member.get("PowerConsumedWatts")
            key = f"{uri}#/PowerControl/0"
            yield _member(key, member, raw, WATTS, channel=spell.POWER, rank=0)
    for index, member in objects(document, "PowerSupplies"):
        key = f"{uri}#/PowerSupplies/{index}"
        yield from supply(key, member)
        if "PowerInputWatts" in member:
            raw = member.get("PowerInputWatts")
            yield _member(f"{key}/in", member, raw, WATTS, channel=spell.POWER, rank=2)


def supply(uri: str, document: dict[str, Any]) -> Iterable[Sample]:
    """Say whether a power supply failed: critical health, in whatever state but absent.

    An unplugged supply says UnavailableOffline and Critical; one without a
    readable health is unknown, neither well nor failed; one without any status
    says nothing of it.
    """
    if "Status" not in document:
        return
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
    yield Sample(uri, Quantity.SUPPLY_FAILURE, value, missing, channel=channel, trouble=trouble)


def leak(uri: str, document: dict[str, Any]) -> Iterable[Sample]:
    """Say whether a detector sees a leak; a faulty or unreadable one is unknown, not dry."""
    status = status_of(document)
    word = text(document, "DetectorState")
    value, missing = None, None
    if spell.ABSENT in {status.state, word}:
        missing = Missing.SENSOR_ABSENT
    elif status.state != "Enabled" or document.get("Enabled") is False or word not in spell.LEAKING:
        missing = Missing.UNREADABLE
    else:
        value = float(spell.LEAKING[word])
    yield Sample(uri, Quantity.LEAK, value, missing, channel=spell.LEAK)


def thermal_metrics(uri: str, document: dict[str, Any]) -> Iterable[Sample]:
    """Decode ThermalMetrics: every temperature of a chassis, known by the sensor behind it.

    It carries no status, so a 0 may be an absent sensor: it is taken as none.
    """
    for index, member in objects(document, "TemperatureReadingsCelsius"):
        source = text(member, "DataSourceUri")
        key = source or f"{uri}#/TemperatureReadingsCelsius/{index}"
        yield _excerpt(key, member, CELSIUS, names=(leaf(source), text(member, "DeviceName")))


def environment(uri: str, document: dict[str, Any]) -> Iterable[Sample]:
    """Decode the power of EnvironmentMetrics; its fan speeds mix percent and rpm and are left."""
    member = obj(document, "PowerWatts")
    if member:
        key = text(member, "DataSourceUri") or f"{uri}#/PowerWatts"
        yield _excerpt(key, member, WATTS, channel=spell.POWER, rank=1)


def connector(uri: str, document: dict[str, Any]) -> Iterable[Sample]:
    """Decode a CoolantConnector of the node: supply, return and flow, units in the names."""
    for name, channel, unit in (
        ("SupplyTemperatureCelsius", spell.SUPPLY, CELSIUS),
        ("ReturnTemperatureCelsius", spell.RETURN, CELSIUS),
        ("FlowLitersPerMinute", spell.FLOW, LITERS),
    ):
        if name in document:
            yield _excerpt(f"{uri}#/{name}", obj(document, name), unit, channel=channel)


DECODERS: dict[Kind, Callable[[str, dict[str, Any]], Iterable[Sample]]] = {
    Kind.THERMAL: thermal,
    Kind.POWER: power,
    Kind.THERMAL_METRICS: thermal_metrics,
    Kind.ENVIRONMENT: environment,
    Kind.SENSOR: sensor,
    Kind.SUPPLY: supply,
    Kind.LEAK: leak,
    Kind.CONNECTOR: connector,
}


def _member(
    key: str,
    member: dict[str, Any],
    raw: Any,
    unit: Unit,
    *,
    channel: str = "",
    rank: int = 0,
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
        ailing=status.ailing,
        channel=channel,
        rank=rank,
        trouble=Reason.UNKNOWN_STATUS if status.strange else None,
    )


def _excerpt(
    key: str,
    member: dict[str, Any],
    unit: Unit,
    *,
    names: tuple[str, ...] = (),
    channel: str = "",
    rank: int = 0,
) -> Sample:
    value, missing = measured(member.get("Reading"), status_of(member), unit)
    if value == 0 and unit.quantity is Quantity.TEMPERATURE:
        value, missing = None, Missing.ZERO_MEANS_NONE
    return Sample(key, unit.quantity, value, missing, names, channel=channel, rank=rank)


def _is_margin(member: dict[str, Any]) -> bool:
    """Tell a distance to a limit from a temperature: its range ends at 0 and starts below."""
    low, high = number(member.get("MinReadingRangeTemp")), number(member.get("MaxReadingRangeTemp"))
    return isinstance(low, float) and isinstance(high, float) and low < 0 and high <= 0


def _report(document: dict[str, Any], stale_after: float) -> Iterable[Sample]:
    values = [member for _, member in objects(document, "MetricValues")]
    stamps = [stamp for member in values if (stamp := _seconds(text(member, "Timestamp")))]
    newest = max(stamps, default=0.0)
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for member in values:
        groups[text(member, "MetricProperty")].append(member)
    for key, members in groups.items():
        quantity = _quantity_by_name(leaf(_address(key)))
        if key and quantity is not None:
            yield _metric(key, quantity, members, oldest=newest - stale_after)


def _metric(
    key: str, quantity: Quantity, members: list[dict[str, Any]], *, oldest: float
) -> Sample:
    address = _address(key)
    chosen = _one_of(members)
    if chosen is None:
        return Sample(address, quantity, None, Missing.AMBIGUOUS, names=(leaf(address),))
    value = number(chosen.get("MetricValue"))
    stamp = _seconds(text(chosen, "Timestamp"))
    missing = value if isinstance(value, Missing) else None
    if missing is None and stamp and stamp < oldest:
        missing = Missing.STALE
    return Sample(
        address,
        quantity,
        value if isinstance(value, float) and missing is None else None,
        missing,
        names=(leaf(address),),
    )


def _address(key: str) -> str:
    """Return the sensor that a MetricProperty means: some name its `Reading`, some do not."""
    return key.removesuffix("/Reading").removesuffix("#")


def _one_of(members: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the average among several values of one property; None where no rule picks one."""
    if len(members) == 1:
        return members[0]
    averages = [m for m in members if spell.AVERAGE.search(text(m, "MetricId"))]
    return averages[0] if len(averages) == 1 else None


def _quantity_by_name(name: str) -> Quantity | None:
    """Reports carry no units; the sensor's own name says what it measures, or nothing does."""
    words = spell.words(name).split()
    for quantity, marks in spell.QUANTITY_WORDS.items():
        if marks.intersection(words):
            return quantity
    return None


def _seconds(stamp: str) -> float | None:
    """Read an ISO 8601 time as seconds, only to be compared with others of its report."""
    try:
        return datetime.fromisoformat(OFFSET.sub(r"\1:\2", stamp)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
