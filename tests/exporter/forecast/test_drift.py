"""A node that the model does not know is told from one that is ill."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from exporter.forecast import drift
from exporter.forecast.drift import Doubt, Drift, Trust
from exporter.forecast.forecaster import Forecaster, Position, cold
from exporter.forecast.shelf import InForce
from exporter.readings import Place
from exporter.window import snapshot
from model import runtime
from model.artefact import Training
from tests.factories import artefact
from tests.factories.sources import A, B, dcgm, gpus, up
from tests.field_reports.gpu_node import GpuNode, healthy

if TYPE_CHECKING:
    from pathlib import Path

    from model.artefact import ArtefactInfo

NAN = np.nan
RANGES = {"gpu_temperature_celsius": (20.0, 90.0), "node_power_watts": (500.0, 3_000.0)}
INFO = artefact.info(training_ranges=RANGES)
USUAL, DAY = [60.0, 1_000.0], 1_440


def after(*rows: list[list[float]], info: ArtefactInfo = INFO, known: Drift | None = None) -> Drift:
    """Live through rows [gpu, channel], a step each."""
    held = known or drift.cold(info)
    for row in rows:
        held = held.after(np.array(row), info)
    return held


def test_what_lies_in_the_range_is_no_drift() -> None:
    assert after([USUAL, [90.0, 500.0]]).ratio == 0.0


def test_one_strange_gpu_of_three_is_no_drift_and_all_of_them_are() -> None:
    assert after([USUAL, USUAL, [95.0, 1_000.0]]).ratio == 0.0
    every = after([[95.0, 1_000.0]] * 3)
    assert every.ratio == 0.5
    assert every.by_channel(INFO) == {"gpu_temperature_celsius": 1.0}


def test_a_strange_day_after_a_usual_week_weighs_half() -> None:
    held = after(*[[USUAL]] * 7 * DAY)
    held = after(*[[[10.0, 9_000.0]]] * DAY, known=held)
    assert held.ratio == pytest.approx(0.5, abs=0.01)


def test_what_came_in_these_days_is_not_strange_for_good_and_what_stays_is() -> None:
    week = after(*[[USUAL]] * 7 * DAY)
    three_days = after(*[[[10.0, 1_000.0]]] * 3 * DAY, known=week)
    assert (three_days.ratio, three_days.settled) == (pytest.approx(0.44, abs=0.01), 0.0)
    five_days = after(*[[[10.0, 1_000.0]]] * 2 * DAY, known=three_days)
    assert five_days.settled == 0.5
    assert after([[10.0, 1_000.0]]).settled == 0.5, "a foreign machine is strange at once"
    assert drift.cold(INFO).settled == 0.0


def test_what_is_not_read_changes_nothing() -> None:
    held = after([[95.0, NAN]])
    assert held.ratio == 1.0
    assert after([[NAN, NAN]], known=held).ratio == 1.0
    assert drift.cold(INFO).ratio is None


def test_a_model_that_tells_no_range_cannot_be_told_to_have_drifted() -> None:
    assert after([[]], info=artefact.info()).ratio is None


@pytest.mark.parametrize(
    ("row", "age_seconds", "doubts"),
    [
        (USUAL, 100.0, set()),
        ([10.0, 1_000.0], 100.0, {Doubt.DRIFTED}),
        (USUAL, 101.0, {Doubt.STALE}),
        ([NAN, NAN], 100.0, set()),
    ],
)
def test_doubt_begins_beyond_the_limits(
    row: list[float], age_seconds: float, doubts: set[Doubt]
) -> None:
    trust = Trust(drift_limit_ratio=0.4, stale_after_seconds=100.0)
    wall = INFO.trained_timestamp + age_seconds
    assert trust.doubts(INFO, after([row]), gpus=2, wall=wall) == doubts


def test_without_a_limit_no_model_is_stale() -> None:
    assert drift.UNLIMITED.doubts(INFO, drift.cold(INFO), gpus=3, wall=9e9) == frozenset()


@pytest.mark.parametrize(
    ("trained", "gpus", "doubted"),
    [((8,), 2, True), ((8,), 8, False), ((2, 8), 2, False), ((), 2, False), ((8,), None, False)],
)
def test_a_node_of_a_size_that_training_never_saw_is_no_node_of_the_model(
    trained: tuple[int, ...], gpus: int | None, doubted: bool
) -> None:
    about = artefact.info(training=Training(1.6e9, 1.7e9, 1000, 10, 7, gpus=trained))
    strict = Trust(drift_limit_ratio=1.0, stale_after_seconds=None)
    told = strict.doubts(about, drift.cold(about), gpus=gpus, wall=9e9)
    assert told == ({Doubt.GPU_COUNT} if doubted else set())
    wide = replace(strict, any_gpu_count=True)
    assert not wide.doubts(about, drift.cold(about), gpus=gpus, wall=9e9)


def test_a_forecast_tells_the_drift_and_another_model_begins_anew(tmp_path: Path) -> None:
    def model(name: str, **changes: object) -> InForce:
        path = artefact.write(tmp_path / name, training_ranges=RANGES, **changes)
        return InForce(runtime.load(path), path, fallback=False)

    trust = Trust(drift_limit_ratio=0.3, stale_after_seconds=None)
    forecaster = Forecaster(60.0, 0.25, bmc_configured=False, trust=trust)
    first, other = model("a.onnx"), model("b.onnx", version="test-2")

    def known(watts: float) -> snapshot.NodeSnapshot:
        readings = dcgm({A: 60.0, B: 50.0}, values={Place("node_power_watts"): watts})
        return snapshot.take([up(readings, 0.0)], 0.0, expected=gpus(A, B), expected_count=2)

    memory = cold()
    memory, told = forecaster.advance(memory, known(9_000.0), first, Position(0.0, 1.7e9))
    assert (told.drift.ratio, told.doubts) == (0.5, {Doubt.DRIFTED})
    memory, told = forecaster.advance(memory, known(1_000.0), other, Position(60.0, 1.7e9))
    assert (told.drift.ratio, told.doubts) == (0.0, frozenset())


@pytest.mark.parametrize(("trained", "shown"), [((4,), 1.0), ((4, 8), 0.0)])
def test_the_page_says_that_the_model_knows_no_node_of_this_size(
    tmp_path: Path, trained: tuple[int, ...], shown: float
) -> None:
    about = Training(1.6e9, 1.7e9, 1000, 10, 7, gpus=trained)
    node = GpuNode(tmp_path, lambda interval: (200, healthy(interval).encode()), training=about)
    node.live(3)
    assert node.series()['forewarn_model_doubted{node="n1",reason="gpu_count"}'] == shown
