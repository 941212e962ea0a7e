"""Memory, CPU and page time of one exporter at its default intervals, beside two rivals.

Runs `python -m exporter` in real time against eight simulated GPUs with the
whole shipped counter list, a BMC (a recorded tree with --tree) and the bundled
model.  On the same machine, in the same minutes, run a process that only
fetches and parses the same dcgm-exporter page, and node_exporter where it is
installed, scraped as often.  Prints resident memory, CPU and page time of
each, the ratios, and whether the promises hold; ends with 1 where one breaks.

    python -m benchmarks.exporter --seconds 300 --tree <folder>/redfish/nvidia-dgx-h100-ami

With --python the exporter and the bare reader run on that interpreter: one that
has the packages of the image (requirements/node.txt) and no others.  The
environment is the image's in both cases.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import requests
import yaml
from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from benchmarks.node import GPUS, Node, model_for
from benchmarks.processes import TICKS, Usage, load, usage
from daemon import numbers
from daemon.clocks import system_clock
from exporter.page import exposition
from simulator.processes import Processes, free_port

IMAGE_ENVIRONMENT = {"MALLOC_ARENA_MAX": "1"}
"""As deploy/Dockerfile sets it."""
WARM_UP_SECONDS = 150.0
INTERVAL_SECONDS = 30.0
PAGES_IN_A_ROW = 40
COMPRESSED = {"Accept-Encoding": "gzip"}
RESIDENT_MIB, CPU_PERCENT, PAGE_SECONDS = 100.0, 1.0, 0.010
BARE_READER = """
import sys, time, urllib.request
from prometheus_client.parser import text_string_to_metric_families as parse
while True:
    body = urllib.request.urlopen(sys.argv[1]).read().decode()
    sum(len(family.samples) for family in parse(body))
    time.sleep(float(sys.argv[2]))
"""


class Parsed(Collector):
    """Families read back from a page, so that another writer can write them."""

    def __init__(self, text: str) -> None:
        self._families = list(text_string_to_metric_families(text))

    def collect(self) -> list[Metric]:
        """Return the families as they were read."""
        return self._families


def main() -> int:
    """Measure and print."""
    options = _arguments()
    clock = system_clock()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        node = Node(clock.monotonic, options.tree)
        try:
            with Processes(folder / "logs") as processes:
                tree = options.tree.name if options.tree else "simulated"
                print(f"{GPUS} GPUs, whole counter list, BMC {tree}, model {model_for(folder)}")
                return _measure(node, processes, folder, options)
        finally:
            node.close()


def _measure(node: Node, processes: Processes, folder: Path, options: argparse.Namespace) -> int:
    seconds = options.seconds
    urls = _start(node, processes, folder, options.python)
    _wait(WARM_UP_SECONDS, urls)
    before = {name: usage(processes.pid(name)) for name in ("exporter", "bare reader", *urls)}
    pages = _wait(seconds, urls)
    after = {name: usage(processes.pid(name)) for name in before}
    body = requests.get(urls["exporter"], timeout=10).text
    in_a_row = _pages_in_a_row(urls["exporter"])
    print(f"default intervals, {seconds:.0f} s after {WARM_UP_SECONDS:.0f} s warm-up; {load()}")
    rows = {
        name: (after[name].resident_mib, _share(before[name], after[name], seconds))
        for name in before
    }
    _table(rows, pages, after)
    writing = _writing(body)
    print(f"page of {len(body) / 1024:.0f} KiB, {body.count(chr(10))} lines: written in", end=" ")
    print(f"{1000 * writing[0]:.1f} ms, by the client library in {1000 * writing[1]:.1f} ms")
    print(f"{PAGES_IN_A_ROW} pages in a row: median {1000 * in_a_row:.1f} ms, transport included")
    return _verdict(*rows["exporter"], in_a_row)


def _start(node: Node, processes: Processes, folder: Path, python: str) -> dict[str, str]:
    port = free_port()
    settings = {
        "node": node.name,
        "listen": {"host": "127.0.0.1", "port": port},
        "dcgm": {"url": node.dcgm_url},
        "bmc": node.bmc_settings(folder),
        "window": {"directory": str(folder)},
        "model": {"directory": str(folder)},
    }
    path = folder / "exporter.yml"
    path.write_text(yaml.safe_dump(settings), encoding="utf-8")
    command = (python, "-m", "exporter", "--config", str(path))
    processes.start("exporter", command, {**os.environ, **IMAGE_ENVIRONMENT})
    bare = (python, "-c", BARE_READER, node.dcgm_url, str(INTERVAL_SECONDS))
    processes.start("bare reader", bare)
    urls = {"exporter": f"http://127.0.0.1:{port}/metrics"}
    if program := shutil.which("prometheus-node-exporter") or shutil.which("node_exporter"):
        address = f"127.0.0.1:{free_port()}"
        processes.start("node_exporter", (program, f"--web.listen-address={address}"))
        urls["node_exporter"] = f"http://{address}/metrics"
    for name, url in urls.items():
        processes.wait_until_answers(name, url)
    return urls


def _wait(seconds: float, urls: dict[str, str]) -> dict[str, list[float]]:
    """Scrape as Prometheus would; returns how long each page took, in seconds."""
    took: dict[str, list[float]] = {name: [] for name in urls}
    deadline = time.monotonic() + seconds
    with requests.Session() as session:
        while (left := deadline - time.monotonic()) > 0:
            for name, url in urls.items():
                begun = time.monotonic()
                session.get(url, timeout=10, headers=COMPRESSED).raise_for_status()
                took[name].append(time.monotonic() - begun)
            time.sleep(max(0.0, min(INTERVAL_SECONDS, left)))
    return took


def _pages_in_a_row(url: str) -> float:
    """Return the median seconds of a page that does not first wake a sleeping process."""
    took = []
    with requests.Session() as session:
        for _ in range(PAGES_IN_A_ROW):
            begun = time.perf_counter()
            session.get(url, timeout=10, headers=COMPRESSED).raise_for_status()
            took.append(time.perf_counter() - begun)
    return sorted(took)[PAGES_IN_A_ROW // 2]


def _share(before: Usage, after: Usage, seconds: float) -> float:
    """Return percent of one core; never below what the kernel's clock can tell."""
    return 100 * max(after.cpu_seconds - before.cpu_seconds, 1 / TICKS) / seconds


def _table(
    rows: dict[str, tuple[float, float]], pages: dict[str, list[float]], after: dict[str, Usage]
) -> None:
    print(f"{'process':<14} {'MiB':>7} {'CPU %':>7} {'threads':>8} {'page ms':>8}   exporter is")
    own_resident, own_percent = rows["exporter"]
    for name, (resident, percent) in rows.items():
        took = sorted(pages.get(name, []))
        page = f"{1000 * took[len(took) // 2]:.1f}" if took else "-"
        ratio = f"{own_resident / resident:.1f} x memory, {own_percent / percent:.1f} x CPU"
        beside = "" if name == "exporter" else ratio
        print(
            f"{name:<14} {resident:>7.1f} {percent:>7.2f} {after[name].threads:>8} {page:>8}"
            f"   {beside}"
        )


def _writing(body: str) -> tuple[float, float]:
    """Return the least seconds that our writer and the library's take for the same page."""
    registry = CollectorRegistry()
    parsed = Parsed("".join(_plain(body)))
    registry.register(parsed)
    ours, theirs = [], []
    for _ in range(PAGES_IN_A_ROW):
        begun = time.perf_counter()
        exposition.text(parsed.collect())
        between = time.perf_counter()
        generate_latest(registry)
        ours.append(between - begun)
        theirs.append(time.perf_counter() - between)
    return min(ours), min(theirs)


def _plain(body: str) -> list[str]:
    return [line for line in body.splitlines(keepends=True) if "process_" not in line]


def _verdict(resident: float, percent: float, page: float) -> int:
    promises = {
        f"resident at most {RESIDENT_MIB:.0f} MiB": resident <= RESIDENT_MIB,
        f"at most {CPU_PERCENT:.0f} % of a core": percent <= CPU_PERCENT,
        f"a page within {1000 * PAGE_SECONDS:.0f} ms": page <= PAGE_SECONDS,
    }
    for promise, holds in promises.items():
        print(f"{'holds' if holds else 'BROKEN'}: {promise}")
    return 0 if all(promises.values()) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--seconds",
        type=numbers.real(INTERVAL_SECONDS, 86_400.0),
        default=300.0,
        help="how long to measure (300)",
    )
    parser.add_argument("--python", default=sys.executable, help="what runs the exporter")
    parser.add_argument("--tree", type=Path, help="a recorded Redfish tree to serve as the BMC")
    options = parser.parse_args()
    if options.tree is not None and not (options.tree / "redfish").is_dir():
        parser.error(f"--tree {options.tree}: expected a folder that holds redfish/v1")
    return options


if __name__ == "__main__":
    raise SystemExit(main())
