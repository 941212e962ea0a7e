"""Maintenance windows: the hours in which work may be disturbed, in the site's own time."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from remediation.policy.bounds.checks import Part

if TYPE_CHECKING:
    pass


class Day(StrEnum):
    """A day of the week, Monday first."""

    MONDAY = "mon"
    TUESDAY = "tue"
    WEDNESDAY = "wed"
    THURSDAY = "thu"
    FRIDAY = "fri"
    SATURDAY = "sat"
    SUNDAY = "sun"


_WEEK = tuple(Day)


class Window(Part, frozen=True, kw_only=True):
    """From `opens` to `closes` (HH:MM by the clock of `timezone`) on the days it opens.

    One that closes at or before it opens lasts into the next day.
    """

    opens: str
    closes: str
    days: tuple[Day, ...] = _WEEK
    timezone: str = "UTC"

    def __post_init__(self) -> None:
        for name in ("opens", "closes"):
            _clock(name, getattr(self, name))
        if not self.days:
            raise ValueError("days is empty, expected mon to sun: empty never means all")
        try:
            ZoneInfo(self.timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError(
                f"timezone is {self.timezone!r}, expected a name such as Europe/Berlin"
            ) from error

    def is_open(self, now: float) -> bool:
        """Return whether `now` (Unix seconds) lies within the window.

        The wall clock decides: on the night an hour happens twice, both count.
        """
        moment = datetime.fromtimestamp(now, ZoneInfo(self.timezone))
        opens, closes = _clock("opens", self.opens), _clock("closes", self.closes)
        today = _WEEK[moment.weekday()]
        if opens < closes:
            return today in self.days and opens <= moment.time() < closes
        yesterday = _WEEK[(moment - timedelta(days=1)).weekday()]
        since_opening = today in self.days and moment.time() >= opens
        return since_opening or (yesterday in self.days and moment.time() < closes)


def _clock(name: str, text: str) -> time:
    try:
        return datetime.strptime(text, "%H:%M").time()  # noqa: DTZ007 - a time of day has no zone
    except ValueError as error:
        raise ValueError(f"{name} is {text!r}, expected HH:MM") from error
