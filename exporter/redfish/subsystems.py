"""Decoders of the newer model: sensors, excerpts of sensors, and parts with a health."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exporter.readings import Missing, Reason
from exporter.redfish.samples import (
    CELSIUS,
    UNLIMITED,
    Limits,
    Sample,
    leaf,
    limit,
    measured,
    obj,
    objects,
    status_of,
    text,
    upper_celsius,
)
from model.sources import redfish as spell
from model.sources.redfish import Quantity, Unit

if TYPE_CHECKING:
    from collections.abc import Iterable

WATTS, RPM, LITERS = Unit(Quantity.POWER), Unit(Quantity.FAN_SPEED), Unit(Quantity.FLOW)
PERCENT, KILOPASCALS = Unit(Quantity.RATIO, 0.01), Unit(Quantity.PRESSURE, 1e3)
KILOWATT_HOURS, JOULES = Unit(Quantity.ENERGY, 3.6e6), Unit(Quantity.ENERGY)
HUMIDITY = Unit(Quantity.HUMIDITY, 0.01)
HEADROOM = "Headroom"
CONNECTOR: tuple[tuple[str, str, Unit], ...] = (
    ("SupplyTemperatureCelsius", spell.SUPPLY, CELSIUS),
    ("ReturnTemperatureCelsius", spell.RETURN, CELSIUS),
    ("FlowLitersPerMinute", spell.FLOW, LITERS),
    ("SupplyPressurekPa", spell.SUPPLY_PRESSURE, KILOPASCALS),
    ("ReturnPressurekPa", spell.RETURN_PRESSURE, KILOPASCALS),
)
ENVIRONMENT: tuple[tuple[str, str, Unit, int], ...] = (
    ("PowerWatts", spell.POWER, WATTS, 1),
    ("EnergyJoules", spell.ENERGY, JOULES, 0),
    ("EnergykWh", spell.ENERGY, KILOWATT_HOURS, 1),
    ("HumidityPercent", spell.HUMIDITY, HUMIDITY, 0),
    ("DewPointCelsius", spell.DEW_POINT, CELSIUS, 0),
)
SUMMARY: tuple[tuple[str, str, int], ...] = (
    ("Ambient", spell.INLET, 0),
    ("Intake", spell.INLET, 1),
    ("Exhaust", spell.OUTLET, 1),
)


def sensor(uri: str, document: dict[str, Any]) -> Iterable[Sample]:
    """Decode a Sensor; a headroom is a margin, an unknown unit is not a reading."""
    unit = spell.unit_of(text(document, "ReadingType"), text(document, "ReadingUnits"))
    basis = text(document, "ReadingBasis")
    if unit is None or basis not in {"", "Zero", HEADROOM}:
        return
    status = status_of(document)
    raw = document.get("Reading") if document.get("Enabled") is not False else None
    value, missing = measured(raw, status, unit)
    names = (text(document, "Name"), leaf(uri))
    margin = basis == HEADROOM or any(spell.MARGIN_NAME.search(spell.words(n)) for n in names)
    quantity = unit.quantity
    if margin and quantity is Quantity.TEMPERATURE:
        quantity = Quantity.MARGIN
    yield Sample(
        uri,
        quantity,
        value,
        missing,
        names=names,
        context=text(document, "PhysicalContext"),
        health=status.health,
        trouble=Reason.UNKNOWN_STATUS if status.strange else None,
        limits=_limits(document, unit),
    )


def _limits(document: dict[str, Any], unit: Unit) -> Limits:
    thresholds = obj(document, "Thresholds")

    def threshold(name: str) -> Any:
        return obj(thresholds, name).get("Reading")

    if unit.quantity is Quantity.TEMPERATURE:
        limits = upper_celsius(threshold("UpperCritical"), threshold("UpperFatal"))
        upper = limits.upper
        return limits if upper is None else Limits(upper=upper * unit.scale + unit.offset)
    return Limits(limit(threshold("LowerCritical"), unit), limit(threshold("UpperCritical"), unit))


def thermal_metrics(uri: str, document: dict[str, Any]) -> Iterable[Sample]:
    """Decode ThermalMetrics: every temperature of a chassis, known by the sensor behind it.

    It carries no status, so a 0 may be an absent sensor: it is taken as none.
    """
    for index, member in objects(document, "TemperatureReadingsCelsius"):
        source = text(member, "DataSourceUri")
        key = source or f"{uri}#/TemperatureReadingsCelsius/{index}"
        names = (leaf(source), text(member, "DeviceName"))
        yield _excerpt(key, member, CELSIUS, names=names)
    summary = obj(document, "TemperatureSummaryCelsius")
    for name, channel, rank in SUMMARY:
        if name in summary:
            key = f"{uri}#/TemperatureSummaryCelsius/{name}"
            yield _excerpt(key, obj(summary, name), CELSIUS, channel=channel, rank=rank)


def environment(uri: str, document: dict[str, Any]) -> Iterable[Sample]:
    """Decode EnvironmentMetrics; its fan speeds mix percent and rpm and are left."""
    for name, channel, unit, rank in ENVIRONMENT:
        member = obj(document, name)
        if member:
            key = text(member, "DataSourceUri") or f"{uri}#/{name}"
            yield _excerpt(key, member, unit, channel=channel, rank=rank)
    control = obj(document, "PowerLimitWatts")
    point = control.get("SetPoint")
    if point is not None and obj(document, "PowerWatts"):
        value, missing = measured(point, status_of(control), WATTS)
        key, channel = f"{uri}#/PowerLimitWatts", spell.POWER_LIMIT
        yield Sample(key, Quantity.POWER, value, missing, channel=channel)


def fan(uri: str, document: dict[str, Any]) -> Iterable[Sample]:
    """Decode a Fan: rpm where it says them, else a share of its full speed."""
    yield from _turning(uri, document, "SpeedPercent", spell.FAN, spell.FAN_RATIO)


def pump(uri: str, document: dict[str, Any]) -> Iterable[Sample]:
    """Decode a Pump of the node's own loop."""
    yield from _turning(uri, document, "PumpSpeedPercent", spell.PUMP, spell.PUMP_RATIO)


def _turning(
    uri: str, document: dict[str, Any], name: str, rpm: str, ratio: str
) -> Iterable[Sample]:
    status = status_of(document)
    member = obj(document, name)
    for property_name, channel, unit in (("SpeedRPM", rpm, RPM), ("Reading", ratio, PERCENT)):
        if property_name in member:
            value, missing = measured(member[property_name], status, unit)
            key = f"{uri}#/{property_name}"
            yield Sample(key, unit.quantity, value, missing, health=status.health, channel=channel)


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
    absent = missing if missing is Missing.SENSOR_ABSENT else None
    fault = None if absent else float(missing is not None)
    yield Sample(f"{uri}#/fault", Quantity.COUNT, fault, absent, channel=spell.LEAK_FAULTS)


def connector(uri: str, document: dict[str, Any]) -> Iterable[Sample]:
    """Decode a CoolantConnector of the node: units in the names."""
    for name, channel, unit in CONNECTOR:
        if name in document:
            yield _excerpt(f"{uri}#/{name}", obj(document, name), unit, channel=channel)


def processor(uri: str, document: dict[str, Any]) -> Iterable[Sample]:
    """Count a processor that is critical or in warning, and a GPU that is enabled."""
    status = status_of(document)
    value, missing = status.health, None
    if status.state == spell.ABSENT:
        missing = Missing.SENSOR_ABSENT
    elif not value:
        missing = Missing.UNREADABLE
    for health, channel in (
        ("Critical", spell.PROCESSORS_FAILED),
        ("Warning", spell.PROCESSORS_WARNING),
    ):
        count = None if missing else float(value == health)
        yield Sample(f"{uri}#/{health}", Quantity.COUNT, count, missing, channel=channel)
    if text(document, "ProcessorType") == "GPU":
        here = float(status.state == "Enabled") if status.state else None
        unknown = Missing.UNREADABLE if here is None else None
        yield Sample(f"{uri}#/gpu", Quantity.COUNT, here, unknown, channel=spell.GPUS)


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
    quantity = unit.quantity
    if quantity is Quantity.TEMPERATURE:
        if value == 0:
            value, missing = None, Missing.ZERO_MEANS_NONE
        if any(spell.MARGIN_NAME.search(spell.words(name)) for name in names):
            quantity = Quantity.MARGIN
    return Sample(
        key, quantity, value, missing, names, channel=channel, rank=rank, limits=UNLIMITED
    )
