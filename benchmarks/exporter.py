"""Memory and CPU of one exporter process at its default intervals, 8 GPUs and a BMC.

Runs `python -m exporter` against one simulated node in real time, and beside
it, on the same pages, the smallest rival: a process that only fetches and
parses the same dcgm-exporter page at the same interval.  Prints resident
memory and CPU seconds per wall second of both, and the ratio.

    python -m benchmarks.exporter --seconds 300
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import requests
import yaml

from daemon.clocks import system_clock
from simulator.demo.hardware import Hardware
from simulator.fleet import lay_out
from simulator.processes import Processes, free_port
from simulator.workload import Workload

TICKS = os.sysconf("SC_CLK_TCK")
WARM_UP_SECONDS = 90.0
INTERVAL_SECONDS = 30.0
RIVAL = """
import sys, time, urllib.request
from prometheus_client.parser import text_string_to_metric_families as parse
while True:
    body = urllib.request.urlopen(sys.argv[1]).read().decode()
    sum(len(family.samples) for family in parse(body))
    time.sleep(float(sys.argv[2]))
"""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process held and burnt at one moment."""

    resident_mib: float
    cpu_seconds: float


def usage(pid: int) -> Usage:
    """Read the kernel's own accounting of `pid`."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return Usage(int(resident.split()[1]) / 1024, (int(fields[11]) + int(fields[12])) / TICKS)


def main() -> int:
    """Measure and print."""
    options = _arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        machines = lay_out(nodes=1, racks=1, seed=7, workload=Workload.TRAINING)
        hardware = Hardware(
            machines, clock=system_clock(), speed=1.0, namespace="training", folder=folder
        )
        with hardware, Processes(folder / "logs") as processes:
            _measure(hardware, processes, folder, options.seconds)
    return 0


def _measure(hardware: Hardware, processes: Processes, folder: Path, seconds: float) -> None:
    address, port = hardware.addresses[0], free_port()
    settings = {
        "node": address.node,
        "listen": {"host": "127.0.0.1", "port": port},
        "dcgm": {"url": address.dcgm_url},
        "bmc": {
            "url": address.redfish_url,
            "username_file": str(hardware.user_file),
            "password_file": str(hardware.password_file),
        },
        "window": {"directory": str(folder)},
    }
    path = folder / "exporter.yml"
    path.write_text(yaml.safe_dump(settings), encoding="utf-8")
    processes.start_module("exporter", "exporter", "--config", str(path))
    processes.start("rival", (sys.executable, "-c", RIVAL, address.dcgm_url, str(INTERVAL_SECONDS)))
    url = f"http://127.0.0.1:{port}/metrics"
    processes.wait_until_answers("exporter", url)
    _wait(WARM_UP_SECONDS, url)
    before = {name: usage(processes.pid(name)) for name in ("exporter", "rival")}
    renders = _wait(seconds, url)
    _report(before, {name: usage(processes.pid(name)) for name in before}, seconds, renders)


def _wait(seconds: float, url: str) -> list[float]:
    """Scrape every 30 s as Prometheus would; returns how long each page took, in seconds."""
    renders = []
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        begun = time.monotonic()
        requests.get(url, timeout=10).raise_for_status()
        renders.append(time.monotonic() - begun)
        time.sleep(max(0.0, min(INTERVAL_SECONDS, left)))
    return renders


def _report(
    before: dict[str, Usage], after: dict[str, Usage], seconds: float, renders: list[float]
) -> None:
    print(f"8 GPUs, BMC, default intervals, {seconds:.0f} s after {WARM_UP_SECONDS:.0f} s warm-up")
    print(f"{'process':<10} {'resident MiB':>13} {'CPU % of a core':>16}")
    shares = {}
    for name, end in after.items():
        shares[name] = 100 * (end.cpu_seconds - before[name].cpu_seconds) / seconds
        print(f"{name:<10} {end.resident_mib:>13.1f} {shares[name]:>16.2f}")
    memory = after["exporter"].resident_mib / after["rival"].resident_mib
    processor = shares["exporter"] / max(shares["rival"], 100 / TICKS / seconds)
    print(f"ratio      {memory:>13.1f} {processor:>16.1f}")
    print(f"page: median {1_000 * sorted(renders)[len(renders) // 2]:.1f} ms over {len(renders)}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=300.0, help="how long to measure (300)")
    options = parser.parse_args()
    if options.seconds < INTERVAL_SECONDS:
        parser.error(f"--seconds {options.seconds:g}: expected at least {INTERVAL_SECONDS:g}")
    return options


if __name__ == "__main__":
    raise SystemExit(main())
