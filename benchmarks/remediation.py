"""What remediation costs and how fast it is, on a real API server, beside `kubectl drain`.

One etcd without fsync, one API server of the version that the tests use, one
replica of `python -m remediation` with its shipped pace, limits lifted where a
line says so.  Nodes are objects; pods are deleted as soon as they may go.

    python -m benchmarks.remediation
    python -m benchmarks.remediation --only latency,memory

latency     one alert is posted; the clock runs from before the post until a
            watch, in this process, is told of the cordon.  The nodes before it
            stay excluded.  Evidence is read over HTTP from an imitation; its
            mean time is told beside, and taken off in the second line.
burst       one post of many alerts, until the watch told the last cordon.
evictions   one post for nodes with 8 pods each, until the last pod is gone:
            alert, evidence, cordon, dry run and eviction.  Then kubectl drains
            as many other nodes with as many pods, in one call, on the same
            cluster.
memory      resident memory of the process after a tick that saw all nodes,
            and after one node was excluded.
kept        60 alerts are posted and the process is killed at once; a new one
            is started.  Then: how long a freed place in the budget lies idle.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.pool import Pool, wait
from simulator.controlplane.plane import assets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MIB = 1024.0
SETTLE_SECONDS = 1.0
PODS_PER_NODE = 8
EVIDENCE = "forewarn_remediation_evidence_duration_seconds"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `bar` is what the design promises."""

    what: str
    measured: str
    bar: str


def latency(nodes: int = 300, alerts: int = 100) -> Iterator[Row]:
    """Post one alert after the other and wait for each cordon."""
    with _pool(nodes) as (pool, names):
        pool.start()
        seen = pool.follow_cordons()
        bare = [pool.touch(name) for name in names[-50:]]
        waits = []
        for name in names[:alerts]:
            began = time.perf_counter()
            pool.post([name])
            wait(lambda name=name: name in seen, 30)
            waits.append(1000 * (seen[name] - began))
            time.sleep(0.1)
        evidence = 1000 * pool.metric(f"{EVIDENCE}_sum") / pool.metric(f"{EVIDENCE}_count")
    yield Row(f"one bare PATCH of a node, {nodes} nodes", _quantiles(bare), "the yardstick")
    yield Row(f"alert post to cordon, {nodes} nodes", _quantiles(waits), "")
    apart = [one - evidence for one in waits]
    yield Row(
        f"the same without reading evidence ({evidence:.1f} ms)",
        _quantiles(apart),
        "P50 15 ms, P99 40 ms",
    )


def burst(nodes: int = 750) -> Iterator[Row]:
    """Post an alert of every node at once."""
    with _pool(nodes) as (pool, names):
        pool.start()
        seen = pool.follow_cordons()
        began = time.perf_counter()
        pool.post(names)
        wait(lambda: len(seen) == nodes, 120)
        last = max(seen.values()) - began
    yield Row(f"{nodes} nodes excluded, limits lifted", f"{last:.1f} s", "10 s")


def evictions(nodes: int = 40) -> Iterator[Row]:
    """Empty nodes, and let kubectl empty as many others."""
    pods = nodes * PODS_PER_NODE
    with _pool(2 * nodes) as (pool, names):
        pool.add_pods(names, PODS_PER_NODE)
        pool.end_pods()
        pool.start(mode="migrate")
        pool.follow_cordons()
        time.sleep(SETTLE_SECONDS)
        began = time.perf_counter()
        pool.post(names[:nodes])
        wait(lambda: pool.pods_left() <= pods, 300)
        ours = time.perf_counter() - began
        accepted = pool.metric('forewarn_remediation_evictions_total{outcome="accepted"}')
        theirs = _drain(pool, names[nodes:])
    yield Row(f"{pods} pods of {nodes} nodes evicted", f"{pods / ours:.0f}/s", "40/s")
    yield Row("evictions accepted for each pod", f"{accepted / pods:.2f}", "1.00")
    yield Row("kubectl drain, as many pods", f"{pods / theirs:.1f}/s", "")
    yield Row("times faster than kubectl drain", f"{theirs / ours:.1f}", "3")


def memory() -> Iterator[Row]:
    """Weigh the process beside pools of three sizes."""
    for nodes, bar in ((300, 120), (1_500, 150), (10_000, 500)):
        with _pool(nodes) as (pool, names):
            pool.start()
            seen = pool.follow_cordons()
            pool.post(names[:1])
            wait(lambda: seen, 60)  # noqa: B023 - waited for within the turn
            time.sleep(5 + SETTLE_SECONDS)
            resident, peak = _weigh(pool.processes.pid("remediation"))
        measured = f"{resident:.0f} MiB (peak {peak:.0f})"
        yield Row(f"resident memory, {nodes} nodes", measured, f"{bar} MiB")


def kept(alerts: int = 60) -> Iterator[Row]:
    """Kill the process right after it answered, and start another."""
    with _pool(300) as (pool, names):
        pool.start()
        seen = pool.follow_cordons()
        pool.post(names[:alerts])
        pool.processes.kill("remediation")
        before = len(seen)
        pool.monitoring.firing.clear()
        pool.monitoring.firing.extend(names[:alerts])
        pool.start()
        wait(lambda: len(seen) == alerts, 60)
    yield Row(
        f"killed after {alerts} accepted alerts ({before} done), acted on in the end",
        f"{len(seen)}",
        f"{alerts}",
    )
    yield from _idle_place()


def _idle_place(nodes: int = 8) -> Iterator[Row]:
    """Let nodes be emptied one at a time; how long after one is empty is the next cordoned?"""
    with _pool(100) as (pool, names):
        pool.add_pods(names[:nodes], 2)
        pool.end_pods()
        pool.start(mode="migrate", limits={"concurrency": 1})
        seen = pool.follow_cordons()
        pool.post(names[:nodes])
        wait(lambda: len(seen) == nodes, 120)
    order = sorted(seen.values())
    gaps = [1000 * (later - one) for one, later in itertools.pairwise(order)]
    yield Row(
        "one node at a time: cordon, empty, next cordon", _quantiles(gaps), "seconds, not 150 s"
    )


MEASURES: dict[str, Callable[[], Iterator[Row]]] = {
    "latency": latency,
    "burst": burst,
    "evictions": evictions,
    "memory": memory,
    "kept": kept,
}


def main() -> int:
    """Measure and print."""
    options = _arguments()
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f} before the first measure, {assets()}")
    print("\n| what | measured | bar |\n| --- | --- | --- |")
    for name in options.only:
        for row in MEASURES[name]():
            print(f"| {row.what} | {row.measured} | {row.bar} |", flush=True)
    print(f"\nload {os.getloadavg()[0]:.1f} after the last measure")
    return 0


class _pool:  # noqa: N801 - reads as the call it is
    """A control plane with `nodes` nodes; yields it and their names."""

    def __init__(self, nodes: int) -> None:
        self._names = [f"gpu-{number:05d}" for number in range(nodes)]
        self._folder = tempfile.TemporaryDirectory()
        self._pool = Pool(Path(self._folder.name))

    def __enter__(self) -> tuple[Pool, list[str]]:
        pool = self._pool.__enter__()
        pool.add_nodes(self._names)
        return pool, self._names

    def __exit__(self, *_: object) -> None:
        self._pool.__exit__()
        self._folder.cleanup()


def _drain(pool: Pool, nodes: list[str]) -> float:
    command = (assets() / "kubectl", "--kubeconfig", pool.plane.kubeconfig, "drain", *nodes)
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    took = time.perf_counter() - began
    assert pool.pods_left() == 0, "kubectl left pods behind"  # noqa: S101
    return took


def _weigh(pid: int) -> tuple[float, float]:
    """Return resident and peak resident memory in MiB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    found = dict(re.findall(r"^(VmRSS|VmHWM):\s+(\d+) kB", status, re.MULTILINE))
    return int(found["VmRSS"]) / MIB, int(found["VmHWM"]) / MIB


def _quantiles(milliseconds: list[float]) -> str:
    cuts = statistics.quantiles(milliseconds, n=100, method="inclusive")
    return f"P50 {cuts[49]:.1f} ms, P99 {cuts[98]:.1f} ms"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only",
        type=lambda text: text.split(","),
        default=list(MEASURES),
        help=f"which measures, of {', '.join(MEASURES)} (default: all)",
    )
    options = parser.parse_args()
    unknown = sorted(set(options.only) - set(MEASURES))
    if unknown:
        parser.error(f"--only {','.join(unknown)}: expected some of {', '.join(MEASURES)}")
    return options


if __name__ == "__main__":
    raise SystemExit(main())
