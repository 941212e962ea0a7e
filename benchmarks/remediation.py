"""What remediation costs and how fast it is, on a real API server, beside `kubectl drain`.

One etcd without fsync, one API server of the version that the tests use, one
replica of `python -m remediation` with its shipped pace, limits lifted where a
line says so.  Nodes are objects; pods are deleted as soon as they may go.

    python -m benchmarks.remediation
    python -m benchmarks.remediation --only latency,memory-300

latency     one alert is posted; the clock runs from before the post until a
            watch, in this process, is told of the cordon.  The nodes before it
            stay excluded.  Evidence is read over HTTP from an imitation; from
            its first question to its last answer is taken off in the last line.
burst       one post of many alerts, until the watch told the last cordon.
evictions   one post for nodes with 8 pods each, until the last pod is gone:
            alert, evidence, cordon, dry run and eviction.  Then kubectl drains
            as many other nodes with as many pods, in one call, on the same
            cluster.
memory-...  resident memory of the process after a tick that saw all nodes,
            and after one node was excluded.

budgets: see `benchmarks.budgets`.
kept, storm, breaker, dying, landing: see `benchmarks.failings`.
crash       the tests that kill one of two replicas between every pair of steps, and
            those that interleave everything at random: how many hold.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import failings
from benchmarks.budgets import budgets
from benchmarks.failings import pool_of
from benchmarks.objects import GRACE_SECONDS
from benchmarks.pool import PODS_PER_NODE, Pool, wait
from benchmarks.rows import Row, quantiles
from simulator.controlplane.plane import assets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MIB = 1024.0
SETTLE_SECONDS = 1.0
# One alert at a time: what follows from the last is over when the next comes.
IDLE_SECONDS = 0.25


def latency(nodes: int = 300, alerts: int = 100) -> Iterator[Row]:
    """Post one alert after the other and wait for each cordon."""
    with pool_of(nodes) as (pool, names):
        pool.start()
        seen = pool.follow_cordons()
        bare = [pool.touch(name) for name in names[-50:]]
        waits, apart = [], []
        for name in names[:alerts]:
            began = time.perf_counter()
            pool.post([name])
            wait(lambda name=name: name in seen, 30)
            waits.append(1000 * (seen[name] - began))
            asked = pool.monitoring.busy_between(began, seen[name])
            apart.append(waits[-1] - 1000 * asked)
            time.sleep(IDLE_SECONDS)
    yield Row(f"one bare PATCH of a node, {nodes} nodes", quantiles(bare), "the yardstick")
    yield Row(f"alert post to cordon, {nodes} nodes", quantiles(waits), "")
    yield Row("the same without reading evidence", quantiles(apart), "P50 15 ms, P99 40 ms")


def burst(nodes: int = 750) -> Iterator[Row]:
    """Post an alert of every node at once."""
    with pool_of(nodes) as (pool, names):
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
    # A third of the nodes is empty: work is moved only where it fits.
    with pool_of(3 * nodes) as (pool, names):
        pool.add_pods(names[: 2 * nodes], PODS_PER_NODE)
        pool.end_pods()
        pool.start(mode="migrate")
        pool.follow_cordons()
        time.sleep(SETTLE_SECONDS)
        began = time.perf_counter()
        pool.post(names[:nodes])
        wait(lambda: pool.pods_left() <= pods, 60)
        ours = time.perf_counter() - began
        wrong = sum(grace != GRACE_SECONDS for grace in pool.graces.values())
        accepted = pool.metric('forewarn_remediation_evictions_total{outcome="accepted"}')
        theirs = _drain(pool, names[nodes : 2 * nodes])
    yield Row(f"{pods} pods of {nodes} nodes evicted", f"{pods / ours:.0f}/s", "40/s")
    yield Row("evictions accepted for each pod", f"{accepted / pods:.2f}", "1.00")
    yield Row("pods that were given another grace than their own", f"{wrong}", "0")
    yield Row("kubectl drain, as many pods", f"{pods / theirs:.1f}/s", "")
    yield Row("times faster than kubectl drain", f"{theirs / ours:.1f}", "3")


def memory(nodes: int, bar: int) -> Iterator[Row]:
    """Weigh the process beside a pool."""
    with pool_of(nodes) as (pool, names):
        pool.start()
        seen = pool.follow_cordons()
        pool.post(names[:1])
        wait(lambda: seen, 60)
        time.sleep(5 + SETTLE_SECONDS)
        resident, peak = _weigh(pool.processes.pid("remediation"))
    measured = f"{resident:.0f} MiB (peak {peak:.0f})"
    yield Row(f"resident memory, {nodes} nodes", measured, f"{bar} MiB")


def crash() -> Iterator[Row]:
    """Run what kills and interleaves, which is for tests to watch and not for a clock."""
    command = (sys.executable, "-m", "pytest", "-q", "-rfs", "-p", "no:cacheprovider", *CRASH_TESTS)
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    if ran.returncode:
        print(ran.stdout[-4000:], ran.stderr, file=sys.stderr)
    said = ran.stdout.splitlines()[-1].strip("= ") if ran.stdout else ran.stderr[-200:]
    what = "killed between every pair of steps, two replicas; random interleavings"
    yield Row(what, said.partition(" in ")[0], "all hold")


CRASH_TESTS = (
    *sorted(map(str, Path("tests/remediation").glob("story/test_killed*.py"))),
    *sorted(map(str, Path("tests/remediation").glob("**/test_*interleavings.py"))),
)

MEASURES: dict[str, Callable[[], Iterator[Row]]] = {
    "latency": latency,
    "burst": burst,
    "evictions": evictions,
    "budgets": budgets,
    "memory-300": lambda: memory(300, 120),
    "memory-1500": lambda: memory(1_500, 150),
    "memory-10000": lambda: memory(10_000, 500),
    "kept": failings.kept,
    "storm": failings.storm,
    "breaker": failings.breaker,
    "dying": failings.dying,
    "landing": failings.landing,
    "crash": crash,
}


def main() -> int:
    """Measure and print."""
    options = _arguments()
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f} before the first measure, {assets()}")
    print("\n| what | measured | bar |\n| --- | --- | --- |")
    idle: dict[str, float] = {}
    for name in options.only:
        before = _processor_seconds()
        for row in MEASURES[name]():
            print(row, flush=True)
        idle[name] = _idle_share(before, _processor_seconds())
    shares = ", ".join(f"{name} {share:.0%}" for name, share in idle.items())
    print(f"\nload {os.getloadavg()[0]:.1f} after the last measure")
    print(f"processors idle while measuring: {shares}")
    return 0


def _processor_seconds() -> tuple[float, float]:
    """Return the idle and the whole time of all processors, in one unit."""
    words = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()
    spent = [float(word) for word in words[1:9]]
    return spent[3] + spent[4], sum(spent)


def _idle_share(before: tuple[float, float], after: tuple[float, float]) -> float:
    return (after[0] - before[0]) / (after[1] - before[1])


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
