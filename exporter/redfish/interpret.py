"""Samples of one cycle become the node's channels: a value, or one named kind of missing."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from exporter.readings import Missing, Place, Reason
from exporter.redfish import derive
from model import schema
from model.sources import redfish as spell
from model.sources.redfish import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from exporter.redfish.plan import Pick, Plan
    from exporter.redfish.samples import Sample

COUNTED: dict[Missing, Reason] = {
    Missing.NOT_FINITE: Reason.NOT_FINITE,
    Missing.OUT_OF_RANGE: Reason.OUT_OF_RANGE,
    Missing.AMBIGUOUS: Reason.AMBIGUOUS,
}


class Interpreter:
    """Keeps between cycles which fans, pumps and meters ever read something, and what was said."""

    def __init__(self) -> None:
        self._turned: set[str] = set()
        self._said: set[tuple[str, Reason]] = set()
        self._errors: Counter[Reason] = Counter()

    def take_errors(self) -> Counter[Reason]:
        """Return what was survived since the last call."""
        errors, self._errors = self._errors, Counter()
        return errors

    def channels(
        self,
        plan: Plan,
        samples: Mapping[str, Sample | Missing],
        *,
        silence: Missing | None = None,
        beside: Iterable[Sample] = (),
    ) -> tuple[dict[Place, float], dict[Place, Missing]]:
        """Return value or kind of missing for every channel that a BMC can deliver.

        `silence` says why the host's side means nothing now, if it does not;
        `beside` is all that was read, also of sensors that speak for no channel.
        """
        known: dict[str, float | Missing] = dict(plan.absent)
        for channel, pick in plan.picks.items():
            known[channel] = self._channel(channel, pick, samples)
        known |= self._derived(plan, samples, known, beside)
        if silence is not None:
            shown = {c for c, value in known.items() if value is not Missing.ABSENT_FAMILY}
            known |= dict.fromkeys(spell.HOST_SIDE & shown, silence)
        values = {Place(c): v for c, v in known.items() if not isinstance(v, Missing)}
        missing = {Place(c): v for c, v in known.items() if isinstance(v, Missing)}
        return values, missing

    def _derived(
        self,
        plan: Plan,
        samples: Mapping[str, Sample | Missing],
        known: Mapping[str, float | Missing],
        beside: Iterable[Sample],
    ) -> dict[str, float | Missing]:
        def of(channel: str) -> list[Sample | Missing]:
            keys = plan.picks[channel].keys if channel in plan.picks else ()
            return [samples.get(key, Missing.ABSENT_SERIES) for key in keys]

        found: dict[str, float | Missing] = {
            spell.INLET_MARGIN: derive.margin(of(spell.INLET)),
            spell.TEMPERATURE_MARGIN: derive.margin(derive.temperatures(beside)),
            spell.FANS_FAILED: derive.fans_failed(plan, samples, self._turned),
            spell.DEW_MARGIN: derive.dew_margin(known[spell.SUPPLY], known[spell.DEW_POINT]),
        }
        if isinstance(known[spell.CPU_MARGIN], Missing):
            nearest = derive.margin(of(spell.CPU))
            if not isinstance(nearest, Missing):
                found[spell.CPU_MARGIN] = nearest
        return {channel: _plausible(channel, value) for channel, value in found.items()}

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
        return _plausible(channel, combine(pick.rule, known, kinds))

    def _one(self, channel: str, sample: Sample | Missing | None) -> float | Missing:
        """Judge one sensor: believable for this channel, or why not."""
        if sample is None:
            return Missing.ABSENT_SERIES
        if isinstance(sample, Missing):
            return sample
        if sample.trouble is not None and (sample.key, sample.trouble) not in self._said:
            # A status that is no word of the standard stays so: one count, not one a cycle.
            self._said.add((sample.key, sample.trouble))
            self._count(sample.trouble)
        if sample.value is None:
            return sample.missing or Missing.UNREADABLE
        if sample.value == 0 and channel in spell.ZERO_IS_NONE:
            return Missing.ZERO_MEANS_NONE
        if channel == spell.LEAK_MARGIN:
            distance = sample.limits.distance(sample.value)
            return Missing.ABSENT_FAMILY if distance is None else distance
        if not schema.BY_NAME[channel].plausible(sample.value):
            return Missing.OUT_OF_RANGE
        if channel in spell.ZERO_NEEDS_HISTORY and not self._is_fitted(sample):
            return Missing.ZERO_MEANS_NONE
        return sample.value

    def _is_fitted(self, sample: Sample) -> bool:
        """Tell a stopped fan from an empty bay: it turned before, or its health says so."""
        if sample.value or sample.ailing:
            self._turned.add(sample.key)
        return sample.key in self._turned

    def _count(self, reason: Reason | None) -> None:
        if reason is not None:
            self._errors[reason] += 1


def _plausible(channel: str, value: float | Missing) -> float | Missing:
    if isinstance(value, Missing) or schema.BY_NAME[channel].plausible(value):
        return value
    return Missing.OUT_OF_RANGE


def combine(rule: Rule, known: list[float], kinds: list[Missing]) -> float | Missing:
    """Make one value of several, or name why there is none."""
    real = [kind for kind in kinds if kind is not Missing.SENSOR_ABSENT]
    if rule is Rule.ANY and 1.0 in known:
        return 1.0
    if rule is Rule.ANY and real:
        return real[0]
    if rule in {Rule.SUM, Rule.FITTED_SUM} and real:
        return real[0]
    if not known:
        return (real or kinds or [Missing.ABSENT_SERIES])[0]
    if rule in {Rule.SUM, Rule.COUNT, Rule.FITTED_SUM}:
        return sum(known)
    return max(known) if rule in {Rule.HIGHEST, Rule.ANY} else min(known)
