"""What one resource says, before it is known which channel it speaks for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from exporter.readings import Missing, Reason
from model.sources import redfish as spell

if TYPE_CHECKING:
    from collections.abc import Iterator


CELSIUS = spell.Unit(spell.Quantity.TEMPERATURE)


class Limits(NamedTuple):
    """Where a reading becomes critical, in its quantity's unit; None where nothing is said."""

    lower: float | None = None
    upper: float | None = None

    def distance(self, value: float) -> float | None:
        """Return how far `value` is from the nearer limit, negative beyond it."""
        sides = []
        if self.upper is not None:
            sides.append(self.upper - value)
        if self.lower is not None:
            sides.append(value - self.lower)
        return min(sides, default=None)


UNLIMITED = Limits()


@dataclass(frozen=True, slots=True)
class Sample:
    """One sensor at one moment: a value in its quantity's unit, or why there is none.

    `key` is the sensor's address, or the resource's with the member's index,
    and stays the same from cycle to cycle.  `channel` is set where the
    resource's structure says what the sensor is for; else its names decide.
    """

    key: str
    quantity: spell.Quantity
    value: float | None
    missing: Missing | None = None
    names: tuple[str, ...] = ()
    context: str = ""
    health: str = ""
    channel: str = ""
    rank: int = 0
    trouble: Reason | None = None
    """Something about it that was survived and is counted."""
    limits: Limits = UNLIMITED

    @property
    def ailing(self) -> bool:
        """Whether its health is known and not well: a fan reads 0 like this when it failed."""
        return self.health in {"Warning", "Critical"}


def number(raw: Any) -> float | Missing:
    """Return the finite number that `raw` is or spells, or the kind of missing that it means."""
    if isinstance(raw, bool) or raw is None:
        return Missing.UNREADABLE
    if isinstance(raw, str):
        return _spelt(raw.strip(" \t\r\n").lower())
    if not isinstance(raw, int | float):
        return Missing.UNREADABLE
    try:
        value = float(raw)
    except OverflowError:
        return Missing.NOT_FINITE
    return value if math.isfinite(value) else Missing.NOT_FINITE


def _spelt(text: str) -> float | Missing:
    if text in spell.SENTINELS:
        return Missing.SENTINEL
    if text in spell.NOT_FINITE:
        return Missing.NOT_FINITE
    # Python reads more spellings than JSON's world writes: 1_0, digits of other scripts.
    if not text.isascii() or "_" in text:
        return Missing.UNREADABLE
    try:
        value = float(text)
    except ValueError:
        return Missing.UNREADABLE
    return value if math.isfinite(value) else Missing.NOT_FINITE


@dataclass(frozen=True, slots=True)
class Status:
    """State and health as far as they are words of the standard; else empty."""

    state: str
    health: str
    strange: bool
    """Words outside their enumeration, for example swapped ones, were read as unknown."""

    @property
    def ailing(self) -> bool:
        """Whether the health is known and not well."""
        return self.health in {"Warning", "Critical"}

    @property
    def missing(self) -> Missing | None:
        """Why a reading under this status means nothing, or None when it may be believed."""
        if self.state == spell.ABSENT:
            return Missing.SENSOR_ABSENT
        return Missing.UNREADABLE if self.state in spell.NOT_READING else None


def status_of(member: dict[str, Any]) -> Status:
    """Read `Status` without trusting it: null, empty and swapped words are unknown."""
    raw = obj(member, "Status")
    state, health = text(raw, "State"), text(raw, "Health")
    known_state = state if state in spell.STATES else ""
    known_health = health if health in spell.HEALTHS else ""
    strange = any(
        isinstance(word, str) and not known
        for word, known in ((raw.get("State"), known_state), (raw.get("Health"), known_health))
    )
    return Status(known_state, known_health, strange)


def measured(raw: Any, status: Status, unit: spell.Unit) -> tuple[float | None, Missing | None]:
    """Return value in the quantity's unit or kind of missing; the status is asked first."""
    if status.missing is not None:
        return None, status.missing
    value = number(raw)
    if isinstance(value, Missing):
        return None, value
    return value * unit.scale + unit.offset, None


def limit(raw: Any, unit: spell.Unit) -> float | None:
    """Return a threshold in the quantity's unit; what is no number is no threshold."""
    value = number(raw)
    return value * unit.scale + unit.offset if isinstance(value, float) else None


def upper_celsius(*candidates: Any) -> Limits:
    """Return the first upper temperature limit that is one: 0 stands where none was set."""
    known = (limit(raw, CELSIUS) for raw in candidates)
    return Limits(upper=next((value for value in known if value is not None and value > 0), None))


def obj(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the object member `name`, or an empty one."""
    value = document.get(name)
    return value if isinstance(value, dict) else {}


def text(document: dict[str, Any], name: str) -> str:
    """Return the string member `name`, or an empty one."""
    value = document.get(name)
    return value if isinstance(value, str) else ""


def objects(document: dict[str, Any], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield index and object of the array `name`; null, gaps and other types are skipped."""
    value = document.get(name)
    if isinstance(value, list):
        yield from ((i, member) for i, member in enumerate(value) if isinstance(member, dict))


def link(document: dict[str, Any], name: str) -> str:
    """Return the address of the linked resource `name`, or an empty string."""
    return text(obj(document, name), "@odata.id")


def leaf(uri: str) -> str:
    """Return the last segment of an address: its id."""
    return uri.partition("?")[0].rstrip("/").rpartition("/")[2]
