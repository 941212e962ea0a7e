"""Whole pages of two kinds of node, from the wire of both sources."""

from __future__ import annotations

import io
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
import requests
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from daemon.clocks import Clock
from daemon.logs import logger
from exporter.collectors import Collector, Pace
from exporter.dcgm.scrape import DcgmSource
from exporter.forecast.forecaster import Forecaster
from exporter.forecast.shelf import ModelShelf
from exporter.grid import Grid
from exporter.page.publish import Page
from exporter.redfish.reader import RedfishSource
from exporter.redfish.settings import BmcSettings
from exporter.window.roster import Declared
from model import schema
from tests.exporter.app.bench import FakeDcgm
from tests.exporter.redfish.fake_bmc import FakeBmc, recorded
from tests.factories import artefact
from tests.factories.sources import Ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "exporter"
ENERGY = b"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{"
NODES = {
    "dgx-h100": ("nvidia-dgx-h100-ami", "ami"),
    "gb200": ("nvidia-gb200-compute-tray", "honest"),
}
MINUTES = 6
ON_NO_LIST = {
    "gpu_nvlink_recovery_failures_total",
    "gpu_nvlink_symbol_errors_total",
    "gpu_nvlink_effective_errors_total",
    "gpu_retired_pages_correctable_total",
    "gpu_retired_pages_uncorrectable_total",
    "gpu_page_retirement_pending",
    "gpu_fabric_health",
    "node_nvswitch_temperature_celsius",
    "node_nvswitch_fatal_code",
    "node_nvswitch_nonfatal_code",
}
"""Not listed, or listed and not supported by either board."""
LEFT_OUT = {
    "dgx-h100": {"gpu_memory_unrepairable"},
    "gb200": {
        "gpu_nvlink_crc_errors_total",
        "gpu_nvlink_crc_data_errors_total",
        "gpu_nvlink_replay_errors_total",
        "gpu_nvlink_recovery_errors_total",
    },
}


class Node:
    """One node, its dcgm-exporter and its BMC on loopback, time in the test's hand."""

    def __init__(self, kind: str, folder: Path, trees: Path) -> None:
        tree, expand = NODES[kind]
        self.kind = kind
        self.minute = 0
        self._body = (FIXTURES / f"{kind}.prom").read_bytes()
        self.dcgm = FakeDcgm(lambda: (200, "text/plain; charset=utf-8", self._page()))
        self.bmc = FakeBmc(recorded(trees / tree), expand=expand)
        self.ticks = Ticks()
        clock = Clock(self.ticks.wall, self.ticks.monotonic)
        log = logger("test", stream=io.StringIO())
        artefact.write(folder / "fleet.onnx")
        shelf = ModelShelf(folder, "n1", node_expected=False, log=log, bundled=folder / "none")
        shelf.look()
        page = DcgmSource(
            self.dcgm.url,
            requests.Session(),
            deadline_seconds=8.0,
            interval_seconds=30.0,
            monotonic=clock.monotonic,
        )
        bmc = RedfishSource(BmcSettings(url=self.bmc.url), clock=clock, random=Random(1))
        self.collectors = [
            Collector(source, Pace(interval, 60.0, 5, 300.0), clock=clock, log=log)
            for source, interval in ((page, 30.0), (bmc, 60.0))
        ]
        self.grid = Grid(
            "n1",
            forecaster=Forecaster(step_seconds=60.0, minimum_fill_ratio=0.25, bmc_configured=True),
            collectors=self.collectors,
            shelf=shelf,
            declared=Declared(),
            path=None,
            check_interval_seconds=10.0,
            clock=clock,
            log=log,
        )

    def _page(self) -> bytes:
        """Return the recorded page, its energy counters a minute further each minute."""
        lines = self._body.splitlines(keepends=True)
        moved = (self._later(one) if one.startswith(ENERGY) else one for one in lines)
        return b"".join(moved)

    def _later(self, line: bytes) -> bytes:
        start, _, millijoules = line.rpartition(b" ")
        return b"%s %d\n" % (start, int(millijoules) + 30_000_000 * self.minute)

    def live(self, minutes: int) -> None:
        for self.minute in range(minutes):
            for collector in self.collectors:
                collector.collect()
            self.grid.step(self.ticks.monotonic())
            self.ticks.advance(60.0)

    def render(self) -> str:
        registry = CollectorRegistry()
        registry.register(Page(self.grid.view, version="1.2.3"))
        text = generate_latest(registry).decode()
        digest = text.partition('digest="')[2][:16]
        return text.replace(digest, "0" * 16)

    def close(self) -> None:
        for collector in self.collectors:
            collector.close(1.0)
        self.dcgm.close()
        self.bmc.close()


@pytest.fixture(params=NODES)
def node(request: pytest.FixtureRequest, tmp_path: Path, shared_data: Path) -> Iterator[Node]:
    one = Node(request.param, tmp_path, shared_data / "redfish")
    yield one
    one.close()


def test_golden_page_of_a_whole_node(node: Node, golden: Callable[[str, str], None]) -> None:
    node.live(MINUTES)
    golden(f"exporter-{node.kind}.prom", node.render())


def test_every_line_of_the_counter_list_has_come_through(node: Node) -> None:
    node.live(MINUTES)
    families = list(text_string_to_metric_families(node.render()))
    samples = [sample for family in families for sample in family.samples]
    blind = {s.labels["channel"] for s in samples if s.name == "forewarn_channel_blind"}
    assert blind == LEFT_OUT[node.kind] | ON_NO_LIST
    gpus = {s.labels["uuid"] for s in samples if s.name == "forewarn_gpu_temperature_celsius"}
    assert len(gpus) == {"dgx-h100": 8, "gb200": 4}[node.kind]
    inputs = {row.metric for row in schema.channels(schema.Level.GPU) if row.name not in blind}
    for uuid in gpus:
        shown = {s.name for s in samples if s.labels.get("uuid") == uuid}
        assert inputs - shown <= {"forewarn_gpu_xid_code"}
