"""R07: what a new monitor changes on every board is told as drift, on the node's own page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the train extra")

import torch

from exporter.forecast import drift
from model.training.artefacts import sight
from model.training.episodes.dataset import episode
from model.training.network.scaling import Scaling
from simulator.endpoints import dcgm
from simulator.history import NodeHistory, Recording, record_all
from simulator.instruments.shown import SHOWN
from simulator.physics.workload import Workload
from simulator.recorder.openmetrics import reading
from simulator.scenario import Scenario
from tests.factories import artefact
from tests.field_reports.gpu_node import GpuNode

pytestmark = pytest.mark.training
HOUR, DAY_STEPS, GPUS = 3_600.0, 1_440, 2
SEED = 7
REST = Scenario(workload=Workload.IDLE)
BEFORE, AFTER = 40, 60
Ranges = dict[str, tuple[float, float]]
POWER = 'forewarn_model_input_drift_by_channel{channel="gpu_power_watts",node="n1"}'
MEAN = 'forewarn_model_input_drift{node="n1"}'


def upgrade(hours: float) -> Scenario:
    return Scenario(
        "monitor-upgrade",
        onset_seconds=hours * HOUR,
        duration_seconds=200 * HOUR,
        severity=0.9,
        workload=Workload.IDLE,
    )


def told(scenario: Scenario, steps: int) -> NodeHistory:
    return next(record_all([Recording(scenario, "n1", SEED)], steps=steps, gpus=GPUS))


@pytest.fixture(scope="module")
def ranges() -> Ranges:
    """What a site's training tells of nodes at rest: the ranges of its own scaling."""
    rest = [Recording(REST, f"n{place}", place) for place in (1, 2, 3)]
    wholes = [episode(one) for one in record_all(rest, steps=DAY_STEPS, gpus=GPUS)]
    scaling = Scaling(SHOWN)
    scaling.freeze(torch.from_numpy(np.concatenate([one.readings for one in wholes])))
    about = artefact.info(SHOWN, training_ranges=scaling.ranges())
    return sight.told(about, scaling).training_ranges


def node(folder: Path, ranges: Ranges, history: NodeHistory) -> GpuNode:
    """A node whose dcgm-exporter shows `history`; none answers while it restarts."""

    def answer(interval: int) -> tuple[int, bytes]:
        page = dcgm.page(reading(history, interval // 2), SEED)
        return (200, page.encode()) if page else (503, b"")

    return GpuNode(folder, answer, names=SHOWN, training_ranges=ranges)


def test_r07_the_drift_rises_from_the_restart_on_and_names_the_power(
    tmp_path: Path, ranges: Ranges
) -> None:
    one = node(tmp_path, ranges, told(upgrade(BEFORE / 60), BEFORE + AFTER))
    one.live(BEFORE)
    assert one.series()[MEAN] == 0.0
    shares = []
    for _ in range(4):
        one.live(AFTER // 4)
        shares.append((one.series()[MEAN], one.series()[POWER]))
    assert shares == sorted(shares)
    assert shares[0][0] < shares[-1][0]
    assert 0.5 < shares[-1][1] < 1.0
    outside = [name for name in one.series() if name.startswith("forewarn_model_input_drift_by")]
    assert len(outside) <= 3, "power, and what warms with it"


def test_r07_the_same_step_on_one_board_is_no_drift(tmp_path: Path, ranges: Ranges) -> None:
    history = told(REST, BEFORE)
    power = history.channels.index("gpu_power_watts")
    history.values[0, :, power] += 50.0
    three = history.with_values(history.values[[0, 1, 1]])
    one = node(tmp_path, ranges, three)
    one.live(BEFORE)
    assert one.series()[MEAN] == 0.0


def test_r07_after_days_the_step_is_there_for_good(ranges: Ranges) -> None:
    """Which is when `ForewarnInputOutsideTraining` tells people of it."""
    whole = episode(told(upgrade(24.0), 6 * DAY_STEPS))
    info = artefact.info(SHOWN, training_ranges=ranges)
    rows = whole.readings[:, :, [SHOWN.index(name) for name in ranges]].astype(np.float64)
    held, first_days = drift.cold(info), 0.0
    for step in range(rows.shape[1]):
        held = held.after(rows[:, step], info)
        if step == 3 * DAY_STEPS:
            first_days = held.by_channel(info)["gpu_power_watts"]
    assert 0.7 < first_days < drift.SETTLED
    assert held.by_channel(info)["gpu_power_watts"] >= drift.SETTLED
    assert held.settled > 0.0
