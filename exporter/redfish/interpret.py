"""Samples of one cycle become the node's channels: a value, or one named kind of missing."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from exporter.readings import Missing, Place, Reason
from model import schema
from model.sources import redfish as spell
from model.sources.redfish import Rule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exporter.redfish.plan import Pick, Plan
    from exporter.redfish.samples import Sample

COUNTED: dict[Missing, Reason] = {
    Missing.NOT_FINITE: Reason.NOT_FINITE,
    Missing.OUT_OF_RANGE: Reason.OUT_OF_RANGE,
    Missing.AMBIGUOUS: Reason.AMBIGUOUS,
}


class Interpreter:
    """Keeps only one thing between cycles: which fans ever turned."""

    def __init__(self) -> None:
        self._turned: set[str] = set()
        self._errors: Counter[Reason] = Counter()

    def take_errors(self) -> Counter[Reason]:
        """Return what was survived since the last call."""
        errors, self._errors = self._errors, Counter()
        return errors

    def channels(
        self, plan: Plan, samples: Mapping[str, Sample | Missing], *, host_on: bool
    ) -> tuple[dict[Place, float], dict[Place, Missing]]:
        """Return value or kind of missing for every channel that a BMC can deliver."""
        values: dict[Place, float] = {}
        missing: dict[Place, Missing] = {Place(c): kind for c, kind in plan.absent.items()}
        for channel, pick in plan.picks.items():
            if not host_on and channel in spell.HOST_SIDE:
                missing[Place(channel)] = Missing.HOST_OFF
                continue
            result = self._channel(channel, pick, samples)
            if isinstance(result, Missing):
                missing[Place(channel)] = result
            else:
                values[Place(channel)] = result
        return values, missing

    def _channel(
        self, channel: str, pick: Pick, samples: Mapping[str, Sample | Missing]
    ) -> float | Missing:
        known: list[float] = []
        kinds: list[Missing] = []
        for key in pick.keys:
            result = self._one(channel, samples.get(key))
            if isinstance(result, Missing):
                kinds.append(result)
                self._count(COUNTED.get(result))
            else:
                known.append(result)
        combined = _combine(pick.rule, known, kinds)
        if isinstance(combined, float) and not schema.BY_NAME[channel].plausible(combined):
            return Missing.OUT_OF_RANGE
        return combined

    def _one(self, channel: str, sample: Sample | Missing | None) -> float | Missing:
        """Judge one sensor: believable for this channel, or why not."""
        if sample is None:
            return Missing.ABSENT_SERIES
        if isinstance(sample, Missing):
            return sample
        self._count(sample.trouble)
        if sample.value is None:
            return sample.missing or Missing.UNREADABLE
        if sample.value == 0 and channel == spell.POWER:
            return Missing.ZERO_MEANS_NONE
        if not schema.BY_NAME[channel].plausible(sample.value):
            return Missing.OUT_OF_RANGE
        if channel == spell.FAN and not self._is_fan(sample):
            return Missing.ZERO_MEANS_NONE
        return sample.value

    def _is_fan(self, sample: Sample) -> bool:
        """Tell a stopped fan from an empty bay: it turned before, or its health says so."""
        if sample.value or sample.ailing:
            self._turned.add(sample.key)
        return sample.key in self._turned

    def _count(self, reason: Reason | None) -> None:
        if reason is not None:
            self._errors[reason] += 1


def _combine(rule: Rule, known: list[float], kinds: list[Missing]) -> float | Missing:
    real = [kind for kind in kinds if kind is not Missing.SENSOR_ABSENT]
    if rule is Rule.ANY and 1.0 in known:
        return 1.0
    if rule is Rule.ANY and real:
        return real[0]
    if rule is Rule.SUM and kinds:
        return kinds[0]
    if not known:
        return (real or kinds or [Missing.ABSENT_SERIES])[0]
    if rule in {Rule.SUM, Rule.COUNT}:
        return sum(known)
    return max(known) if rule in {Rule.HIGHEST, Rule.ANY} else min(known)
