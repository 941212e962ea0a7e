"""R06: a GPU that leaves on purpose, alone and at rest, is no failure that the model foretells.

A model that has watched a node for two days stays below the critical level.
One that has watched it for hours is unsure, which `docs/evaluation.md` tells
with its numbers; what is held here is that this does not become worse.
"""

from __future__ import annotations

import pytest

from model import runtime
from model.cli import BUNDLED
from model.runtime import Predictor
from simulator.physics.workload import Workload
from simulator.scenario import Scenario
from tests.factories.levels import alert_levels
from tests.model.bundled.replaying import DAY, HOUR, watch

CRITICAL = alert_levels()["critical"]["24h"]


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return runtime.load(BUNDLED)


def highest(predictor: Predictor, *, watched_hours: int, seed: int) -> float:
    """Return the highest probability of 24 h, as `benchmarks.given_away` does."""
    away = Scenario(
        "gpu-given-away",
        onset_seconds=watched_hours * HOUR,
        duration_seconds=3 * HOUR,
        severity=0.9,
        gpu=6,
        workload=Workload.IDLE,
    )
    told = watch(predictor, away, hours=watched_hours + 4.0, seed=seed)
    return float(told.node[:, DAY].max())


@pytest.mark.parametrize("seed", range(60_000, 60_003))
def test_r06_without_a_second_sign_a_model_that_knows_the_node_stays_below_the_alert(
    predictor: Predictor, seed: int
) -> None:
    assert highest(predictor, watched_hours=48, seed=seed) < CRITICAL


def test_r06_on_a_node_that_it_hardly_knows_it_alerts_falsely_in_no_more_than_a_third(
    predictor: Predictor,
) -> None:
    """The first of consecutive seeds, none left out; the limit is a known weakness, no aim."""
    said = [highest(predictor, watched_hours=3, seed=seed) for seed in range(60_000, 60_012)]
    assert sum(one >= CRITICAL for one in said) <= 4
    assert max(said) < 0.2
