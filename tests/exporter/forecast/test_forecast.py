"""A prediction that lacks its inputs is withdrawn; the state moves once per step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from exporter.collectors import SourceStatus
from exporter.forecast.forecaster import (
    Degraded,
    Forecast,
    Forecaster,
    Memory,
    Position,
    State,
    cold,
)
from exporter.forecast.shelf import InForce
from exporter.readings import Place, SourceName, SourceReadings
from exporter.window import snapshot
from model import runtime
from tests.factories import artefact
from tests.factories.sources import ENERGY, A, B, dcgm, gpus, up

if TYPE_CHECKING:
    from pathlib import Path

STEP = 60.0
POWER = {Place("node_power_watts"): 3_400.0}


@pytest.fixture
def model(tmp_path: Path) -> InForce:
    path = artefact.write(tmp_path / "fleet.onnx")
    return InForce(runtime.load(path), path, fallback=False)


@pytest.fixture
def forecaster() -> Forecaster:
    return Forecaster(step_seconds=STEP, minimum_fill_ratio=0.25, bmc_configured=False)


def taken(temperatures: dict[str, float], now: float, **more) -> snapshot.NodeSnapshot:
    readings = dcgm(temperatures, **more)
    return snapshot.take([up(readings, now)], now, expected=gpus(A, B), expected_count=2)


def everything(now: float, celsius: float = 60.0) -> snapshot.NodeSnapshot:
    per_gpu = {Place(name, uuid): 300.0 for name in ("gpu_power_watts", ENERGY) for uuid in (A, B)}
    return taken({A: celsius, B: 50.0}, now, values=per_gpu | POWER)


def run(
    forecaster: Forecaster, model: InForce | None, snapshots: list[snapshot.NodeSnapshot | None]
) -> tuple[Memory, Forecast]:
    """Feed one snapshot a step; None is a step that was skipped."""
    memory, latest, skipped = cold(), None, 0
    for step, known in enumerate(snapshots):
        if known is None:
            skipped += 1
            continue
        position = Position(at=step * STEP, wall=1e9 + step * STEP, skipped=skipped)
        memory, latest = forecaster.advance(memory, known, model, position)
        skipped = 0
    assert latest is not None
    return memory, latest


def test_a_read_window_gives_probabilities(forecaster: Forecaster, model: InForce) -> None:
    _, latest = run(forecaster, model, [everything(0.0)] * 4)
    assert latest.state is State.OK
    assert latest.prediction is not None
    np.testing.assert_allclose(latest.prediction.node, [0.15, 0.3, 0.45, 0.6], rtol=1e-5)


def test_a_short_window_is_warming_up_without_probabilities(
    forecaster: Forecaster, model: InForce
) -> None:
    _, latest = run(forecaster, model, [everything(0.0)])
    assert (latest.state, latest.prediction) == (State.WARMING_UP, None)


def test_a_missing_required_channel_is_blind(forecaster: Forecaster, model: InForce) -> None:
    only_power = taken({}, 0.0, gpus=gpus(A, B), values=POWER)
    _, latest = run(forecaster, model, [everything(0.0)] * 4 + [only_power])
    assert (latest.state, latest.prediction) == (State.BLIND, None)
    assert "gpu_temperature_celsius" in latest.missing_channels


def test_a_source_that_is_down_is_blind_and_not_a_lost_gpu(
    forecaster: Forecaster, model: InForce
) -> None:
    nobody = snapshot.take(
        [SourceStatus(SourceName.DCGM, 30.0, attempted=True)], 0.0, expected=gpus(A, B)
    )
    _, latest = run(forecaster, model, [everything(0.0)] * 4 + [nobody])
    assert latest.state is State.BLIND
    assert Degraded.GPU_MISSING not in latest.degraded


def test_a_missing_optional_channel_degrades(forecaster: Forecaster, model: InForce) -> None:
    _, latest = run(forecaster, model, [taken({A: 60.0, B: 50.0}, 0.0)] * 4)
    assert latest.state is State.DEGRADED
    assert latest.degraded == {Degraded.OPTIONAL_CHANNELS}
    assert latest.prediction is not None


def test_a_lost_gpu_degrades(forecaster: Forecaster, model: InForce) -> None:
    _, latest = run(forecaster, model, [everything(0.0)] * 4 + [taken({A: 60.0}, 0.0)])
    assert Degraded.GPU_MISSING in latest.degraded
    assert latest.prediction is not None
    assert latest.prediction.gpu[1].max() == 0.0


def test_a_dead_bmc_degrades_only_where_one_is_configured(model: InForce) -> None:
    with_bmc = Forecaster(step_seconds=STEP, minimum_fill_ratio=0.25, bmc_configured=True)
    _, latest = run(with_bmc, model, [everything(0.0)] * 4)
    assert Degraded.BMC_DOWN in latest.degraded
    bmc = up(SourceReadings(SourceName.REDFISH, values=POWER), 0.0, 60.0)
    known = snapshot.take([bmc, up(dcgm({A: 60.0}), 0.0)], 0.0, expected=gpus(A))
    _, latest = run(with_bmc, model, [known] * 4)
    assert Degraded.BMC_DOWN not in latest.degraded


def test_a_fallback_model_degrades(forecaster: Forecaster, model: InForce) -> None:
    fallback = InForce(model.predictor, model.path, fallback=True)
    _, latest = run(forecaster, fallback, [everything(0.0)] * 4)
    assert latest.degraded == {Degraded.FALLBACK_MODEL}


def test_without_a_model_there_is_no_probability(forecaster: Forecaster) -> None:
    memory, latest = run(forecaster, None, [everything(0.0)] * 4)
    assert (latest.state, latest.prediction) == (State.NO_MODEL, None)
    assert memory.window.fill_ratio(64) == 4 / 64


def test_the_state_moves_once_per_step_through_gaps_too(
    forecaster: Forecaster, model: InForce
) -> None:
    memory, _ = run(forecaster, model, [everything(0.0), None, None, None, everything(0.0)])
    assert memory.state.tolist() == [[5.0], [5.0]]
    assert np.isnan(memory.window.matrix(["gpu_temperature_celsius"])[0, -4:-1]).all()


def test_after_a_gap_beyond_the_memory_the_state_starts_cold(
    forecaster: Forecaster, model: InForce
) -> None:
    memory, _ = run(forecaster, model, [everything(0.0)] * 3)
    far = Position(at=1e7, wall=2e9, skipped=72 * 60 + 1)
    memory, _ = forecaster.advance(memory, everything(0.0), model, far)
    assert memory.state.tolist() == [[9.0], [9.0]]


def test_another_model_starts_a_cold_state_and_keeps_the_window(
    tmp_path: Path, forecaster: Forecaster, model: InForce
) -> None:
    memory, _ = run(forecaster, model, [everything(0.0)] * 3)
    path = artefact.write(tmp_path / "other.onnx", version="other")
    other = InForce(runtime.load(path), path, fallback=False)
    memory, latest = forecaster.advance(memory, everything(0.0), other, Position(180.0, 1e9))
    assert memory.state.tolist() == [[1.0], [1.0]]
    assert latest.fill_ratio == 0.5


def test_a_gpu_keeps_its_state_when_rows_move(forecaster: Forecaster, model: InForce) -> None:
    memory, _ = run(forecaster, model, [everything(0.0)] * 3)
    alone = snapshot.take([up(dcgm({B: 50.0}), 0.0)], 0.0, expected=gpus(B))
    memory, _ = forecaster.advance(memory, alone, model, Position(180.0, 1e9))
    assert memory.state.tolist() == [[4.0]]
    both = everything(0.0)
    memory, _ = forecaster.advance(memory, both, model, Position(240.0, 1e9))
    assert memory.state.tolist() == [[1.0], [5.0]]


def test_a_forecast_ages_out(forecaster: Forecaster, model: InForce) -> None:
    _, latest = run(forecaster, model, [everything(0.0)] * 4)
    assert latest.is_fresh(180.0 + 3 * STEP)
    assert not latest.is_fresh(180.0 + 3 * STEP + 1)
