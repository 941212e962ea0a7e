"""R06: a GPU that leaves on purpose, alone and at rest, is no failure that the model foretells."""

from __future__ import annotations

import pytest

from model import runtime
from model.cli import BUNDLED
from simulator.physics.workload import Workload
from simulator.scenario import Scenario
from tests.factories.levels import alert_levels
from tests.model.bundled.replaying import DAY, HOUR, watch


@pytest.mark.parametrize("seed", [60_006, 60_009, 60_010, 60_011])
def test_r06_without_a_second_sign_the_model_stays_below_the_alert(seed: int) -> None:
    away = Scenario(
        "gpu-given-away",
        onset_seconds=(2 + seed % 3) * HOUR,
        duration_seconds=3 * HOUR,
        severity=0.9,
        gpu=6,
        workload=Workload.IDLE,
    )
    told = watch(runtime.load(BUNDLED), away, hours=7.0, seed=seed)
    assert told.node[:, DAY].max() < alert_levels()["critical"]["24h"]
