"""What the data show of a failure, and what they must not be taken for."""

from __future__ import annotations

import numpy as np
import pytest

from model.history.failures import Failure, Sign, cause_of, signs
from model.schema import Cause
from model.sources.xid import HARDWARE
from simulator.history import Recording, record_all
from simulator.physics.workload import Workload
from simulator.scenario import Scenario
from tests.factories.history import as_record, at, lose, record

XID, ENERGY = "gpu_xid_code", "gpu_energy_joules_total"
UTILISATION = "gpu_utilization_ratio"
HOUR = 3_600.0


def found(one) -> list[tuple[float, str, Cause, Sign]]:
    return [(f.time, f.uuid, f.cause, f.sign) for f in signs(one).failures]


def test_a_working_node_shows_no_failure() -> None:
    assert signs(record(200)) == signs(record(200, gpus=1))
    assert found(record(200)) == []


@pytest.mark.parametrize(
    ("channel", "value", "cause", "sign"),
    [
        (XID, 79.0, Cause.DEVICE, Sign.XID),
        (XID, 74.0, Cause.INTERCONNECT, Sign.XID),
        ("gpu_row_remap_failed", 1.0, Cause.MEMORY, Sign.REMAP_FAILED),
        ("gpu_memory_uncorrectable_errors_total", 1.0, Cause.MEMORY, Sign.DOUBLE_BIT),
        ("gpu_recovery_action", 2.0, Cause.DEVICE, Sign.RECOVERY_ACTION),
        ("gpu_hardware_xid_events_total", 1.0, Cause.DEVICE, Sign.XID),
    ],
)
def test_each_sign_of_a_failure_is_seen_where_it_begins(channel, value, cause, sign) -> None:
    one = record(200)
    if channel == "gpu_hardware_xid_events_total":
        one.channel(channel)[1, :] = 0.0
    one.channel(channel)[1, 120:] = value
    assert found(one) == [(at(120), "B", cause, sign)]


@pytest.mark.parametrize("code", [13.0, 31.0, 43.0, 45.0, 63.0, 92.0, 94.0])
def test_codes_of_applications_and_precursors_are_negatives(code: float) -> None:
    one = record(200)
    one.channel(XID)[1, 120:] = code
    assert found(one) == []


def test_a_code_that_was_there_from_the_first_is_old() -> None:
    one = record(200)
    one.channel(XID)[1, :] = 79.0
    assert found(one) == []


def test_a_code_that_came_back_after_it_was_cleared_is_new() -> None:
    one = record(200)
    code = one.channel(XID)[0]
    code[:] = np.nan
    code[50:100] = 79.0
    code[110:111] = np.nan
    code[150:] = 79.0
    assert [time for time, *_ in found(one)] == [at(50), at(150)]


def test_a_recovery_action_that_asks_for_a_drain_is_none() -> None:
    one = record(200)
    one.channel("gpu_recovery_action")[1, 120:] = 3.0
    assert found(one) == []


def test_a_gpu_that_is_gone_for_three_steps_has_failed_and_for_two_has_not() -> None:
    one = record(200)
    one.channel(UTILISATION)[:] = 0.9
    lose(one, 0, 50, 52)
    lose(one, 1, 120)
    assert found(one) == [(at(120), "B", Cause.DEVICE, Sign.GPU_MISSING)]


@pytest.mark.parametrize("work", [0.0, np.nan])
def test_a_gpu_that_leaves_at_rest_and_accused_by_nothing_proves_nothing(work: float) -> None:
    one = record(200)
    one.channel(UTILISATION)[:] = work
    one.channel(UTILISATION)[:, :100] = 0.9
    lose(one, 1, 120)
    told = signs(one)
    assert told.failures == ()
    assert told.unjudged == ()
    assert told.alone == (Failure(at(120), "B", Cause.DEVICE, Sign.GPU_MISSING),)


def test_a_gpu_that_leaves_at_rest_twice_has_left_twice_and_not_failed() -> None:
    one = record(200)
    lose(one, 1, 120, 125)
    lose(one, 1, 130)
    told = signs(one)
    assert told.failures == ()
    assert [gone.time for gone in told.alone] == [at(120), at(130)]


@pytest.mark.parametrize("channel", [UTILISATION, "gpu_engine_active_ratio"])
def test_work_that_was_last_known_of_is_a_second_sign(channel: str) -> None:
    one = record(200)
    one.channel(channel)[1, :116] = 0.9
    for name in (UTILISATION, "gpu_engine_active_ratio"):
        one.channel(name)[1, 116:] = np.nan
    lose(one, 1, 120)
    assert found(one) == [(at(120), "B", Cause.DEVICE, Sign.GPU_MISSING)]


def test_a_code_soon_after_is_the_second_sign() -> None:
    one = record(200)
    lose(one, 1, 120)
    one.channel(XID)[1, 130:] = 79.0
    assert found(one) == [(at(120), "B", Cause.DEVICE, Sign.GPU_MISSING)]


@pytest.mark.parametrize("seed", range(4))
def test_an_idle_gpu_that_the_simulator_gives_away_is_no_failure_of_the_site(seed: int) -> None:
    away = Scenario("gpu-given-away", HOUR, 3 * HOUR, severity=0.9, gpu=1, workload=Workload.IDLE)
    told = signs(as_record(next(record_all([Recording(away, "n1", seed)], steps=300, gpus=2))))
    assert told.failures == ()
    assert len(told.alone) == 1
    assert told.unjudged == ()


def test_a_gpu_that_left_hot_was_shut_down_by_heat() -> None:
    one = record(200)
    one.channel("gpu_shutdown_margin_celsius")[1, :120] = 20.0
    one.channel("gpu_shutdown_margin_celsius")[1, 118:120] = 0.0
    lose(one, 1, 120)
    assert found(one) == [(at(120), "B", Cause.THERMAL, Sign.THERMAL_SHUTDOWN)]


def test_a_node_that_says_nothing_is_unknown_and_no_failure() -> None:
    one = record(200)
    lose(one, slice(None), 120)
    assert found(one) == []


def test_signs_within_a_quarter_of_an_hour_are_one_failure() -> None:
    one = record(200)
    one.channel("gpu_memory_uncorrectable_errors_total")[1, 120:] = 1.0
    one.channel(XID)[1, 121:] = 48.0
    one.channel("gpu_row_remap_failed")[1, 130:] = 1.0
    one.channel("gpu_recovery_action")[1, 140:] = 1.0
    assert [time for time, *_ in found(one)] == [at(120)]


def test_what_leaves_around_a_driver_load_proves_nothing() -> None:
    one = record(200)
    one.channel(ENERGY)[:, 120:] -= 1e9
    lose(one, 1, 115, 119)
    one.channel(ENERGY)[1, 119] = 0.0
    told = signs(one)
    assert told.failures == ()
    assert told.unjudged == (at(115),)


def test_a_failure_ahead_of_the_reset_that_it_made_necessary_counts() -> None:
    one = record(200)
    one.channel(XID)[1, 110:] = 48.0
    one.channel(ENERGY)[:, 120:] -= 1e9
    assert [time for time, *_ in found(one)] == [at(110)]


def test_what_leaves_after_a_change_of_layout_or_a_reload_proves_nothing() -> None:
    one = record(200)
    one.changed[60] = True
    lose(one, 0, 62, 70)
    lose(one, slice(None), 120, 124)
    lose(one, 1, 124)
    told = signs(one)
    assert told.failures == ()
    assert told.unjudged == (at(62), at(124))


def test_every_positive_code_has_a_cause() -> None:
    assert {cause_of(code) for code in HARDWARE} == {
        Cause.MEMORY,
        Cause.INTERCONNECT,
        Cause.POWER,
        Cause.DEVICE,
    }
