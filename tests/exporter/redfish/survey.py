"""Reads every recorded tree once and prints what came of it, as a table.

python -m tests.exporter.redfish.survey [folder of trees]
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from random import Random

from daemon.clocks import system_clock
from exporter.readings import SourceFailed, SourceReadings
from exporter.redfish.reader import RedfishSource
from exporter.redfish.settings import BmcSettings
from tests.exporter.redfish.fake_bmc import FakeBmc, recorded

BROKEN_EXPAND = {"nvidia-dgx-h100-ami": "ami"}
"""How the recorded firmware expands, where its claim is known to be wrong."""


@dataclass(frozen=True)
class Row:
    tree: str
    walk_requests: int = 0
    steady: SourceReadings | None = None
    failure: SourceFailed | None = None


def trees(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.glob("*/redfish"))


def examine(tree: Path, *, expand: str = "", **settings: object) -> Row:
    """Walk the tree, then read one steady cycle."""
    bmc = FakeBmc(recorded(tree), expand=expand or BROKEN_EXPAND.get(tree.name, "honest"))
    clock = system_clock()
    source = RedfishSource(
        BmcSettings(url=bmc.url, **settings),
        clock=clock,
        random=Random(1),  # type: ignore[arg-type]
    )
    try:
        first = source.read(clock.monotonic())
        steady = source.read(clock.monotonic())
    except SourceFailed as failure:
        return Row(tree.name, len(bmc.requests), failure=failure)
    finally:
        source.close()
        bmc.close()
    return Row(tree.name, first.requests - steady.requests, steady)


def line(row: Row) -> str:
    if row.steady is None:
        return f"| {row.tree} | {row.walk_requests} | - | - | {row.failure} | |"
    values = ", ".join(f"{_short(p.channel)} {v:g}" for p, v in sorted(row.steady.values.items()))
    kinds: dict[str, list[str]] = defaultdict(list)
    for place, kind in sorted(row.steady.missing.items()):
        kinds[str(kind)].append(_short(place.channel))
    named = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in sorted(kinds.items()))
    cells = (row.tree, row.walk_requests, row.steady.strategy, row.steady.requests, values, named)
    return "| " + " | ".join(map(str, cells)) + " |"


def _short(channel: str) -> str:
    return channel.removeprefix("node_")


def main(arguments: list[str]) -> None:
    folder = Path(arguments[0]) if arguments else Path("../../shared/data/redfish")
    print("| tree | walk | strategy | steady | channels | missing |")  # noqa: T201
    print("| --- | --- | --- | --- | --- | --- |")  # noqa: T201
    for tree in trees(folder):
        print(line(examine(tree)), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
