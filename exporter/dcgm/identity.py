"""From sample lines to one reading per GPU and channel.

A GPU is its UUID.  MIG instances carry the UUID of their GPU and are folded
into it; every other label (pod, driver version, host name, error code) changes
over time and is no part of the identity.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from exporter.readings import Gpu, Missing, Place, Reason, Workload
from model.sources import dcgm

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from exporter.dcgm.text import Sample

COUNTED = {
    dcgm.Unusable.OUT_OF_RANGE: Reason.OUT_OF_RANGE,
    dcgm.Unusable.NOT_FINITE: Reason.NOT_FINITE,
}
"""Sentinels and missing sensors are the exporter's normal way to say no; these two are not."""

EXPORTER_POD = "dcgm-exporter"
"""On federated pages an idle GPU carries the pod of the exporter itself."""


class Folded(NamedTuple):
    """One page by GPU; `gpus` are those of which more than a latched error code is left."""

    gpus: tuple[Gpu, ...]
    values: dict[Place, float]
    missing: dict[Place, Missing]
    workloads: tuple[Workload, ...]
    errors: Counter[Reason]


class _Fold:
    """What one GPU's samples have said so far, by row of the table."""

    def __init__(self, index: str) -> None:
        self.index = index
        self.best: dict[dcgm.Field, float] = {}
        self.worst: dict[str, Missing] = {}
        self.alive = False

    def take(self, field: dcgm.Field, outcome: float | Missing) -> None:
        self.alive = self.alive or field.channel != dcgm.LATCHED
        if isinstance(outcome, Missing):
            self.worst.setdefault(field.channel, outcome)
            return
        pick = min if field.lower_is_worse else max
        self.best[field] = pick(outcome, self.best.get(field, outcome))

    def channels(self) -> dict[str, float]:
        values: dict[str, float] = {}
        for field in dcgm.FIELDS:
            if field in self.best:
                values.setdefault(field.channel, self.best[field])
        distance = dcgm.margin(values)
        if distance is not None:
            values.setdefault(dcgm.MARGIN, distance)
        values.pop(dcgm.SLOWDOWN, None)
        return values


def fold(samples: Iterable[Sample], *, whole: bool = True) -> Folded:
    """Fold a page's samples; of a page that is not `whole`, silence is unreadable, not absence."""
    folds: dict[str, _Fold] = {}
    workloads: set[Workload] = set()
    errors: Counter[Reason] = Counter()
    for sample in samples:
        uuid = sample.labels.get("UUID", "")
        if not uuid or uuid.startswith("<<<"):
            continue  # a CPU, a switch, a link, or a null identity
        gpu = folds.setdefault(uuid, _Fold(sample.labels.get("gpu", "")))
        errors.update(_take(gpu, sample))
        workloads.update(_workload(uuid, sample.labels))
    values = {Place(c, u): v for u, f in folds.items() for c, v in f.channels().items()}
    gpus = tuple(sorted(Gpu(uuid, f.index) for uuid, f in folds.items() if f.alive))
    missing = _missing(folds, gpus, values, whole=whole)
    return Folded(gpus, values, missing, tuple(sorted(workloads)), errors)


def _take(gpu: _Fold, sample: Sample) -> Counter[Reason]:
    errors: Counter[Reason] = Counter()
    for field in dcgm.fields(sample.name):
        outcome: float | dcgm.Unusable | Missing = (
            Missing.UNREADABLE if sample.value is None else dcgm.convert(field, sample.value)
        )
        if isinstance(outcome, dcgm.Unusable):
            if outcome in COUNTED:
                errors[COUNTED[outcome]] = 1  # one bad number, however many rows it feeds
            outcome = Missing(outcome.value)
        gpu.take(field, outcome)
    return errors


def _workload(uuid: str, labels: Mapping[str, str]) -> tuple[Workload, ...]:
    # Behind a scrape the plain names belong to the scrape target.
    prefix = "exported_" if "exported_pod" in labels else ""
    pod = labels.get(prefix + "pod", "")
    container = labels.get(prefix + "container", "")
    if not pod or EXPORTER_POD in pod or EXPORTER_POD in container:
        return ()
    return (Workload(uuid, labels.get(prefix + "namespace", ""), pod, container),)


def _missing(
    folds: Mapping[str, _Fold],
    gpus: Iterable[Gpu],
    values: Mapping[Place, float],
    *,
    whole: bool,
) -> dict[Place, Missing]:
    delivered = {place.channel for place in values}
    missing: dict[Place, Missing] = {}
    for gpu in gpus:
        for channel in dcgm.CHANNELS:
            place = Place(channel, gpu.uuid)
            if place in values:
                continue
            absent = Missing.ABSENT_SERIES if channel in delivered else Missing.ABSENT_FAMILY
            silence = absent if whole else Missing.UNREADABLE
            missing[place] = folds[gpu.uuid].worst.get(channel, silence)
    return missing
