"""A past is cut where nothing may be learned across, and every hour is accounted for."""

from __future__ import annotations

import pytest

from model.history.failures import Sign
from model.history.incidents import Incident
from model.history.timeline import LeftOut, timeline
from model.schema import Cause
from tests.factories.history import HOUR_STEPS, at, lose, record

DAY_STEPS = 24 * HOUR_STEPS
XID = "gpu_xid_code"
UTILISATION = "gpu_utilization_ratio"


def cut(one, *incidents: Incident) -> list[tuple[float, float, float | None]]:
    told = timeline(one, list(incidents))
    return [(s.start, s.end, s.failure and s.failure.time) for s in told.stretches]


def listed(start: float, cause: str, *, gpu: str = "", end: float | None = None) -> Incident:
    return Incident(2, "n1", gpu, start, end, cause)


def test_a_quiet_fortnight_is_two_weeks() -> None:
    week = 7 * DAY_STEPS
    assert cut(record(2 * week)) == [(at(0), at(week), None), (at(week), at(2 * week), None)]


def test_a_failure_ends_its_stretch_two_hours_later_and_has_a_week_before_it() -> None:
    one = record(10 * DAY_STEPS)
    failed = 9 * DAY_STEPS
    one.channel(XID)[1, failed : failed + 30] = 48.0
    assert cut(one) == [
        (at(0), at(2 * DAY_STEPS), None),
        (at(2 * DAY_STEPS), at(failed + 120), at(failed)),
        (at(failed + 120), at(10 * DAY_STEPS), None),
    ]


def test_nothing_is_learned_until_a_lost_gpu_is_back() -> None:
    one = record(2 * DAY_STEPS)
    one.channel(UTILISATION)[1, :600] = 0.9
    lose(one, 1, 600, 1_200)
    told = timeline(one, [])
    assert [(s.start, s.end) for s in told.stretches] == [(at(0), at(720)), (at(1_200), at(2_880))]
    assert told.left_out_hours == {LeftOut.REPAIR: 8}


def test_a_gpu_that_is_given_away_leaves_half_an_hour_out_and_no_failure() -> None:
    one = record(2 * DAY_STEPS)
    lose(one, 1, 600, 1_200)
    told = timeline(one, [])
    assert told.failures == ()
    assert [(s.start, s.end) for s in told.stretches] == [(at(0), at(585)), (at(615), at(2_880))]
    assert told.left_out_hours == {LeftOut.UNJUDGED: 1}


@pytest.mark.parametrize("minutes", [-300, -16, -10, 0, 14, 16, 300])
@pytest.mark.parametrize("gpu", ["", "B", "1"])
def test_an_absence_that_the_list_calls_a_failure_is_one(minutes: int, gpu: str) -> None:
    one = record(2 * DAY_STEPS)
    lose(one, 1, 600, 1_200)
    (failure,) = timeline(one, [listed(at(600 + minutes), "device", gpu=gpu)]).failures
    assert failure.time == at(600 + min(0, minutes))
    assert failure.cause is Cause.DEVICE


@pytest.mark.parametrize("cause", ["planned", "application"])
def test_what_the_list_acquits_does_not_make_one_of_it(cause: str) -> None:
    one = record(2 * DAY_STEPS)
    lose(one, 1, 600, 1_200)
    assert timeline(one, [listed(at(600), cause, end=at(610))]).failures == ()
    assert timeline(one, [listed(at(600), "device", gpu="A")]).failures[0].uuid == "A"


def test_a_sibling_that_fails_while_another_leaves_at_rest_has_failed() -> None:
    one = record(2 * DAY_STEPS)
    lose(one, 1, 600, 1_200)
    one.channel(XID)[0, 608:] = 79.0
    (failure,) = timeline(one, []).failures
    assert (failure.time, failure.uuid, failure.sign) == (at(608), "A", Sign.XID)


def test_a_flag_that_stays_keeps_the_node_out() -> None:
    one = record(2 * DAY_STEPS)
    one.channel("gpu_row_remap_failed")[1, 600:] = 1.0
    assert [(s, e) for s, e, _ in cut(one)] == [(at(0), at(720))]


def test_another_gpu_in_its_place_ends_the_repair() -> None:
    one = record(2 * DAY_STEPS, gpus=3)
    lose(one, 2, 0, 1_000)
    one.channel(UTILISATION)[1, :600] = 0.9
    lose(one, 1, 600)
    assert [(s, e) for s, e, _ in cut(one)] == [(at(0), at(720)), (at(1_000), at(2_880))]


@pytest.mark.parametrize(("hours", "parts"), [(1, 1), (6, 2)])
def test_a_silence_of_hours_is_a_border_and_a_short_one_is_not(hours: int, parts: int) -> None:
    one = record(DAY_STEPS)
    lose(one, slice(None), 600, 600 + hours * HOUR_STEPS)
    told = timeline(one, [])
    assert len(told.stretches) == parts
    assert told.left_out_hours == ({LeftOut.GAP: 6} if parts == 2 else {})


def test_planned_work_is_left_out_with_what_happened_in_it() -> None:
    one = record(DAY_STEPS)
    one.channel(XID)[1, 650:700] = 79.0
    told = timeline(one, [listed(at(600), "planned", end=at(720))])
    assert told.failures == ()
    assert [(s.start, s.end) for s in told.stretches] == [(at(0), at(600)), (at(720), at(1_440))]


def test_the_list_names_the_cause_and_the_earlier_time_counts() -> None:
    one = record(DAY_STEPS)
    one.channel(XID)[1, 700:] = 79.0
    (failure,) = timeline(one, [listed(at(690), "thermal")]).failures
    assert (failure.time, failure.uuid, failure.cause) == (at(690), "B", Cause.THERMAL)


def test_an_incident_that_the_data_do_not_show_is_a_failure_all_the_same() -> None:
    (failure,) = timeline(record(DAY_STEPS), [listed(at(700), "power", gpu="1")]).failures
    assert (failure.uuid, failure.cause, failure.sign) == ("B", Cause.POWER, Sign.INCIDENT)


def test_what_an_application_did_to_itself_is_no_failure() -> None:
    one = record(DAY_STEPS)
    one.channel(XID)[1, 700:] = 119.0
    assert timeline(one, [listed(at(701), "application")]).failures == ()


def test_stretches_too_short_to_fill_two_windows_are_counted() -> None:
    one = record(DAY_STEPS)
    lose(one, slice(None), 60, 600)
    told = timeline(one, [])
    assert [(s.start, s.end) for s in told.stretches] == [(at(600), at(1_440))]
    assert told.left_out_hours == {LeftOut.GAP: 9, LeftOut.SHORT: 1}
