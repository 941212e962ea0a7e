"""A step of all GPUs that a restart brought and that stays is another regime; nothing else is."""

from __future__ import annotations

import numpy as np
import pytest

from model.history.record import Record
from model.history.regimes import Regime, regimes
from tests.factories.history import HOUR_STEPS, at, lose, record

DAY_STEPS = 24 * HOUR_STEPS
POWER, UTILISATION = "gpu_power_watts", "gpu_utilization_ratio"
RESTART, BACK = 600, 602
EVERY = slice(None)


def upgraded(watts: float = 50.0, gpus: slice = EVERY, until: int | None = None) -> Record:
    """Return two days of a node at rest on which the source restarts, and power steps."""
    one = record(2 * DAY_STEPS, gpus=4)
    noise = np.random.default_rng(3).normal(0.0, 1.5, one.channel(POWER).shape)
    one.values[:, :, one.names.index(POWER)] += noise
    one.values[gpus, BACK:until, one.names.index(POWER)] += watts
    lose(one, EVERY, RESTART, BACK)
    return one


@pytest.mark.parametrize("watts", [50.0, -50.0])
def test_all_gpus_at_once_from_a_restart_on_for_good_is_another_regime(watts: float) -> None:
    assert regimes(upgraded(watts)) == (Regime(at(BACK), pytest.approx(watts, abs=2.0)),)


def test_restarts_before_and_after_it_are_none() -> None:
    one = upgraded()
    for first in (300, 900, 1_800):
        lose(one, EVERY, first, first + 1)
    assert [found.start for found in regimes(one)] == [at(BACK)]


def test_a_new_driver_under_which_they_rest_otherwise_is_one_without_a_gap() -> None:
    one = record(2 * DAY_STEPS)
    one.values[:, BACK:, one.names.index(POWER)] += 30.0
    assert regimes(one) == ()
    one.changed[BACK] = True
    assert regimes(one) == (Regime(at(BACK), 30.0),)


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(upgraded(0.0), id="a-restart-alone"),
        pytest.param(upgraded(6.0), id="less-than-a-scale"),
        pytest.param(upgraded(gpus=slice(0, 1)), id="one-gpu"),
        pytest.param(upgraded(gpus=slice(0, 3)), id="not-all"),
        pytest.param(upgraded(until=BACK + 4 * HOUR_STEPS), id="it-passes"),
        pytest.param(record(40), id="too-short"),
        pytest.param(record(40, gpus=0), id="no-gpu"),
    ],
)
def test_what_is_not_of_all_or_does_not_stay_is_none(one: Record) -> None:
    assert regimes(one) == ()


def test_gpus_at_work_tell_nothing() -> None:
    one = upgraded()
    one.values[:, :, one.names.index(UTILISATION)] = 0.9
    assert regimes(one) == ()
    one.values[:, :, one.names.index(UTILISATION)] = np.nan
    assert regimes(one) == ()


def test_rest_is_what_counts_between_hours_of_work() -> None:
    one = upgraded()
    hours = np.arange(one.steps) // HOUR_STEPS % 3 > 0
    one.values[:, hours, one.names.index(UTILISATION)] = 0.9
    one.values[:, hours, one.names.index(POWER)] = 650.0
    assert [found.start for found in regimes(one)] == [at(BACK)]
