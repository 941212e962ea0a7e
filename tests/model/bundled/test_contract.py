"""The shipped artefact keeps the contract and says honestly what it is."""

from __future__ import annotations

import numpy as np
import pytest

from model import runtime
from model.cli import BUNDLED
from model.runtime import Predictor
from simulator.instruments.shown import SHOWN


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return runtime.load(BUNDLED)


def test_it_is_small_enough_for_every_node() -> None:
    assert BUNDLED.stat().st_size < 4 << 20


def test_it_says_that_it_learned_from_simulation(predictor: Predictor) -> None:
    assert predictor.info.provenance == "bundled-simulated"
    assert predictor.info.scope == "fleet"
    assert "simulated" in predictor.info.evaluation.data


def test_it_reads_what_is_simulated_and_requires_what_every_dcgm_exporter_delivers(
    predictor: Predictor,
) -> None:
    assert predictor.info.names == SHOWN[: len(predictor.info.names)]
    assert predictor.info.required == {"gpu_temperature_celsius", "gpu_power_watts"}


def test_it_tells_the_ranges_in_which_its_healthy_nodes_lay(predictor: Predictor) -> None:
    """An artefact of an earlier version gets them by `forewarn-model complete`."""
    ranges = predictor.info.training_ranges
    assert len(ranges) >= 18
    assert ranges["gpu_temperature_celsius"][1] < 110


def test_its_worth_stands_beside_the_base_rate(predictor: Predictor) -> None:
    worth = predictor.info.evaluation
    assert worth.events > 0
    assert worth.node_weeks > 0
    assert worth.base_rate_per_node_week > 0
    assert 0 < worth.brier_of_base_rate < worth.brier_of_always_healthy


@pytest.mark.parametrize("gpus", [1, 4, 8, 16])
def test_any_number_of_gpus_may_be_asked(predictor: Predictor, gpus: int) -> None:
    shape = (gpus, predictor.info.window_steps, len(predictor.info.names))
    said = predictor.predict(np.full(shape, np.nan, np.float32), predictor.initial_state(gpus))
    assert said.gpu.shape == (gpus, 4)
    assert said.contribution.sum() == 0


def test_seeing_nothing_it_tells_no_more_than_a_base_rate(predictor: Predictor) -> None:
    shape = (8, predictor.info.window_steps, len(predictor.info.names))
    said = predictor.predict(np.full(shape, np.nan, np.float32), predictor.initial_state(8))
    assert said.node[-1] < 0.05


def test_the_same_window_and_state_give_the_same_answer(predictor: Predictor) -> None:
    random = np.random.default_rng(1)
    shape = (8, predictor.info.window_steps, len(predictor.info.names))
    window = random.uniform(0, 60, shape).astype(np.float32)
    one = predictor.predict(window, predictor.initial_state(8))
    other = predictor.predict(window, predictor.initial_state(8))
    np.testing.assert_array_equal(one.node, other.node)
    np.testing.assert_array_equal(one.state, other.state)
