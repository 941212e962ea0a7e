"""How fast the simulator records: node-days per minute, single-threaded and over processes.

    python -m benchmarks.simulator --node-days 1000

Records every story in turn, a day of eight GPUs each, and prints what a
thousand node-days take with the given number of worker processes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass

from daemon import numbers
from simulator.faults import STORIES
from simulator.history import NODES_AT_ONCE, Recording, record_all
from simulator.instruments.shown import CHANNELS

DAY_STEPS = 1_440
GPUS = 8
TARGET_NODE_DAYS, TARGET_SECONDS = 1_000, 600


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured; seconds of the wall clock and of all processes' CPU."""

    node_days: int
    stories: int
    channels: int
    workers: int
    wall_seconds: float
    cpu_seconds: float
    seconds_per_thousand_node_days: float


def measure(node_days: int, workers: int) -> Figure:
    """Record `node_days` over `workers` processes; the values are dropped as they come."""
    firsts = range(0, node_days, NODES_AT_ONCE)
    batches = [(first, min(NODES_AT_ONCE, node_days - first)) for first in firsts]
    started = time.perf_counter()
    with ProcessPoolExecutor(workers) as pool:
        cpu_seconds = sum(pool.map(_record, batches))
    wall = time.perf_counter() - started
    return Figure(
        node_days=node_days,
        stories=len(STORIES),
        channels=len(CHANNELS),
        workers=workers,
        wall_seconds=round(wall, 2),
        cpu_seconds=round(cpu_seconds, 2),
        seconds_per_thousand_node_days=round(wall * TARGET_NODE_DAYS / node_days, 1),
    )


def _record(batch: tuple[int, int]) -> float:
    """Record one batch and return its CPU seconds."""
    first, count = batch
    kinds = list(STORIES)
    wanted = [
        Recording(kinds[index % len(kinds)], f"node-{index}", index)
        for index in range(first, first + count)
    ]
    before = time.process_time()
    for _ in record_all(wanted, steps=DAY_STEPS, gpus=GPUS):
        pass
    return time.process_time() - before


def main() -> int:
    """Measure and print; status 1 where a thousand node-days take more than ten minutes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--node-days", type=numbers.whole(1), default=TARGET_NODE_DAYS)
    parser.add_argument(
        "--workers", type=numbers.whole(1, 1_000), default=min(2, os.cpu_count() or 1)
    )
    parser.add_argument("--json", action="store_true", help="print one JSON line")
    options = parser.parse_args()
    figure = measure(options.node_days, options.workers)
    if options.json:
        print(json.dumps(asdict(figure)))
    else:
        print(
            f"{figure.node_days} node-days of {figure.stories} stories, {figure.channels} "
            f"channels, {GPUS} GPUs, {figure.workers} processes: {figure.wall_seconds:.1f} s "
            f"({figure.cpu_seconds:.1f} s of CPU); 1,000 node-days take "
            f"{figure.seconds_per_thousand_node_days:.0f} s."
        )
    return int(figure.seconds_per_thousand_node_days > TARGET_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
