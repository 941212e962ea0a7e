"""R37: a channel that rested at one value makes no sensation of its first quantum."""

from __future__ import annotations

import numpy as np
import pytest

from model import runtime
from model.cli import BUNDLED
from model.runtime import Predictor
from simulator.history import record
from simulator.scenario import Scenario
from tests.factories.levels import alert_levels
from tests.model.bundled.replaying import DAY, inputs

ALERT = alert_levels()["warning"]["24h"]
NAMES = (
    "gpu_power_limit_watts",
    "gpu_memory_correctable_errors_total",
    "node_inlet_temperature_celsius",
    "gpu_memory_temperature_celsius",
    "gpu_memory_clock_hertz",
    "gpu_xid_code",
    "gpu_recovery_action",
)


@pytest.mark.training
def test_r37_scales_have_a_floor_and_a_quantum_scores_as_one() -> None:
    torch = pytest.importorskip("torch", reason="needs the train extra")
    from model.training.network.scaling import Scaling

    scaling = Scaling(NAMES)
    month = torch.tensor([700.0, 0.0, 24.0, float("nan"), 2.619e9, 0.0, 0.0]).repeat(50, 64, 1)
    month[::16, :, 2] = 25.0
    month[::2, :, 4] += 256.0  # what float32 makes of the same clock
    scaling.freeze(month)
    assert torch.isfinite(scaling.scale).all()
    live = torch.tensor([690.0, 1.0, 25.0, 71.0, 2.604e9, 0.0, 0.0])
    told = scaling(live.repeat(1, 64, 1)).values[0, -1]
    assert torch.isfinite(told).all()
    assert told[:3].abs().max() < 2.5
    assert abs(float(told[4])) < 2.5


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return runtime.load(BUNDLED)


@pytest.mark.parametrize(
    ("channel", "value"),
    [
        ("gpu_power_limit_watts", 690.0),
        ("gpu_memory_correctable_errors_total", 1.0),
        ("node_inlet_temperature_celsius", 25.0),
    ],
)
def test_r37_the_first_step_of_a_still_channel_alerts_nobody(
    predictor: Predictor, channel: str, value: float
) -> None:
    values = inputs(record(Scenario(), node="still", seed=37, steps=90), predictor.info.names)
    place = predictor.info.names.index(channel)
    if channel.startswith("node"):
        values[:, :, place] = 24.0
        values[:, -1, place] = value
    else:
        values[2, -1, place] = value
    state = predictor.initial_state(8)
    for end in range(64, 91):
        said = predictor.predict(np.ascontiguousarray(values[:, end - 64 : end]), state)
        state = said.state
    assert np.isfinite(said.contribution).all()
    assert said.node[DAY] < ALERT


def test_r37_a_channel_that_appears_is_no_alarm(predictor: Predictor) -> None:
    values = inputs(record(Scenario(), node="new", seed=38, steps=90), predictor.info.names)
    values[:, :80, predictor.info.names.index("gpu_memory_temperature_celsius")] = np.nan
    state = predictor.initial_state(8)
    for end in range(64, 91):
        said = predictor.predict(np.ascontiguousarray(values[:, end - 64 : end]), state)
        state = said.state
        assert said.node[DAY] < ALERT
