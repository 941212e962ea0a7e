"""The recorded bodies, each read by a source of its own, as one table.

python -m tests.exporter.dcgm.recorded [folder of bodies]
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
import responses

from exporter.dcgm.scrape import DcgmSource
from exporter.readings import SourceFailed, SourceReadings

URL = "http://dcgm.test:9400/metrics"


@dataclass(frozen=True)
class Row:
    """One body: what was read of it, or why nothing was, in how many seconds."""

    name: str
    seconds: float
    requests: int
    readings: SourceReadings | None = None
    failure: SourceFailed | None = None


def entries(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the index of a folder of bodies, by file name."""
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    return {entry["file"]: entry for entry in index}


def examine(folder: Path, entry: dict[str, Any]) -> Row:
    """Read one body once."""
    source = DcgmSource(
        URL,
        requests.Session(),
        deadline_seconds=5.0,
        interval_seconds=30.0,
        monotonic=lambda: 0.0,
    )
    name = entry["file"]
    with responses.RequestsMock() as web:
        web.get(
            URL,
            body=(folder / name).read_bytes(),
            status=entry["http_status"],
            content_type=entry["content_type"],
        )
        started = time.perf_counter()
        try:
            readings = source.read(0.0)
        except SourceFailed as failure:
            spent = time.perf_counter() - started
            return Row(name, spent, len(web.calls), failure=failure)
        return Row(name, time.perf_counter() - started, len(web.calls), readings)


def line(row: Row) -> str:
    """Return a row of the table."""
    start = (row.name, row.requests, f"{row.seconds * 1000:.1f}")
    if row.readings is None:
        cells: tuple[object, ...] = (*start, "-", "-", "-", row.failure and row.failure.reason, "")
    else:
        kinds = Counter(row.readings.missing.values())
        missing = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
        errors = ", ".join(f"{why} {n}" for why, n in sorted(row.readings.errors.items()))
        found = len(row.readings.values)
        cells = (*start, row.readings.strategy, len(row.readings.gpus), found, missing, errors)
    return "| " + " | ".join(map(str, cells)) + " |"


def main(arguments: list[str]) -> None:
    """Print the table."""
    folder = Path(arguments[0]) if arguments else Path("../../shared/data/dcgm")
    print("| body | requests | ms | strategy | GPUs | readings | missing | survived |")  # noqa: T201
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")  # noqa: T201
    for entry in entries(folder).values():
        print(line(examine(folder, entry)))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
