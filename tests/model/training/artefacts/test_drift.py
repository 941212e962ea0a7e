"""Simulated faults do not take the shipped model's right to act, a foreign kind of node does."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest

from exporter.forecast import drift
from exporter.forecast.drift import Doubt
from exporter.settings import ModelSettings
from model import runtime
from model.cli import BUNDLED
from model.training.artefacts import completion
from model.training.episodes.dataset import episode
from simulator.history import Recording, record_all
from simulator.physics.workload import Workload
from simulator.scenario import HEALTHY, Scenario

if TYPE_CHECKING:
    from pathlib import Path

    from exporter.forecast.drift import Drift
    from model.artefact import ArtefactInfo

STEPS = 1_440
HOUR = 3_600.0
FOREIGN = {
    "gpu_power_limit_watts": 400.0,
    "gpu_memory_clock_hertz": 1.215e9,
    "node_fan_speed_rpm": 11_000.0,
    "node_bus_voltage_volts": 12.2,
    "node_coolant_return_pressure_pascals": 60_000.0,
}
"""Another board, in a case with other fans, another bus and another loop."""


@pytest.fixture(scope="module")
def info(tmp_path_factory: pytest.TempPathFactory) -> ArtefactInfo:
    path: Path = tmp_path_factory.mktemp("drift") / "fleet.onnx"
    shutil.copy(BUNDLED, path)
    completion.complete(path)
    return runtime.load(path).info


def drift_after(info: ArtefactInfo, scenario: Scenario, readings: dict[str, float]) -> float:
    return settled(info, scenario, readings).settled


def settled(
    info: ArtefactInfo, scenario: Scenario, readings: dict[str, float], gpus: int = 8
) -> Drift:
    (history,) = record_all([Recording(scenario, "n1", 5)], steps=STEPS, gpus=gpus)
    whole = episode(history)
    columns = [whole.channels.index(name) for name in info.training_ranges]
    rows = whole.readings[:, :, columns].astype(np.float64)
    for name, value in readings.items():
        rows[..., list(info.training_ranges).index(name)] = value
    held = drift.cold(info)
    for step in range(STEPS):
        held = held.after(rows[:, step], info)
    return held


LIMIT = ModelSettings().drift_limit_ratio


def test_nothing_of_a_healthy_node_is_strange(info: ArtefactInfo) -> None:
    healthy = Scenario(kind=HEALTHY, workload=Workload.MIXED)
    assert drift_after(info, healthy, {}) == 0.0


@pytest.mark.parametrize("kind", ["coolant-loss", "stuck-valve", "hose-burst"])
def test_a_fault_that_all_gpus_feel_stays_below_the_limit(info: ArtefactInfo, kind: str) -> None:
    fault = Scenario(kind=kind, onset_seconds=HOUR, duration_seconds=20 * HOUR, severity=0.95)
    assert drift_after(info, fault, {}) < LIMIT


@pytest.mark.parametrize("gpus", [2, 4, 7, 8, 16])
def test_the_shipped_model_is_doubted_on_healthy_nodes_of_another_size(
    info: ArtefactInfo, gpus: int
) -> None:
    """Their flow alone is strange, and one quantity is no drift."""
    held = settled(info, Scenario(), {}, gpus)
    trust, wall = ModelSettings().trust(), info.trained_timestamp
    assert Doubt.DRIFTED not in trust.doubts(info, held, gpus=8, wall=wall)
    assert (Doubt.GPU_COUNT in trust.doubts(info, held, gpus=gpus, wall=wall)) == (gpus != 8)


@pytest.mark.parametrize("two", [list(FOREIGN)[:2], list(FOREIGN)[2:4]], ids=["board", "case"])
def test_another_board_or_another_case_is_above_the_limit(
    info: ArtefactInfo, two: list[str]
) -> None:
    assert drift_after(info, Scenario(), {name: FOREIGN[name] for name in two}) > LIMIT


def test_one_quantity_in_another_unit_is_told_but_does_not_take_the_right_to_act(
    info: ArtefactInfo,
) -> None:
    kilopascals = {"node_coolant_supply_pressure_pascals": 250.0}
    assert 0 < drift_after(info, Scenario(), kilopascals) < LIMIT
