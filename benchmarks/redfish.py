"""What the reader makes of recorded Redfish trees, node by node and plant by plant, as a table.

Serves each tree on loopback, lets the reader discover it and read until every
sensor had its turn.  Prints strategy, requests of the walk, the most and the
mean of a steady cycle, in how many cycles everything is read, seconds, and what
was found or why not.

    python -m benchmarks.redfish ../shared/data/redfish
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from daemon import numbers
from daemon.clocks import Clock, system_clock
from exporter.facility.equipment import EquipmentSource
from exporter.facility.items import EquipmentReadings
from exporter.facility.settings import Target
from exporter.readings import Missing, Place, Reason, SourceFailed, SourceReadings
from exporter.redfish.reader import RedfishSource
from exporter.redfish.settings import BmcSettings
from tests.exporter.redfish.fake_bmc import FakeBmc, recorded

BROKEN_EXPAND = {"nvidia-dgx-h100-ami": "ami"}
"""How the recorded firmware expands, where its claim is known to be wrong."""
INTERVAL_SECONDS = 60.0
CYCLES = 45
"""More than everything needs for its turn, and fewer than an hour, when the tree is walked anew."""


@dataclass(frozen=True)
class Survey:
    """One tree: the walk, then the cycles, of which the last is the one to show."""

    tree: str
    walk_requests: int = 0
    cycles: list[SourceReadings] = field(default_factory=list)
    failure: SourceFailed | None = None
    seconds: float = 0.0

    @property
    def last(self) -> SourceReadings:
        """The readings of the last cycle."""
        return self.cycles[-1]

    @property
    def most_requests(self) -> int:
        """The most requests that one steady cycle took."""
        return max(readings.requests for readings in self.cycles)

    @property
    def oldest_cycles(self) -> int:
        """The age of the oldest value that counted, in cycles."""
        ages = (age for readings in self.cycles for age in readings.ages.values())
        return round(max(ages, default=0.0) / INTERVAL_SECONDS)


def trees(folder: Path) -> list[Path]:
    """Return the recorded trees below `folder`, or the one that it is."""
    if folder.is_file():
        return [folder]
    return sorted(path.parent for path in folder.glob("*/redfish"))


def survey(tree: Path, *, expand: str = "", cycles: int = 1, **settings: Any) -> Survey:
    """Walk the tree, then read `cycles` cycles, a minute apart by a clock of its own."""
    bmc = FakeBmc(recorded(tree), expand=expand or BROKEN_EXPAND.get(tree.name, "honest"))
    real = system_clock()
    passed = 0.0
    clock = Clock(real.wall, lambda: real.monotonic() + passed)
    source = RedfishSource(BmcSettings(url=bmc.url, **settings), clock=clock, random=Random(1))
    started = real.monotonic()
    try:
        source.read(clock.monotonic())
        walked = len(bmc.requests)
        found = []
        for _ in range(cycles):
            passed += INTERVAL_SECONDS
            found.append(source.read(clock.monotonic()))
        return Survey(tree.stem, walked, found, seconds=real.monotonic() - started)
    except SourceFailed as failure:
        return Survey(tree.stem, len(bmc.requests), failure=failure)
    finally:
        source.close()
        bmc.close()


def survey_facility(tree: Path, *, cycles: int = 1) -> Survey:
    """Read a tree of facility equipment in the same way, by the facility's reader."""
    bmc = FakeBmc(recorded(tree))
    real = system_clock()
    passed = 0.0
    clock = Clock(real.wall, lambda: real.monotonic() + passed)
    target = Target(equipment=tree.name, url=bmc.url)
    source = EquipmentSource(target, clock=clock, random=Random(1))
    started = real.monotonic()
    try:
        source.read(clock.monotonic())
        walked = len(bmc.requests)
        found = []
        for _ in range(cycles):
            passed += INTERVAL_SECONDS
            found.append(_as_readings(source.read(clock.monotonic())))
        return Survey(tree.stem, walked, found, seconds=real.monotonic() - started)
    finally:
        source.close()
        bmc.close()


def _as_readings(found: EquipmentReadings) -> SourceReadings:
    """Show the pieces behind one address as places of one source."""
    values: dict[Place, float] = {}
    missing: dict[Place, Missing] = {}
    for unit in found.units:
        name = unit.unit.suffix or str(unit.unit.kind)
        values |= {Place(f"{name}: {channel}"): value for channel, value in unit.values.items()}
        missing |= {Place(f"{name}: {channel}"): kind for channel, kind in unit.missing.items()}
    ages = {Place("oldest"): found.oldest_seconds} if found.oldest_seconds else {}
    return SourceReadings(
        found.source, values, missing, strategy="facility", requests=found.requests, ages=ages
    )


def line(row: Survey) -> str:
    """Return one row of the table."""
    if row.failure is not None:
        return f"| {row.tree} | - | {row.walk_requests} | | | | {row.failure} | |"
    mean = sum(readings.requests for readings in row.cycles) / len(row.cycles)
    values = ", ".join(f"{_short(p.channel)} {v:g}" for p, v in sorted(row.last.values.items()))
    kinds: dict[str, list[str]] = defaultdict(list)
    for place, kind in sorted(row.last.missing.items()):
        kinds[str(kind)].append(_short(place.channel))
    named = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in sorted(kinds.items()))
    requests = f"{row.most_requests} (mean {mean:.1f})"
    cells = (
        row.tree, row.last.strategy, row.walk_requests, requests, row.oldest_cycles,
        f"{row.seconds:.2f}", values, named,
    )  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


def _short(channel: str) -> str:
    return channel.removeprefix("node_")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of recorded trees, or one tree as a file")
    parser.add_argument(
        "--cycles", type=numbers.whole(1), default=CYCLES, help=f"of one minute ({CYCLES})"
    )
    options = parser.parse_args()
    print("| tree | strategy | walk | requests a cycle | oldest, cycles | s | found | missing |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for tree in trees(options.folder):
        row = survey(tree, cycles=options.cycles)
        if row.failure is not None and row.failure.reason is Reason.FACILITY_TREE:
            row = survey_facility(tree, cycles=options.cycles)
        print(line(row), flush=True)


if __name__ == "__main__":
    main()
