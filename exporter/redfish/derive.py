"""Channels that follow from what was read for others: distances to limits, fans that stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.readings import Missing
from model.sources import redfish as spell
from model.sources.redfish import Quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from exporter.redfish.plan import Plan
    from exporter.redfish.samples import Sample
POSSIBLE = (-40.0, 150.0)
"""Celsius; a recorded report spells some of its temperatures in thousandths."""


def margin(samples: Iterable[Sample | Missing]) -> float | Missing:
    """Return the smallest distance of these readings to their own limits."""
    distances: list[float] = []
    kinds: list[Missing] = []
    for sample in samples:
        if isinstance(sample, Missing):
            kinds.append(sample)
        elif sample.value is None:
            kinds.append(sample.missing or Missing.UNREADABLE)
        elif (distance := sample.limits.distance(sample.value)) is not None:
            distances.append(distance)
    if distances:
        return min(distances)
    return kinds[0] if kinds else Missing.ABSENT_FAMILY


def fans_failed(
    plan: Plan, samples: Mapping[str, Sample | Missing], turned: AbstractSet[str]
) -> float | Missing:
    """Count fans that are critical, or that turned once and stand still."""
    keys = [
        key for c in (spell.FAN, spell.FAN_RATIO) if c in plan.picks for key in plan.picks[c].keys
    ]
    if not keys:
        return Missing.ABSENT_FAMILY
    failed: set[str] = set()
    kinds: list[Missing] = []
    known = False
    for key in keys:
        sample = samples.get(key, Missing.ABSENT_SERIES)
        if isinstance(sample, Missing):
            kinds.append(sample)
            continue
        if sample.missing is Missing.SENSOR_ABSENT:
            continue
        known = True
        if sample.health == "Critical" or (sample.value == 0 and key in turned):
            failed.add(key.removesuffix("#/SpeedRPM").removesuffix("#/Reading"))
    if not known:
        return kinds[0] if kinds else Missing.SENSOR_ABSENT
    return float(len(failed))


def dew_margin(supply: float | Missing, dew_point: float | Missing) -> float | Missing:
    """Return how far the coolant supply is above the dew point."""
    if isinstance(supply, Missing):
        return supply
    if isinstance(dew_point, Missing):
        return dew_point
    return supply - dew_point


def temperatures(samples: Iterable[Sample]) -> list[Sample]:
    """Return those samples that are temperatures, and none that no machine survives."""
    return [
        sample
        for sample in samples
        if sample.quantity is Quantity.TEMPERATURE
        and (sample.value is None or POSSIBLE[0] <= sample.value <= POSSIBLE[1])
    ]
