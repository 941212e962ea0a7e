"""What is known of the node at one moment: fresh readings of all sources, the rest by kind.

Pure.  The page renders a snapshot, the window takes one a step; neither ever
sees a reading that is too old.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exporter.readings import Missing, Place, SourceName
from exporter.window import silence
from model import schema
from model.sources import dcgm

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from exporter.collectors import SourceStatus
    from exporter.readings import Departure, Gpu, Workload

FRESH_CYCLES = 3
"""A reading older than this many cycles of its source is no reading."""


@dataclass(frozen=True, slots=True)
class NodeSnapshot:
    """Readings in schema units by place.

    `seen` is None while the GPUs cannot be counted, `expected_count` None while
    nobody knows; it may exceed `expected`, which lists those known by UUID.
    """

    values: Mapping[Place, float]
    missing: Mapping[Place, Missing]
    expected: tuple[Gpu, ...]
    expected_count: int | None
    seen: tuple[Gpu, ...] | None
    workloads: tuple[Workload, ...]
    departures: tuple[Departure, ...]
    sources: Mapping[SourceName, SourceStatus]
    ages: Mapping[Place, float] = field(default_factory=dict)
    """Seconds since a reading that takes turns with others, and is held meanwhile, was read."""
    installed_count: int | None = None
    """GPUs of the node, those that are away on purpose too; None while nobody knows."""

    @property
    def gpu_missing(self) -> bool:
        """Tell whether a GPU that must report left a page that answers."""
        if self.seen is None:
            return False
        here = {gpu.uuid for gpu in self.seen}
        lost = any(gpu.uuid not in here for gpu in self.expected)
        return lost or (self.expected_count or 0) > len(here)

    def missing_by_kind(self) -> Counter[Missing]:
        """Count the places without a value, every kind included."""
        counts = Counter(dict.fromkeys(Missing, 0))
        counts.update(self.missing.values())
        return counts


def is_fresh(status: SourceStatus, now: float) -> bool:
    """Tell whether the last good read of a source still counts at `now` (monotonic seconds)."""
    if status.read_at is None:
        return False
    return now - status.read_at <= FRESH_CYCLES * status.interval_seconds


def seen(statuses: Iterable[SourceStatus], now: float) -> tuple[Gpu, ...] | None:
    """Return the GPUs of the latest whole page, or None while no fresh one proves anything."""
    for status in statuses:
        readings = status.readings
        if status.name is SourceName.DCGM and readings is not None:
            return readings.gpus if readings.complete and is_fresh(status, now) else None
    return None


def take(
    statuses: Sequence[SourceStatus],
    now: float,
    *,
    expected: tuple[Gpu, ...],
    expected_count: int | None = None,
    installed_count: int | None = None,
    departed: Iterable[Departure] = (),
) -> NodeSnapshot:
    """Merge the sources' latest outcomes as they stand at `now` (monotonic seconds).

    `departed` is how GPUs left as far as it was known before; what a source tells goes first.
    """
    values: dict[Place, float] = {}
    missing: dict[Place, Missing] = {}
    workloads: tuple[Workload, ...] = ()
    ages: dict[Place, float] = {}
    for status in statuses:
        readings = status.readings
        if readings is None:
            continue
        if not is_fresh(status, now):
            stale = dict.fromkeys((*readings.values, *readings.missing), Missing.STALE)
            missing.update(stale)
            continue
        values.update(readings.values)
        missing.update(readings.missing)
        workloads += readings.workloads
        since = now - (status.read_at or now)
        ages.update((place, age + since) for place, age in readings.ages.items())
    present = seen(statuses, now)
    values |= silence.watched(statuses, now, expected=expected_count, seen=present)
    silent = _unread_gpus(expected, present) | _unread_node(statuses, now)
    missing = silent | missing
    return NodeSnapshot(
        values=values,
        missing={place: kind for place, kind in missing.items() if place not in values},
        expected=expected,
        expected_count=expected_count,
        seen=present,
        workloads=workloads,
        departures=_departures((*departed, *departures(statuses)), expected, present),
        sources={status.name: status for status in statuses},
        ages=ages,
        installed_count=installed_count,
    )


def departures(statuses: Iterable[SourceStatus]) -> tuple[Departure, ...]:
    """Return how GPUs left, as the sources tell."""
    known = (status.readings.departures for status in statuses if status.readings is not None)
    return tuple(left for told in known for left in told)


def _departures(
    told: Iterable[Departure], expected: Iterable[Gpu], present: tuple[Gpu, ...] | None
) -> tuple[Departure, ...]:
    """Return how GPUs left that must report; while nothing can be counted, none has left."""
    if present is None:
        return ()
    gone = {gpu.uuid for gpu in expected} - {gpu.uuid for gpu in present}
    return tuple({left.uuid: left for left in told if left.uuid in gone}.values())


def _unread_gpus(
    expected: tuple[Gpu, ...], present: tuple[Gpu, ...] | None
) -> dict[Place, Missing]:
    """Name what no source spoke of: GPUs that left a page that answers, or nobody answered."""
    here = {gpu.uuid for gpu in present or ()}
    silence = Missing.SOURCE_DOWN if present is None else Missing.GPU_GONE
    return {
        Place(channel, gpu.uuid): silence
        for gpu in expected
        if gpu.uuid not in here
        for channel in dcgm.CHANNELS
    }


def _unread_node(statuses: Sequence[SourceStatus], now: float) -> dict[Place, Missing]:
    """Name what no source spoke of: nobody is asked, nobody answered, or it was not shown."""
    asked = {str(status.name) for status in statuses} | {schema.Origin.EXPORTER}
    answered = {str(status.name) for status in statuses if is_fresh(status, now)}
    answered.add(schema.Origin.EXPORTER)

    def silence(origin: schema.Origin) -> Missing:
        if origin not in asked:
            return Missing.NO_SOURCE
        return Missing.ABSENT_FAMILY if origin in answered else Missing.SOURCE_DOWN

    return {Place(row.name): silence(row.origin) for row in schema.channels(schema.Level.NODE)}
