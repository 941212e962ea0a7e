"""R07: idle boards that an upgraded monitor keeps awake are warmer for ever, and not ill."""

from __future__ import annotations

import numpy as np

from model import runtime
from model.cli import BUNDLED
from simulator.physics.workload import Workload
from simulator.scenario import Scenario
from tests.factories.levels import alert_levels
from tests.model.bundled.replaying import DAY, HOUR, watch


def test_r07_a_step_that_all_siblings_share_raises_no_alert_and_no_score() -> None:
    upgrade = Scenario(
        "monitor-upgrade",
        onset_seconds=2 * HOUR,
        duration_seconds=12 * HOUR,
        severity=0.9,
        workload=Workload.IDLE,
    )
    told = watch(runtime.load(BUNDLED), upgrade, hours=8.0, seed=70_007)
    assert told.node[:, DAY].max() < alert_levels()["warning"]["24h"]
    assert told.score.min() > 0.7
    assert told.score.max() < 1.3
    assert (told.score / np.median(told.score, axis=1, keepdims=True)).max() < 1.1
