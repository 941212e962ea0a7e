"""Maintenance windows: by the site's clock, over midnight, on the nights that clocks change."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from remediation.policy.bounds.windows import Day, Window
from remediation.policy.guards.windows import closed

BERLIN = ZoneInfo("Europe/Berlin")
NIGHT = Window(opens="22:00", closes="05:00", days=(Day.FRIDAY,), timezone="Europe/Berlin")
DAY = Window(opens="09:00", closes="17:00", days=(Day.MONDAY, Day.FRIDAY), timezone="UTC")


def at(text: str, zone: Any = BERLIN, fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold).timestamp()


@pytest.mark.parametrize(
    ("window", "moment", "is_open"),
    [
        pytest.param(NIGHT, at("2026-12-04T21:59"), False, id="friday-before"),
        pytest.param(NIGHT, at("2026-12-04T22:00"), True, id="friday-night"),
        pytest.param(NIGHT, at("2026-12-05T04:59"), True, id="saturday-morning-belongs-to-friday"),
        pytest.param(NIGHT, at("2026-12-05T05:00"), False, id="saturday-after"),
        pytest.param(NIGHT, at("2026-12-04T03:00"), False, id="friday-morning-is-thursdays"),
        pytest.param(DAY, at("2026-12-04T09:00", ZoneInfo("UTC")), True, id="opening-minute"),
        pytest.param(DAY, at("2026-12-04T17:00", ZoneInfo("UTC")), False, id="closing-minute"),
        pytest.param(DAY, at("2026-12-05T12:00", ZoneInfo("UTC")), False, id="other-day"),
    ],
)
def test_a_window_is_open_from_its_opening_to_its_closing(
    window: Window, moment: float, is_open: bool
) -> None:
    assert window.is_open(moment) is is_open


def test_an_hour_that_happens_twice_counts_twice() -> None:
    window = Window(opens="02:00", closes="03:00", timezone="Europe/Berlin")
    assert window.is_open(at("2026-10-25T02:30", fold=0))
    assert window.is_open(at("2026-10-25T02:30", fold=1))


def test_an_hour_that_is_left_out_does_not_open_it() -> None:
    window = Window(opens="02:00", closes="03:00", timezone="Europe/Berlin")
    second = at("2026-03-29T01:59:59")
    assert not any(window.is_open(second + step) for step in (0, 1, 2, 3600))


def test_equal_times_are_a_whole_day() -> None:
    window = Window(opens="08:00", closes="08:00", days=(Day.FRIDAY,))
    assert window.is_open(at("2026-12-04T08:00", ZoneInfo("UTC")))
    assert window.is_open(at("2026-12-05T07:59", ZoneInfo("UTC")))
    assert not window.is_open(at("2026-12-05T08:00", ZoneInfo("UTC")))


def test_without_windows_any_time_is_good_and_one_of_several_is_enough() -> None:
    assert closed((), 0.0) is None
    assert closed((NIGHT, DAY), at("2026-12-04T10:00", ZoneInfo("UTC"))) is None
    refusal = closed((NIGHT, DAY), at("2026-12-06T10:00"))
    assert refusal is not None
    assert refusal.words == "no maintenance window is open"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"opens": "25:00", "closes": "05:00"}, "opens is '25:00', expected HH:MM"),
        ({"opens": "22:00", "closes": "five"}, "closes is 'five', expected HH:MM"),
        ({"opens": "22:00", "closes": "05:00", "days": ()}, "days is empty"),
        ({"opens": "22:00", "closes": "05:00", "timezone": "Mars/Base"}, "timezone is 'Mars/Base'"),
        ({"opens": "22:00", "closes": "05:00", "timezone": "../etc"}, "timezone is '../etc'"),
    ],
)
def test_an_impossible_window_says_what_was_expected(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="expected") as caught:
        Window(**wrong)
    assert message in str(caught.value)
