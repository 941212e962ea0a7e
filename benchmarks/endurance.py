"""Six simulated days of one exporter in some minutes: is it as large at the end as on day two?

A child process holds the whole exporter and is driven step by step on a clock
of its own: per simulated minute two pages of dcgm-exporter, one cycle of the
BMC, one grid step with its save, and two rendered pages, all over real
sockets.  The days are bad ones: pods come and go every ten minutes, a GPU is
lost for an hour each night, dcgm-exporter answers 500 for five minutes every
four hours, the model is replaced each day and refused once.  Prints resident
memory, threads and open files per half day, and ends with 1 when they grow.

    python -m benchmarks.endurance --tree <folder>/redfish/nvidia-dgx-h100-ami
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.node import Node, model_for
from benchmarks.processes import load, usage
from daemon import numbers
from daemon import settings as files
from daemon.clocks import Clock
from daemon.logs import logger
from exporter.app import Exporter
from exporter.page import exposition
from exporter.settings import Settings

DAY, HOUR, MINUTE = 86_400.0, 3_600.0, 60.0
IMAGE_ENVIRONMENT = {"MALLOC_ARENA_MAX": "1"}
"""What `deploy/Dockerfile` sets for the exporter."""
GROWTH_MIB = 2.0
"""Largest on the last day over largest on the second; a page cache of the allocator, not a leak."""


@dataclass
class VirtualTime:
    """Both clocks of the child."""

    now: float = 0.0
    epoch: float = 1_700_000_000.0

    def monotonic(self) -> float:
        """Seconds since the start."""
        return self.now

    def wall(self) -> float:
        """Seconds since 1970."""
        return self.epoch + self.now


def main() -> int:
    """Serve the node, run the child, read what it says."""
    options = _arguments()
    if options.drive is not None:
        return _drive(Path(options.drive), options.days)
    seconds = VirtualTime()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        node = Node(seconds.monotonic, options.tree)
        pages = [0]

        def trouble(text: str) -> str | None:
            # The child asks twice a minute of its own time, which is all that is known of it here.
            pages[0] += 1
            seconds.now = pages[0] * MINUTE / 2
            return _bad_day(text, seconds.now)

        node.trouble = trouble
        print(f"model {model_for(folder)}; {load()}")
        try:
            return _watch(_settings(node, folder), options.days)
        finally:
            node.close()


def _settings(node: Node, folder: Path) -> Path:
    settings = {
        "node": node.name,
        "listen": {"host": "127.0.0.1", "port": 0},
        "dcgm": {"url": node.dcgm_url},
        "bmc": node.bmc_settings(folder),
        "window": {"directory": str(folder)},
        "model": {"directory": str(folder)},
        "log": {"level": "error"},
    }
    path = folder / "exporter.yml"
    path.write_text(json.dumps(settings), encoding="utf-8")
    return path


def _bad_day(text: str, now: float) -> str | None:
    """Return the page as it is at `now` on a node where something is always the matter."""
    if now % (4 * HOUR) < 5 * MINUTE:
        return None
    if now % DAY < HOUR:
        lost = re.escape(f'gpu="{int(now // DAY) % 8}"')
        text = re.sub(rf"^[^#\n]*{lost}.*\n", "", text, flags=re.MULTILINE)
    generation = int(now // (10 * MINUTE))
    return re.sub(r'pod="([^"]+)"', rf'pod="\1-{generation}"', text)


def _watch(path: Path, days: float) -> int:
    begun = time.monotonic()
    command = [sys.executable, "-m", "benchmarks.endurance", "--drive", str(path)]
    rows = []
    print(f"{'day':>5} {'MiB':>7} {'threads':>8} {'files':>6} {'steps':>7} {'page ms':>8}")
    with subprocess.Popen(
        [*command, "--days", str(days)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **IMAGE_ENVIRONMENT},
    ) as child:
        assert child.stdout is not None  # noqa: S101 - a pipe was asked for
        for line in child.stdout:
            row = json.loads(line)
            rows.append(row)
            print(
                f"{row['day']:>5.1f} {row['mib']:>7.1f} {row['threads']:>8} {row['files']:>6}"
                f" {row['steps']:>7} {row['page_ms']:>8.1f}",
                flush=True,
            )
    spent = time.monotonic() - begun
    print(f"{days:g} days in {spent:.0f} s, {days * DAY / spent:.0f} times as fast; {load()}")
    return child.returncode or _verdict(rows)


def _verdict(rows: list[dict[str, float]]) -> int:
    last = rows[-1]["day"]
    early = [row for row in rows if 1 < row["day"] <= 2] or rows[:1]
    late = [row for row in rows if row["day"] > last - 1]
    growth = max(row["mib"] for row in late) - max(row["mib"] for row in early)
    print(f"resident memory grew by {growth:+.1f} MiB from the second day to the last")
    steady = all(
        max(row[name] for row in late) <= max(row[name] for row in early)
        for name in ("threads", "files")
    )
    flat = growth <= GROWTH_MIB and steady
    print(f"{'holds' if flat else 'BROKEN'}: flat, at most {GROWTH_MIB:g} MiB, no thread, no file")
    return 0 if flat else 1


def _drive(path: Path, days: float) -> int:
    """Be the child: one exporter on virtual time."""
    clock = VirtualTime()
    settings = files.load(path, Settings)
    app = Exporter(
        settings,
        log=logger("exporter", level=settings.log.level, style="json"),
        clock=Clock(clock.wall, clock.monotonic),
        path=path,
    )
    model = Path(settings.model.directory) / "fleet.onnx"
    good = model.read_bytes()
    steps = 0
    while clock.now < days * DAY:
        spent = _minute(app, clock)
        steps += 1
        if clock.now % DAY == 6 * HOUR:
            model.write_bytes(good[: len(good) // 2])
        if clock.now % DAY == 7 * HOUR:
            model.write_bytes(good)
        if clock.now % (DAY / 2) == 0:
            _say(clock.now / DAY, steps, spent)
    for collector in app.collectors:
        collector.close(1.0)
    return 0


def _minute(app: Exporter, clock: VirtualTime) -> float:
    """Live through a minute; returns the seconds that a compressed page took."""
    for collector in app.collectors:
        collector.collect()
    app.grid.housekeeping()
    app.grid.step(clock.now)
    begun = time.perf_counter()
    exposition.compressed(exposition.text(app.registry.collect()))
    spent = time.perf_counter() - begun
    clock.now += MINUTE / 2
    app.collectors[0].collect()
    exposition.text(app.registry.collect())
    clock.now += MINUTE / 2
    return spent


def _say(day: float, steps: int, page_seconds: float) -> None:
    own = usage(os.getpid())
    row = {
        "day": day,
        "mib": own.resident_mib,
        "threads": own.threads,
        "files": len(list(Path("/proc/self/fd").iterdir())),
        "steps": steps,
        "page_ms": 1000 * page_seconds,
    }
    print(json.dumps(row), flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--days",
        type=numbers.real(1.0, numbers.LONGEST_DAYS),
        default=6.0,
        help="simulated days (6)",
    )
    parser.add_argument("--tree", type=Path, help="a recorded Redfish tree to serve as the BMC")
    parser.add_argument("--drive", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
