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
    from exporter.window.snapshot import NodeSnapshot

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
    Missing.FROZEN: "nothing of the BMC moves any more: reset it",
    Missing.STALE: "the last reading is too old",
    Missing.CONTRADICTED: "restart dcgm-exporter: its profiling shows 0 on a busy GPU",
    Missing.GPU_GONE: "the GPU left the page",
    Missing.SOURCE_DOWN: "the source does not answer",
}


LISTS = (
    "list the field in dcgm-exporter's counter list, where the board supports it; "
    "dcgm-counters-hopper.csv and dcgm-counters-blackwell.csv are complete lists"
)


@dataclass(frozen=True, slots=True)
class Blind:
    """A channel without any value: the kind of missing that most of its places have.

    `field` is the DCGM field that would feed it, empty for other sources.
    """

    channel: schema.Channel
    kind: Missing

    @property
    def field(self) -> str:
        """The name to list, in the generation that every later one accepts."""
        return next(iter(dcgm.spellings(self.channel.name)), "")

    @property
    def advice(self) -> str:
        """What a person can do, or what it means."""
        if self.kind is Missing.NO_SOURCE:
            return SETTINGS.get(self.channel.origin, self.channel.absent)
        if self.kind is not Missing.ABSENT_FAMILY:
            return ADVICE[self.kind]
        return LISTS if self.field else "the source does not show it"


def blind(snapshot: NodeSnapshot) -> tuple[Blind, ...]:
    """Return the blind channels in schema order."""
    known = {place.channel for place in snapshot.values}
    kinds: dict[str, Counter[Missing]] = {}
    for place, kind in snapshot.missing.items():
        if place.channel not in known:
            kinds.setdefault(place.channel, Counter())[kind] += 1
    return tuple(
        Blind(row, kind)
        for row in schema.ON_A_NODE
        if row.name in kinds
        for kind, _ in kinds[row.name].most_common(1)
    )


def unlisted(snapshot: NodeSnapshot) -> tuple[str, ...]:
    """Return the channels that dcgm-exporter, which answers, delivers for no GPU at all.

    The last XID is not among them: newer exporters show it once there is one.
    """
    return tuple(
        one.channel.name
        for one in blind(snapshot)
        if one.channel.origin is schema.Origin.DCGM
        and one.kind is Missing.ABSENT_FAMILY
        and one.channel.name != dcgm.LATCHED
    )
