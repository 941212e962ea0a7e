"""Decoder of metric reports: one resource with the values of a whole platform, as text."""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from exporter.readings import Missing
from exporter.redfish.samples import Sample, leaf, number, objects, text
from model.sources import redfish as spell

if TYPE_CHECKING:
    from collections.abc import Iterable

    from model.sources.redfish import Quantity

OFFSET = re.compile(r"([+-]\d\d)(\d\d)$")


def report(document: dict[str, Any], stale_after: float) -> Iterable[Sample]:
    """Decode the values that name their sensor.

    A value that lags the newest of its own report by more than `stale_after`
    seconds is stale; against any other clock the BMC's is not compared.
    """
    values = [member for _, member in objects(document, "MetricValues")]
    stamps = [stamp for member in values if (stamp := _seconds(text(member, "Timestamp")))]
    newest = max(stamps, default=0.0)
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for member in values:
        groups[text(member, "MetricProperty")].append(member)
    for key, members in groups.items():
        quantity = _quantity_by_name(leaf(_address(key)))
        if key and quantity is not None:
            yield _metric(key, quantity, members, oldest=newest - stale_after)


def _metric(
    key: str, quantity: Quantity, members: list[dict[str, Any]], *, oldest: float
) -> Sample:
    address = _address(key)
    chosen = _one_of(members)
    if chosen is None:
        return Sample(address, quantity, None, Missing.AMBIGUOUS, names=(leaf(address),))
    value = number(chosen.get("MetricValue"))
    stamp = _seconds(text(chosen, "Timestamp"))
    missing = value if isinstance(value, Missing) else None
    if missing is None and stamp and stamp < oldest:
        missing = Missing.STALE
    return Sample(
        address,
        quantity,
        value if isinstance(value, float) and missing is None else None,
        missing,
        names=(leaf(address),),
    )


def _address(key: str) -> str:
    """Return the sensor that a MetricProperty means: some name its `Reading`, some do not."""
    return key.removesuffix("/Reading").removesuffix("#")


def _one_of(members: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the average among several values of one property; None where no rule picks one."""
    if len(members) == 1:
        return members[0]
    averages = [m for m in members if spell.AVERAGE.search(text(m, "MetricId"))]
    return averages[0] if len(averages) == 1 else None


def _quantity_by_name(name: str) -> Quantity | None:
    """Reports carry no units; the sensor's own name says what it measures, or nothing does."""
    words = spell.words(name).split()
    for quantity, marks in spell.QUANTITY_WORDS.items():
        if marks.intersection(words):
            return quantity
    return None


def _seconds(stamp: str) -> float | None:
    """Read an ISO 8601 time as seconds, only to be compared with others of its report."""
    try:
        return datetime.fromisoformat(OFFSET.sub(r"\1:\2", stamp)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
