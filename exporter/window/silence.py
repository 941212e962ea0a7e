"""Silence and delay as channels: what the exporter itself sees of its sources.

Pure.  DCGM calls block under an error storm, and a GPU that fell off the bus
leaves nothing but a number that is too small, so both are signals of the node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.readings import Place, SourceName

if TYPE_CHECKING:
    from collections.abc import Iterable, Sized

    from exporter.collectors import SourceStatus

NAMES = {
    SourceName.DCGM: (
        "node_dcgm_scrape_seconds",
        "node_dcgm_age_seconds",
        "node_dcgm_failed_reads_total",
    ),
    SourceName.REDFISH: (
        "node_bmc_read_seconds",
        "node_bmc_age_seconds",
        "node_bmc_failed_reads_total",
    ),
}
GPUS_MISSING = Place("node_gpus_missing")


def watched(
    statuses: Iterable[SourceStatus], now: float, *, expected: int | None, seen: Sized | None
) -> dict[Place, float]:
    """Return the watch's readings at `now` (monotonic seconds).

    `expected` and `seen` are the GPUs that must report and those that do, None
    while unknown.  A read that is not back yet counts with the time it has taken.
    """
    values: dict[Place, float] = {}
    for status in statuses:
        if status.name not in NAMES:
            continue
        took, age, failed = (Place(name) for name in NAMES[status.name])
        lasted = [s for s in (status.duration_seconds, status.running_seconds) if s is not None]
        if lasted:
            values[took] = max(lasted)
        if status.read_at is not None:
            values[age] = max(0.0, now - status.read_at)
        values[failed] = float(status.failed_reads)
    if expected is not None and seen is not None:
        values[GPUS_MISSING] = float(max(0, expected - len(seen)))
    return values
