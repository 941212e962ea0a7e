"""What is known of the node at one moment: fresh readings of all sources, the rest by kind.

Pure.  The page renders a snapshot, the window takes one a step; neither ever
sees a reading that is too old.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exporter.readings import Missing, Place, SourceName
from model import schema
from model.sources import dcgm

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from exporter.collectors import SourceStatus
    from exporter.readings import Gpu, Workload

FRESH_CYCLES = 3
"""A reading older than this many cycles of its source is no reading."""


@dataclass(frozen=True, slots=True)
class NodeSnapshot:
    """Readings in schema units by place; `seen` is None while the GPUs cannot be counted."""

    values: Mapping[Place, float]
    missing: Mapping[Place, Missing]
    expected: tuple[Gpu, ...]
    seen: tuple[Gpu, ...] | None
    workloads: tuple[Workload, ...]
    sources: Mapping[SourceName, SourceStatus]

    def missing_by_kind(self) -> Counter[Missing]:
        """Count the places without a value, every kind included."""
        return Counter(dict.fromkeys(Missing, 0)) + Counter(self.missing.values())


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


def take(statuses: Sequence[SourceStatus], expected: tuple[Gpu, ...], now: float) -> NodeSnapshot:
    """Merge the sources' latest outcomes as they stand at `now` (monotonic seconds)."""
    values: dict[Place, float] = {}
    missing: dict[Place, Missing] = {}
    workloads: tuple[Workload, ...] = ()
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
    present = seen(statuses, now)
    missing.update(_unread(expected, present, values, missing))
    return NodeSnapshot(
        values=values,
        missing={place: kind for place, kind in missing.items() if place not in values},
        expected=expected,
        seen=present,
        workloads=workloads,
        sources={status.name: status for status in statuses},
    )


def _unread(
    expected: tuple[Gpu, ...],
    present: tuple[Gpu, ...] | None,
    values: Mapping[Place, float],
    missing: Mapping[Place, Missing],
) -> dict[Place, Missing]:
    """Name what no source spoke of: GPUs that left a page that answers, or nobody answered."""
    here = {gpu.uuid for gpu in present or ()}
    silence = Missing.SOURCE_DOWN if present is None else Missing.GPU_GONE
    unread: dict[Place, Missing] = {}
    for gpu in expected:
        for channel in dcgm.CHANNELS:
            place = Place(channel, gpu.uuid)
            if gpu.uuid not in here and place not in values and place not in missing:
                unread[place] = silence
    for row in schema.channels(schema.Level.NODE):
        place = Place(row.name)
        if place not in values and place not in missing:
            unread[place] = Missing.SOURCE_DOWN
    return unread
