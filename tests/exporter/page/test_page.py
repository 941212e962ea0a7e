"""The page as a whole, and what must never be on it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from daemon.clocks import Clock
from daemon.logs import logger
from exporter.collectors import Collector, Pace
from exporter.forecast.forecaster import Degraded, Forecaster, State
from exporter.forecast.shelf import ModelShelf
from exporter.grid import Grid
from exporter.page import catalog
from exporter.page.pages import landing
from exporter.page.publish import Page
from exporter.readings import Missing, Place, Reason, SourceName, SourceReadings, Workload
from exporter.window.roster import Declared
from model.sources.dcgm import CHANNELS
from tests.factories import artefact
from tests.factories.sources import ENERGY, A, B, Scripted, Ticks, dcgm, failing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PACE = Pace(30.0, 12.0, 5, 300.0)


class Bench:
    """A grid with a DCGM source and a BMC whose answers a test may change."""

    def __init__(self, folder: Path, *, with_model: bool = True) -> None:
        self.ticks = Ticks()
        self.answers = {SourceName.DCGM: self.page, SourceName.REDFISH: self.tree}
        out = logger("test", stream=io.StringIO())
        clock = Clock(self.ticks.wall, self.ticks.monotonic)
        if with_model:
            ranges = {"gpu_temperature_celsius": (20.0, 90.0), "node_power_watts": (500.0, 3e3)}
            artefact.write(folder / "fleet.onnx", training_ranges=ranges)
        shelf = ModelShelf(folder, "n1", node_expected=False, log=out, bundled=folder / "none")
        shelf.look()
        self.collectors = [
            Collector(Scripted(self._answer(name), name), PACE, clock=clock, log=out)
            for name in self.answers
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
            log=out,
        )

    def _answer(self, name: SourceName) -> Callable[[float], SourceReadings]:
        def answer(now: float) -> SourceReadings:
            return self.answers[name](now)

        return answer

    def page(self, _: float) -> SourceReadings:
        return dcgm(
            {A: 61.0, B: 64.5},
            values={
                Place("gpu_power_watts", A): 412.5,
                Place(ENERGY, A): 47_029.25,
                Place("gpu_xid_code", B): 79.0,
            },
            missing={Place("gpu_power_watts", B): Missing.SENTINEL},
            workloads=(Workload(A, "ml", "train-0", "main"),),
            errors={Reason.BAD_LINE: 1},
        )

    def tree(self, _: float) -> SourceReadings:
        power = {Place("node_power_watts"): 3_400.0}
        return SourceReadings(SourceName.REDFISH, values=power, strategy="expand")

    def live(self, steps: int) -> None:
        for _ in range(steps):
            for collector in self.collectors:
                collector.collect()
            self.grid.step(self.ticks.monotonic())
            self.ticks.advance(60.0)

    def render(self) -> str:
        registry = CollectorRegistry()
        registry.register(Page(self.grid.view, version="1.2.3"))
        return generate_latest(registry).decode()

    def series(self) -> dict[str, float]:
        """Return every sample by its line without the value."""
        lines = (line for line in self.render().splitlines() if not line.startswith("#"))
        return {key: float(value) for key, _, value in (line.rpartition(" ") for line in lines)}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_golden_page(bench: Bench, golden: Callable[[str, str], None]) -> None:
    bench.live(4)
    (info,) = (line for line in bench.series() if line.startswith("forewarn_model_info"))
    digest = info.partition('digest="')[2][:16]
    golden("exporter.prom", bench.render().replace(digest, "0" * 16))


def test_every_family_is_in_the_catalogue_with_its_labels(bench: Bench) -> None:
    bench.live(4)
    for family in text_string_to_metric_families(bench.render()):
        for sample in family.samples:
            metric = catalog.BY_NAME[sample.name]
            assert set(sample.labels) == set(metric.labels), sample
            assert family.type == metric.kind


def test_no_series_twice(bench: Bench) -> None:
    bench.live(4)
    lines = [line for line in bench.render().splitlines() if not line.startswith("#")]
    assert len({line.rpartition(" ")[0] for line in lines}) == len(lines)


def test_a_gpu_that_goes_takes_its_series_with_it(bench: Bench) -> None:
    bench.live(4)
    assert f'forewarn_gpu_temperature_celsius{{gpu="1",node="n1",uuid="{B}"}}' in bench.series()
    bench.answers[SourceName.DCGM] = lambda _: dcgm({A: 61.0})
    bench.live(1)
    series = bench.series()
    inputs = [m.name for m in catalog.INPUTS]
    assert not [s for s in series if B in s and s.partition("{")[0] in inputs]
    assert series['forewarn_gpus_seen{node="n1"}'] == 1
    assert series['forewarn_gpus_expected{node="n1"}'] == 2
    assert series['forewarn_prediction_degraded{node="n1",reason="gpu_missing"}'] == 1
    assert series['forewarn_missing_readings{kind="gpu_gone",node="n1"}'] == len(CHANNELS)


def test_a_dead_source_withdraws_predictions_and_inputs(bench: Bench) -> None:
    bench.live(4)
    bench.answers[SourceName.DCGM] = failing(Reason.HTTP_500)
    bench.live(3)
    series = bench.series()
    assert not [s for s in series if "probability" in s or "temperature" in s or "score" in s]
    assert series['forewarn_prediction_state{node="n1",state="blind"}'] == 1
    assert series['forewarn_source_up{node="n1",source="dcgm"}'] == 0
    assert series['forewarn_gpus_expected{node="n1"}'] == 2
    assert 'forewarn_gpus_seen{node="n1"}' not in series
    key = 'forewarn_source_errors_total{node="n1",reason="http_500",source="dcgm"}'
    assert series[key] == 3


def test_a_grid_that_stands_still_withdraws_its_prediction(bench: Bench) -> None:
    bench.live(4)
    bench.ticks.advance(200.0)
    series = bench.series()
    assert not [s for s in series if "probability" in s]
    assert series['forewarn_prediction_state{node="n1",state="blind"}'] == 1


def test_an_empty_page_is_no_lost_gpu_and_the_source_is_up(bench: Bench) -> None:
    bench.answers[SourceName.DCGM] = failing(Reason.NO_SAMPLES)
    bench.live(1)
    series = bench.series()
    assert series['forewarn_source_up{node="n1",source="dcgm"}'] == 1
    assert 'forewarn_gpus_expected{node="n1"}' not in series
    assert 'forewarn_gpus_seen{node="n1"}' not in series


def test_closed_labels_are_there_before_anything_happened(tmp_path: Path) -> None:
    series = Bench(tmp_path, with_model=False).series()
    for state in State:
        assert f'forewarn_prediction_state{{node="n1",state="{state}"}}' in series
    for reason in Degraded:
        assert series[f'forewarn_prediction_degraded{{node="n1",reason="{reason}"}}'] == 0
    for kind in Missing:
        assert f'forewarn_missing_readings{{kind="{kind}",node="n1"}}' in series
    errors = [s for s in series if s.startswith("forewarn_source_errors_total")]
    assert len(errors) == 2 * len(Reason)


def test_without_a_model_the_inputs_are_published_all_the_same(tmp_path: Path) -> None:
    bench = Bench(tmp_path, with_model=False)
    bench.live(2)
    series = bench.series()
    assert series['forewarn_prediction_state{node="n1",state="no_model"}'] == 1
    assert series[f'forewarn_gpu_temperature_celsius{{gpu="0",node="n1",uuid="{A}"}}'] == 61
    assert not [s for s in series if s.startswith("forewarn_model_info")]


def test_a_planned_absence_ends_the_signal(bench: Bench) -> None:
    bench.live(4)
    bench.answers[SourceName.DCGM] = lambda _: dcgm({A: 61.0})
    bench.grid.declared = Declared(away=frozenset({B}))
    bench.live(1)
    series = bench.series()
    assert series['forewarn_prediction_degraded{node="n1",reason="gpu_missing"}'] == 0
    assert series['forewarn_gpus_expected{node="n1"}'] == 1


def test_the_landing_page_escapes_what_it_was_told(bench: Bench) -> None:
    bench.answers[SourceName.DCGM] = failing(Reason.BAD_CONTENT, "<script>alert(1)</script>")
    bench.live(1)
    page = landing(bench.grid.view())
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
