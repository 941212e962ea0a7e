"""One look at each piece of the facility, told to a person: what it says, what is missing."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING

from exporter import probe
from exporter.facility.equipment import EquipmentSource
from exporter.facility.items import EquipmentReadings
from exporter.sources import Named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.clocks import Clock
    from exporter.facility.items import UnitReadings
    from exporter.facility.settings import FacilitySettings, Target
    from exporter.probe import Finding

AT_ONCE = 16
"""Targets that are asked side by side: each is another piece of equipment."""


def run(settings: FacilitySettings, clock: Clock) -> tuple[str, bool]:
    """Return the report, and whether every target gave readings."""
    targets = settings.targets
    named = [_named(target, clock) for target in targets]
    findings = _look_at_all(named, clock)
    lines = ["facility: each target was asked once, nothing is kept", ""]
    for target, finding in zip(targets, findings, strict=True):
        lines += [*_target(target, finding), ""]
    lines += _racks(settings)
    good = bool(findings) and all(finding.readings is not None for finding in findings)
    return "\n".join(lines) + "\n", good


def _look_at_all(named: Sequence[Named], clock: Clock) -> list[Finding]:
    """Ask all, some at once; in threads that nobody waits for who stops the probe."""
    waiting = SimpleQueue[int]()
    for turn in range(len(named)):
        waiting.put(turn)
    found: dict[int, Finding] = {}

    def work() -> None:
        with suppress(Empty):
            while True:
                turn = waiting.get_nowait()
                found[turn] = probe.look(named[turn], clock, walks=True)

    threads = [Thread(target=work, daemon=True) for _ in range(min(AT_ONCE, len(named)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[turn] for turn in range(len(named))]


def _named(target: Target, clock: Clock) -> Named:
    source = EquipmentSource(target, clock=clock)
    return Named(source, target.url, target.interval_seconds, target.deadline_seconds)


def _target(target: Target, finding: Finding) -> Iterator[str]:
    yield f"{target.equipment}, for {_racks_of(target)}"
    yield from (f"  {line}" for line in probe.source(finding))
    if isinstance(finding.readings, EquipmentReadings):
        for unit in finding.readings.units:
            yield from (f"    {line}" for line in _unit(unit))


def _racks_of(target: Target) -> str:
    return f"rack {', '.join(target.racks)}" if target.racks else "no rack: no node reads it"


def _unit(readings: UnitReadings) -> Iterator[str]:
    name = readings.unit.suffix or str(readings.unit.kind)
    yield f"{name}: {len(readings.values)} readings"
    for channel, value in sorted(readings.values.items()):
        yield f"  {channel}  {value:g}"
    kinds: dict[str, list[str]] = defaultdict(list)
    for channel, kind in sorted(readings.missing.items()):
        kinds[str(kind)].append(channel)
    for why, channels in sorted(kinds.items()):
        yield f"  missing, {why}: {', '.join(channels)}"


def _racks(settings: FacilitySettings) -> Iterator[str]:
    served = {rack for target in settings.targets for rack in target.racks}
    bare = sorted(settings.racks.keys() - served)
    if bare:
        yield f"Racks that no target names: {', '.join(bare)}"
