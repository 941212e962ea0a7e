"""One node's exporter, from the bytes of its dcgm-exporter to its own page, in a test's time."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import requests
import responses
from prometheus_client import CollectorRegistry, generate_latest

from daemon.clocks import Clock
from daemon.logs import logger
from exporter.collectors import Collector, Pace
from exporter.dcgm.scrape import DcgmSource
from exporter.forecast.forecaster import Forecaster
from exporter.forecast.shelf import ModelShelf
from exporter.grid import Grid
from exporter.page.publish import Page
from exporter.readings import SourceName, SourceReadings
from exporter.settings import ModelSettings
from exporter.window.roster import Declared
from tests.factories import artefact
from tests.factories.sources import Scripted, Ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from exporter.readings import Place

URL = "http://dcgm.test:9400/metrics"
INTERVAL_SECONDS, STEP_SECONDS = 30.0, 60.0
Answer = tuple[int, bytes]


class GpuNode:
    """Its dcgm-exporter answers with `answer(interval)`, its BMC with `bmc()` where given.

    A `bundled` artefact predicts in place of one that is worked out by hand.
    """

    def __init__(
        self,
        folder: Path,
        answer: Callable[[int], Answer],
        *,
        names: tuple[str, ...] = artefact.NAMES,
        bmc: Callable[[], Mapping[Place, float] | SourceReadings] | None = None,
        bundled: Path | None = None,
        ticks: Ticks | None = None,
        **about: object,
    ) -> None:
        self.ticks = ticks or Ticks()
        self.answer = answer
        self.interval = 0
        clock = Clock(self.ticks.wall, self.ticks.monotonic)
        log = logger("test", stream=io.StringIO())
        if bundled is None:
            artefact.write(folder / "fleet.onnx", names, **about)
        shelf = ModelShelf(
            folder, "n1", node_expected=False, log=log, bundled=bundled or folder / "none"
        )
        shelf.look()
        source = DcgmSource(
            URL,
            requests.Session(),
            deadline_seconds=8.0,
            interval_seconds=INTERVAL_SECONDS,
            monotonic=lambda: 0.0,
        )
        self.collectors = [Collector(source, _pace(INTERVAL_SECONDS), clock=clock, log=log)]
        if bmc is not None:
            read = Scripted(lambda _: _told(bmc()), SourceName.REDFISH)
            self.collectors.append(Collector(read, _pace(60.0), clock=clock, log=log))
        self.grid = Grid(
            "n1",
            forecaster=Forecaster(
                step_seconds=STEP_SECONDS,
                minimum_fill_ratio=0.25,
                bmc_configured=bmc is not None,
                trust=ModelSettings().trust(),
            ),
            collectors=self.collectors,
            shelf=shelf,
            declared=Declared(),
            path=None,
            check_interval_seconds=10.0,
            clock=clock,
            log=log,
        )

    def live(self, minutes: int = 1) -> None:
        """Live some minutes: two reads and one grid step each."""
        for _ in range(minutes):
            for _ in range(round(STEP_SECONDS / INTERVAL_SECONDS)):
                self._collect()
                self.ticks.advance(INTERVAL_SECONDS)
            self.grid.step(self.ticks.monotonic())

    def _collect(self) -> None:
        status, body = self.answer(self.interval)
        self.interval += 1
        with responses.RequestsMock() as web:
            web.add_passthru("http://127.0.0.1")  # a BMC may be a real one
            web.get(URL, body=body, status=status, content_type="text/plain; version=0.0.4")
            for collector in self.collectors:
                collector.collect()

    def page(self) -> str:
        """Return our own page."""
        registry = CollectorRegistry()
        registry.register(Page(self.grid.view, version="1"))
        return generate_latest(registry).decode()

    def series(self) -> dict[str, float]:
        """Return every sample of our page by its name and labels, which are there once each."""
        lines = [line for line in self.page().splitlines() if not line.startswith("#")]
        keys = [line.rpartition(" ")[0] for line in lines]
        assert len(keys) == len(set(keys)), "a series twice: Prometheus would refuse the page"
        return {key: float(line.rpartition(" ")[2]) for key, line in zip(keys, lines, strict=True)}

    def state(self) -> str:
        """Return the state of the prediction."""
        return self.grid.view().forecast.state


def _told(known: Mapping[Place, float] | SourceReadings) -> SourceReadings:
    return known if isinstance(known, SourceReadings) else SourceReadings(SourceName.REDFISH, known)


def _pace(interval_seconds: float) -> Pace:
    return Pace(interval_seconds, 12.0, 5, 300.0)


def uuid(index: int) -> str:
    return f"GPU-{str(index) * 8}-0000-4000-8000-{index:012d}"


def line(field: str, index: int, value: object, **labels: str) -> str:
    """Return one sample of one of the node's GPUs."""
    more = "".join(f',{name}="{text}"' for name, text in labels.items())
    return f'{field}{{gpu="{index}",UUID="{uuid(index)}",Hostname="gpu-a17"{more}}} {value}\n'


def healthy(interval: int, gpus: tuple[int, ...] = tuple(range(8)), **replaced: str) -> str:
    """Return a page of GPUs at work; `replaced` gives other text for GPU and field, `g2_util`."""
    fields = {
        "temp": ("DCGM_FI_DEV_GPU_TEMP", lambda i: 60 + i),
        "power": ("DCGM_FI_DEV_POWER_USAGE", lambda i: 640 + i),
        "energy": ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", lambda i: 1 + interval * 19_000 + i),
        "util": ("DCGM_FI_DEV_GPU_UTIL", lambda _: 97),
        "sm": ("DCGM_FI_PROF_SM_ACTIVE", lambda _: "0.91"),
    }
    return "".join(
        replaced.get(f"g{index}_{key}", line(field, index, value(index)))
        for key, (field, value) in fields.items()
        for index in gpus
    )
