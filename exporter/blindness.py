"""Which channels have no value anywhere, why, and what a person can do about it.

Pure.  A stock counter list leaves out most of what failures announce
themselves by, and a blind channel looks exactly like a healthy one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exporter.readings import Missing
from model import schema
from model.sources import dcgm

if TYPE_CHECKING:
    from exporter.snapshot import NodeSnapshot

SETTINGS = {
    schema.Origin.DCGM: "name dcgm-exporter's page in `dcgm.url`",
    schema.Origin.REDFISH: "name the BMC in `bmc.url`",
    schema.Origin.FACILITY: "name the facility exporter in `facility.url`",
}
ADVICE = {
    Missing.ABSENT_SERIES: "other GPUs of the node show it; this one does not support it",
    Missing.SENTINEL: "the board says that it does not support it",
    Missing.ZERO_MEANS_NONE: "the board has no such sensor",
    Missing.NOT_FINITE: "the source gives no finite number",
    Missing.OUT_OF_RANGE: "the source gives a number that cannot be",
    Missing.UNREADABLE: "the source gives text where a number belongs, or its page was cut",
    Missing.AMBIGUOUS: "several sensors claim to be this one",
    Missing.SENSOR_ABSENT: "the source says that the sensor is not there",
    Missing.HOST_OFF: "the host is off",
    Missing.STALE: "the last reading is too old",
    Missing.CONTRADICTED: "restart dcgm-exporter: its profiling shows 0 on a busy GPU",
    Missing.GPU_GONE: "the GPU left the page",
    Missing.SOURCE_DOWN: "the source does not answer",
}


@dataclass(frozen=True, slots=True)
class Blind:
    """A channel without any value: the kind of missing that most of its places have."""

    channel: schema.Channel
    kind: Missing
    advice: str


def blind(snapshot: NodeSnapshot) -> tuple[Blind, ...]:
    """Return the blind channels in schema order."""
    known = {place.channel for place in snapshot.values}
    kinds: dict[str, Counter[Missing]] = {}
    for place, kind in snapshot.missing.items():
        if place.channel not in known:
            kinds.setdefault(place.channel, Counter())[kind] += 1
    return tuple(
        Blind(row, kind, _advice(row, kind))
        for row in schema.ON_A_NODE
        if row.name in kinds
        for kind, _ in kinds[row.name].most_common(1)
    )


def unlisted(snapshot: NodeSnapshot) -> tuple[str, ...]:
    """Return the channels that dcgm-exporter, which answers, delivers for no GPU at all."""
    return tuple(
        one.channel.name
        for one in blind(snapshot)
        if one.channel.origin is schema.Origin.DCGM and one.kind is Missing.ABSENT_FAMILY
    )


def _advice(row: schema.Channel, kind: Missing) -> str:
    if kind is Missing.NO_SOURCE:
        return SETTINGS.get(row.origin, row.absent)
    if kind is Missing.ABSENT_FAMILY:
        fields = dcgm.spellings(row.name)
        listing = f"list {' or '.join(fields)}; " if fields else ""
        return listing + row.absent
    return ADVICE[kind]
