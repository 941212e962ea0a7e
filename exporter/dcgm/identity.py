"""From sample lines to one reading per GPU and channel, and per channel of the node.

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
    from collections.abc import Iterable, Iterator, Mapping

    from exporter.dcgm.text import Sample

COUNTED = {
    dcgm.Unusable.OUT_OF_RANGE: Reason.OUT_OF_RANGE,
    dcgm.Unusable.NOT_FINITE: Reason.NOT_FINITE,
}
"""Sentinels and missing sensors are the exporter's normal way to say no; these two are not."""

EXPORTER_POD = "dcgm-exporter"
"""On federated pages an idle GPU carries the pod of the exporter itself."""

INDEX_CHARACTERS = 32
NAME_LIMIT = 253
"""Characters of a name in Kubernetes; what is longer is no name of anything."""

UUID_LABELS = ("UUID", "gpu_uuid", "uuid")
"""GPU series, link series, and collectors that lower the case of labels."""


class Folded(NamedTuple):
    """One page by GPU; `gpus` are those of which more than a latched error code is left."""

    gpus: tuple[Gpu, ...]
    values: dict[Place, float]
    missing: dict[Place, Missing]
    workloads: tuple[Workload, ...]
    errors: Counter[Reason]


class _Fold:
    """What the samples of one GPU, or of the node, have said so far, by row of the table."""

    def __init__(self, index: str = "") -> None:
        self.index = index
        self.best: dict[dcgm.Field, float] = {}
        self.links: dict[dcgm.Field, dict[str, float]] = {}
        self.worst: dict[str, Missing] = {}
        self.alive = False
        self.divided = False

    def take(self, field: dcgm.Field, outcome: float | Missing, link: str) -> None:
        self.alive = self.alive or not (field.channel == dcgm.LATCHED or field.per_link)
        if isinstance(outcome, Missing):
            self.worst.setdefault(field.channel, outcome)
        elif field.per_link:
            known = self.links.setdefault(field, {})
            known[link] = max(outcome, known.get(link, outcome))
        else:
            pick = min if field.lower_is_worse else max
            self.best[field] = pick(outcome, self.best.get(field, outcome))

    def channels(self) -> dict[str, float]:
        values: dict[str, float] = {}
        sums = {
            field: sum(known.values())
            for field, known in self.links.items()
            if field.channel not in self.worst  # a sum over some of the links is no sum
        }
        for field in dcgm.FIELDS:
            if field in self.best or field in sums:
                values.setdefault(field.channel, self.best.get(field, sums.get(field, 0.0)))
        values = dcgm.derived(values, divided=self.divided) | values
        for name in dcgm.contradicted(values):
            del values[name]
            self.worst[name] = Missing.CONTRADICTED
        return {name: value for name, value in values.items() if name not in dcgm.INGREDIENTS}


def fold(samples: Iterable[Sample], *, whole: bool = True) -> Folded:
    """Fold a page's samples; of a page that is not `whole`, silence is unreadable, not absence."""
    folds: dict[str, _Fold] = {}
    node = _Fold()
    workloads: set[Workload] = set()
    errors: Counter[Reason] = Counter()
    for sample in samples:
        fields = dcgm.fields(sample.name)
        uuid = uuid_of(sample.labels)
        if any(field.channel in dcgm.NODE_CHANNELS for field in fields):
            errors.update(_take(node, sample, fields))
        elif fields and uuid:
            gpu = folds.setdefault(uuid, _Fold(sample.labels.get("gpu", "")[:INDEX_CHARACTERS]))
            gpu.divided = gpu.divided or bool(sample.labels.get("GPU_I_ID"))
            errors.update(_take(gpu, sample, fields))
            workloads.update(_workload(uuid, sample.labels))
    values = {Place(c, u): v for u, f in folds.items() for c, v in f.channels().items()}
    values |= {Place(channel): value for channel, value in node.channels().items()}
    gpus = tuple(sorted(Gpu(uuid, f.index) for uuid, f in folds.items() if f.alive))
    missing = dict(_missing(folds, gpus, values, whole=whole))
    missing |= _node_missing(node, values, whole=whole)
    doubted = sum(kind is Missing.CONTRADICTED for kind in missing.values())
    errors[Reason.CONTRADICTED] += doubted
    return Folded(gpus, values, missing, tuple(sorted(workloads)), +errors)


def uuid_of(labels: Mapping[str, str]) -> str:
    """Return the GPU that a sample belongs to; empty for a CPU, a switch or a null identity."""
    uuid = next((labels[name] for name in UUID_LABELS if labels.get(name)), "")
    return "" if uuid.startswith("<<<") or len(uuid) > NAME_LIMIT else uuid


def _take(fold: _Fold, sample: Sample, fields: Iterable[dcgm.Field]) -> Counter[Reason]:
    errors: Counter[Reason] = Counter()
    for field in fields:
        outcome: float | dcgm.Unusable | Missing = (
            Missing.UNREADABLE if sample.value is None else dcgm.convert(field, sample.value)
        )
        if isinstance(outcome, dcgm.Unusable):
            if outcome in COUNTED:
                errors[COUNTED[outcome]] = 1  # one bad number, however many rows it feeds
            outcome = Missing(outcome.value)
        fold.take(field, outcome, sample.labels.get("nvlink", ""))
    return errors


def _workload(uuid: str, labels: Mapping[str, str]) -> tuple[Workload, ...]:
    # Behind a scrape the plain names belong to the scrape target.
    prefix = "exported_" if "exported_pod" in labels else ""
    pod = labels.get(prefix + "pod", "")
    container = labels.get(prefix + "container", "")
    namespace = labels.get(prefix + "namespace", "")
    if not pod or EXPORTER_POD in pod or EXPORTER_POD in container:
        return ()
    if max(map(len, (namespace, pod, container))) > NAME_LIMIT:
        return ()
    return (Workload(uuid, namespace, pod, container),)


def _missing(
    folds: Mapping[str, _Fold],
    gpus: Iterable[Gpu],
    values: Mapping[Place, float],
    *,
    whole: bool,
) -> Iterator[tuple[Place, Missing]]:
    delivered = {place.channel for place in values}
    for gpu in gpus:
        for channel in dcgm.CHANNELS:
            place = Place(channel, gpu.uuid)
            if place not in values:
                absent = Missing.ABSENT_SERIES if channel in delivered else Missing.ABSENT_FAMILY
                silence = absent if whole else Missing.UNREADABLE
                yield place, folds[gpu.uuid].worst.get(channel, silence)


def _node_missing(
    node: _Fold, values: Mapping[Place, float], *, whole: bool
) -> dict[Place, Missing]:
    silence = Missing.ABSENT_FAMILY if whole else Missing.UNREADABLE
    return {
        Place(channel): node.worst.get(channel, silence)
        for channel in dcgm.NODE_CHANNELS
        if Place(channel) not in values
    }
