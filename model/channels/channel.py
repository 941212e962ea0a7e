"""What a row of the channel table holds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

NAMESPACE = "forewarn_"


class Level(StrEnum):
    """What a channel has one value of: a GPU, a node, or a piece of facility equipment.

    A node's page, window and model know GPU and node channels.  What a node
    learns of its rack's equipment is a node channel of its own (`rack_*`);
    facility channels (`facility_*`) are on the facility exporter's page alone.
    """

    GPU = "gpu"
    NODE = "node"
    FACILITY = "facility"


class Origin(StrEnum):
    """Who can say it."""

    DCGM = "dcgm"
    REDFISH = "redfish"
    FACILITY = "facility"
    """CDUs, rack PDUs and power shelves, read by the facility exporter."""
    EXPORTER = "exporter"
    """The exporter's own watch on its sources: silence and delay are signals too."""


class Kind(StrEnum):
    """A gauge enters the window as it is, a flag as 0 or 1, a counter as its increment per step."""

    GAUGE = "gauge"
    FLAG = "flag"
    COUNTER = "counter"


class Cause(StrEnum):
    """Competing causes of failure; their hazards add up to the node's."""

    MEMORY = "memory"
    INTERCONNECT = "interconnect"
    THERMAL = "thermal"
    POWER = "power"
    DEVICE = "device"
    FACILITY = "facility"


@dataclass(frozen=True, slots=True)
class Channel:
    """One measured quantity.

    `low` and `high` bound what is physically possible (for a counter: per
    reading); a value outside is missing, never clipped.  `absent` says, for a
    person, what it means when the source does not deliver it.
    """

    name: str
    unit: str
    level: Level
    kind: Kind
    cause: Cause
    low: float
    high: float
    text: str
    absent: str
    origin: Origin

    @property
    def metric(self) -> str:
        """The Prometheus family that carries this channel."""
        return NAMESPACE + self.name

    def plausible(self, value: float) -> bool:
        """Tell whether `value` is finite and physically possible (NaN is not)."""
        return self.low <= value <= self.high


G, F, C = Kind.GAUGE, Kind.FLAG, Kind.COUNTER
COUNT = (0.0, 9.0e18)
FLAG = (0.0, 1.0)
RATIO = (0.0, 1.0)
TEMPERATURE, MARGIN, COOLANT = (-20.0, 130.0), (-100.0, 200.0), (0.0, 110.0)
PASCALS, AMPERES = (0.0, 3e6), (0.0, 5_000.0)
"""Bounds that several rows share, in the unit of the row."""
