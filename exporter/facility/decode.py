"""Decoders: one resource of facility equipment in, items out.

Tolerant by field, never by document.  None of them raises for any JSON object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from exporter.facility.items import Item, Loop
from exporter.readings import Missing, Reason
from exporter.redfish import subsystems
from exporter.redfish.samples import leaf, measured, number, obj, status_of, text
from model.sources import facility as spell
from model.sources import redfish
from model.sources.facility import Coolant
from model.sources.redfish import Quantity, Unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from model.sources.facility import Term


class Kind(StrEnum):
    """Which decoder reads a resource."""

    PRIMARY = "primary"
    SECONDARY = "secondary"
    PUMP = "pump"
    RESERVOIR = "reservoir"
    FILTER = "filter"
    DETECTOR = "detector"
    ENVIRONMENT = "environment"
    MAINS = "mains"
    BRANCH = "branch"
    SUPPLY = "supply"
    SUPPLY_METRICS = "supply_metrics"
    FAN = "fan"
    THERMAL_METRICS = "thermal_metrics"
    SENSOR = "sensor"


Found = Iterable["Item | Loop"]
PLAIN = Unit(Quantity.COUNT)


def decode(kind: Kind, part: str, document: dict[str, Any]) -> list[Item | Loop]:
    """Return what a resource says; `part` names it among its kind."""
    return list(DECODERS[kind](f"{kind}/{part}", document))


def _terms(part: str, document: dict[str, Any], terms: Mapping[str, Term]) -> Iterable[Item]:
    """Decode excerpts, whose units stand in their names."""
    status = status_of(document)
    for name, term in terms.items():
        if name in document:
            raw = obj(document, name).get("Reading")
            value, missing = measured(raw, status, Unit(Quantity.COUNT, term.scale))
            yield Item(term.channel, part, value, missing, status.ailing)


def _connector(part: str, document: dict[str, Any], *, primary: bool) -> Found:
    items = tuple(_terms(part, document, spell.CONNECTOR))
    if primary:
        valve = _terms(part, document, {"ValvePositionPercent": spell.Term(spell.VALVE, 0.01)})
        yield from valve
    margin = {"DewPointProximityCelsius": spell.Term(spell.DEW_MARGIN)}
    yield from _terms(part, document, margin)
    yield Loop(
        part,
        primary,
        items,
        rise=_reported(document, "DeltaTemperatureCelsius", 1.0),
        drop=_reported(document, "DeltaPressurekPa", 1e3),
        heat=_reported(document, "HeatRemovedkW", 1e3),
        coolant=coolant_of(document),
    )


def _reported(document: dict[str, Any], name: str, scale: float) -> float | None:
    value, _ = measured(
        obj(document, name).get("Reading"), status_of(document), Unit(Quantity.COUNT, scale)
    )
    return value


def coolant_of(document: dict[str, Any]) -> Coolant | None:
    """Return what flows, where the equipment says density and heat capacity that can be."""
    said = obj(document, "Coolant")
    density, capacity = (
        number(said.get("DensityKgPerCubicMeter")),
        number(said.get("SpecificHeatkJoulesPerKgK")),
    )
    if not (isinstance(density, float) and isinstance(capacity, float)):
        return None
    liquid = 500 < density < 2500 and 0.5 < capacity < 10
    return Coolant(density, capacity) if liquid else None


def _primary(part: str, document: dict[str, Any]) -> Found:
    return _connector(part, document, primary=True)


def _secondary(part: str, document: dict[str, Any]) -> Found:
    return _connector(part, document, primary=False)


def _pump(part: str, document: dict[str, Any]) -> Found:
    yield from _terms(part, document, spell.PUMP)
    speed = obj(document, "PumpSpeedPercent").get("SpeedRPM")
    yield from _plain("pump_speed_rpm", part, document, speed)
    yield _critical(spell.PUMPS_FAILED, part, document)


def _reservoir(part: str, document: dict[str, Any]) -> Found:
    yield from _terms(part, document, spell.RESERVOIR)


def _filter(part: str, document: dict[str, Any]) -> Found:
    """Compare service hours with what the filter is rated for; few say a pressure drop."""
    drop = {"DeltaPressurekPa": spell.Term("filter_pressure_drop_pascals", 1e3)}
    yield from _terms(part, document, drop)
    hours, rated = number(document.get("ServiceHours")), number(document.get("RatedServiceHours"))
    if isinstance(hours, float) and isinstance(rated, float) and rated > 0:
        yield Item("filter_service_ratio", part, hours / rated)


def _detector(part: str, document: dict[str, Any]) -> Found:
    """Judge as for a node: a faulty or unreadable detector is unknown, not dry."""
    names = {redfish.LEAK: spell.LEAK, redfish.LEAK_FAULTS: spell.LEAK_FAULTS}
    for sample in subsystems.leak(part, document):
        yield Item(names[sample.channel], part, sample.value, sample.missing)


def _environment(part: str, document: dict[str, Any]) -> Found:
    yield from _terms(part, document, spell.ENVIRONMENT)
    factor = obj(document, "PowerWatts").get("PowerFactor")
    yield from _plain("power_factor_ratio", part, document, factor)


def _mains(part: str, document: dict[str, Any]) -> Found:
    yield from _terms(part, document, spell.MAINS)
    volts = obj(document, "PolyPhaseVoltage")
    for line in spell.LINE_VOLTAGES:
        reading = obj(volts, line).get("Reading")
        yield from _plain(spell.IN_VOLTS, f"{part}/{line}", document, reading)
    for line, amperes in _currents(document).items():
        yield from _plain(spell.IN_AMPERES, f"{part}/{line}", document, amperes)
    neutral = obj(obj(document, "PolyPhaseCurrentAmps"), "Neutral").get("Reading")
    yield from _plain(spell.NEUTRAL, part, document, neutral)
    yield from _breaker(part, document)


def _branch(part: str, document: dict[str, Any]) -> Found:
    """Compare a branch's most loaded line with its rating; a direct-current bus is an output."""
    if text(document, "CircuitType") == "Bus" or text(document, "VoltageType") == "DC":
        yield from _terms(part, document, spell.BUS)
    rated = number(document.get("RatedCurrentAmps"))
    status = status_of(document)
    known = [measured(raw, status, PLAIN) for raw in _currents(document).values()]
    amperes = [value for value, _ in known if value is not None]
    if isinstance(rated, float) and rated > 0 and known:
        load = max(amperes) / rated if amperes else None
        yield Item(spell.BRANCH_LOAD, part, load, None if amperes else known[0][1])
    yield from _breaker(part, document)


def _currents(document: dict[str, Any]) -> dict[str, Any]:
    """Return the readings of the lines, or of the circuit where it has one current."""
    lines = obj(document, "PolyPhaseCurrentAmps")
    found = {line: obj(lines, line).get("Reading") for line in spell.LINES if line in lines}
    if not found and "CurrentAmps" in document:
        found = {"": obj(document, "CurrentAmps").get("Reading")}
    return found


def _breaker(part: str, document: dict[str, Any]) -> Found:
    state = text(document, "BreakerState")
    if "BreakerState" in document:
        is_open = spell.BREAKER_STATES.get(state)
        missing = Missing.UNREADABLE if is_open is None else None
        value = None if is_open is None else float(is_open)
        yield Item(spell.BREAKERS, part, value, missing)


def _supply(part: str, document: dict[str, Any]) -> Found:
    """Tell a supply that failed from one at rest on purpose."""
    resting = text(obj(document, "Status"), "State") in spell.STANDBY
    if "Status" in document:
        yield _critical(spell.SUPPLIES_FAILED, part, document)
        yield Item(spell.SUPPLIES_STANDBY, part, float(resting))


def _supply_metrics(part: str, document: dict[str, Any]) -> Found:
    yield from _terms(part, document, spell.SUPPLY_METRICS)
    for name in (spell.IN_WATTS, spell.OUT_WATTS):
        reading = obj(document, name).get("Reading")
        yield from _plain(name, part, document, reading)


def _fan(part: str, document: dict[str, Any]) -> Found:
    speed = obj(document, "SpeedPercent")
    yield from _plain(spell.FAN_RPM, part, document, speed.get("SpeedRPM"))
    yield from _terms(part, document, {"SpeedPercent": spell.Term("fan_speed_ratio", 0.01)})


def _thermal_metrics(part: str, document: dict[str, Any]) -> Found:
    summary = obj(document, "TemperatureSummaryCelsius")
    for name, channel in (
        ("Ambient", "ambient_temperature_celsius"),
        ("Intake", "air_return_temperature_celsius"),
        ("Exhaust", "air_supply_temperature_celsius"),
    ):
        yield from _plain(channel, part, document, obj(summary, name).get("Reading"))


def _sensor(part: str, document: dict[str, Any]) -> Found:
    """Decode a sensor of equipment that is only a chassis, known by its id."""
    for sample in subsystems.sensor(part, document):
        for name in sample.names:
            channel = spell.sensor_channel(sample.quantity, name)
            if channel:
                owner = leaf(part).partition("_")[0]
                yield Item(channel, f"{owner}|{part}", sample.value, sample.missing, sample.ailing)
                break


def _plain(channel: str, part: str, document: dict[str, Any], raw: Any) -> Iterable[Item]:
    if raw is not None:
        status = status_of(document)
        value, missing = measured(raw, status, PLAIN)
        yield Item(channel, part, value, missing, status.ailing)


def _critical(channel: str, part: str, document: dict[str, Any]) -> Item:
    status = status_of(document)
    trouble = Reason.UNKNOWN_STATUS if status.strange else None
    if status.state == redfish.ABSENT:
        return Item(channel, part, None, Missing.SENSOR_ABSENT, trouble=trouble)
    if not status.health:
        return Item(channel, part, None, Missing.UNREADABLE, trouble=trouble)
    return Item(channel, part, float(status.health == "Critical"), trouble=trouble)


DECODERS: dict[Kind, Callable[[str, dict[str, Any]], Found]] = {
    Kind.PRIMARY: _primary,
    Kind.SECONDARY: _secondary,
    Kind.PUMP: _pump,
    Kind.RESERVOIR: _reservoir,
    Kind.FILTER: _filter,
    Kind.DETECTOR: _detector,
    Kind.ENVIRONMENT: _environment,
    Kind.MAINS: _mains,
    Kind.BRANCH: _branch,
    Kind.SUPPLY: _supply,
    Kind.SUPPLY_METRICS: _supply_metrics,
    Kind.FAN: _fan,
    Kind.THERMAL_METRICS: _thermal_metrics,
    Kind.SENSOR: _sensor,
}
