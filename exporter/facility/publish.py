"""The facility's page: what each piece of equipment says, as families with equipment and rack."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from prometheus_client.registry import Collector as PrometheusCollector

from exporter.facility.items import EquipmentReadings
from exporter.facility.judge import PREFIX
from exporter.page import catalog
from exporter.page.pages import STYLE, table
from exporter.page.publish import family
from exporter.window.snapshot import is_fresh
from model import schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from prometheus_client import Metric

    from exporter.collectors import SourceStatus
    from exporter.facility.items import UnitReadings
    from exporter.facility.settings import Target
    from exporter.page.publish import Rows

NAMESPACE = schema.NAMESPACE


class Standing(NamedTuple):
    """A target and what is known of it."""

    target: Target
    status: SourceStatus


class FacilityView(NamedTuple):
    """All that the page shows, as of `now` (monotonic seconds)."""

    now: float
    standings: tuple[Standing, ...]
    rack_of: Mapping[str, str]
    settings_reloaded: bool
    version: str


class FacilityPage(PrometheusCollector):
    """The custom collector behind `/metrics` of the facility exporter."""

    def __init__(self, view: Callable[[], FacilityView]) -> None:
        self._view = view

    def collect(self) -> Iterator[Metric]:
        """Yield the families that have at least one series now."""
        for name, rows in series(self._view()):
            if rows:
                yield family(catalog.BY_NAME[name], rows)


def series(view: FacilityView) -> Iterator[tuple[str, Rows]]:
    """Yield metric name and rows of everything that `view` supports."""
    yield from _channels(view)
    yield from _health(view)
    racks = sorted(view.rack_of.items())
    yield "forewarn_facility_rack_info", [((rack, node), 1.0) for node, rack in racks]
    reloaded = float(view.settings_reloaded)
    yield "forewarn_facility_settings_reload_success", [((), reloaded)]
    yield "forewarn_build_info", [((view.version,), 1.0)]


def fresh(standing: Standing, now: float) -> EquipmentReadings | None:
    """Return the readings of a target that still count; older than three cycles is no reading."""
    readings = standing.status.readings
    if isinstance(readings, EquipmentReadings) and is_fresh(standing.status, now):
        return readings
    return None


def _units(view: FacilityView) -> Iterator[tuple[str, str, UnitReadings]]:
    """Yield equipment, rack and readings of every piece: once for each of its racks."""
    for standing in view.standings:
        readings = fresh(standing, view.now)
        for unit in readings.units if readings is not None else ():
            name = _named(standing.target, unit.unit.suffix)
            for rack in standing.target.racks or ("",):
                yield name, rack, unit


def _named(target: Target, suffix: str) -> str:
    return f"{target.equipment}/{suffix}" if suffix else target.equipment


def _channels(view: FacilityView) -> Iterator[tuple[str, Rows]]:
    rows: dict[str, Rows] = {
        channel.metric: [] for channel in schema.channels(schema.Level.FACILITY)
    }
    info: Rows = []
    missing: Rows = []
    for equipment, rack, readings in _units(view):
        for channel, value in readings.values.items():
            if PREFIX + channel in schema.BY_NAME:
                rows[NAMESPACE + PREFIX + channel].append(((equipment, rack), value))
        info.append(((equipment, rack, readings.unit.kind), 1.0))
        counts = Counter(readings.missing.values())
        missing += [((equipment, rack, kind), float(n)) for kind, n in counts.items()]
    yield from rows.items()
    yield "forewarn_facility_equipment_info", info
    yield "forewarn_facility_missing_readings", missing


def _health(view: FacilityView) -> Iterator[tuple[str, Rows]]:
    rows: dict[str, Rows] = {
        metric.name: []
        for metric in catalog.FACILITY
        if metric.name.startswith(f"{NAMESPACE}facility_source_")
    }
    for target, status in view.standings:
        readings = fresh(Standing(target, status), view.now)
        numbers = {
            "up": float(status.up),
            "last_success_timestamp_seconds": status.last_success,
            "read_duration_seconds": status.duration_seconds,
            "requests": float(readings.requests) if readings else None,
            "oldest_reading_seconds": readings.oldest_seconds if readings else None,
        }
        for rack in target.racks or ("",):
            for name, value in numbers.items():
                if value is not None:
                    key = f"{NAMESPACE}facility_source_{name}"
                    rows[key].append(((target.equipment, rack), value))
        rows[f"{NAMESPACE}facility_source_errors_total"] += [
            ((target.equipment, reason), float(count)) for reason, count in status.errors.items()
        ]
    yield from rows.items()


def landing(view: FacilityView) -> str:
    """Return the page for people: which equipment answers, and what it says."""
    sources = [
        (target.equipment, ", ".join(target.racks), "up" if status.up else "down",
         status.failure or "", status.detail)
        for target, status in view.standings
    ]  # fmt: skip
    values = [
        (equipment, rack, channel, f"{value:g}")
        for equipment, rack, readings in _units(view)
        for channel, value in sorted(readings.values.items())
    ]
    missing = [
        (equipment, rack, channel, str(kind))
        for equipment, rack, readings in _units(view)
        for channel, kind in sorted(readings.missing.items())
    ]
    return (
        f"<!doctype html><html lang=en><title>Forewarn: facility</title><style>{STYLE}</style>"
        f"<h1>Facility</h1>{table(sources)}<h2>Readings</h2>{table(values)}"
        f"<h2>Missing readings</h2>{table(missing)}<p><a href=/metrics>metrics</a></html>\n"
    )
