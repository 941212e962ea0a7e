"""How dcgm-exporter spells our channels, in all of its name generations.

Pure look-ups over the table in `model.sources.dcgm_fields`.  Collectors in
between may lower the case of a name or append `_total`.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING

from model import schema
from model.sources.dcgm_fields import (
    ENERGY,
    FIELDS,
    FREE,
    INGREDIENTS,
    LATCHED,
    MARGIN,
    RESERVED,
    SHUTDOWN,
    SHUTDOWN_MARGIN,
    SLOWDOWN,
    TEMPERATURE,
    TOTAL,
    USED,
    ClockEvent,
    Field,
)
from model.sources.xid import XidClass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "CHANNELS",
    "ENERGY",
    "EVENTS",
    "FIELDS",
    "INGREDIENTS",
    "LATCHED",
    "LEGACY_HINT",
    "NODE_CHANNELS",
    "XID_COUNTS",
    "Field",
    "Unusable",
    "contradicted",
    "convert",
    "derived",
    "fields",
    "is_legacy",
    "is_sentinel",
    "spellings",
]

LEGACY_HINT = (
    "names of dcgm-exporter 1.x (dcgm_gpu_temp, label uuid), expected DCGM_FI_DEV_*: "
    "run dcgm-exporter 2.0 or later"
)
RATIO_ROUNDING = 1.001
"""A ratio up to here is rounding of the source and reads as 1."""

UTILISATION, ENGINE = "gpu_utilization_ratio", "gpu_engine_active_ratio"
ACTIVE_RATIO = 0.02
"""Either above this is work."""
PROFILED = frozenset(
    {
        ENGINE,
        "gpu_sm_active_ratio",
        "gpu_sm_occupancy_ratio",
        "gpu_tensor_active_ratio",
        "gpu_memory_active_ratio",
    }
)
BUSY_RATIO = 0.9

INT32_BLANKS = frozenset(range(2_147_483_632, 2_147_483_636))
FP64_BLANKS = frozenset(range(140_737_488_355_328, 140_737_488_355_332))
INT64_BLANKS = (9.2e18, float(2**63))
"""A band: exact int64 blanks lose their last digits as floats, and no counter gets this far."""


class Unusable(StrEnum):
    """Why a number on the page is not a reading."""

    SENTINEL = "sentinel"
    ZERO_MEANS_NONE = "zero_means_none"
    NOT_FINITE = "not_finite"
    OUT_OF_RANGE = "out_of_range"


CHANNELS: tuple[str, ...] = tuple(
    row.name for row in schema.channels(schema.Level.GPU) if row.origin is schema.Origin.DCGM
)
"""Every channel that a page of dcgm-exporter can give for each GPU."""
NODE_CHANNELS: tuple[str, ...] = tuple(
    row.name for row in schema.channels(schema.Level.NODE) if row.origin is schema.Origin.DCGM
)
"""Those that it can give for the node as a whole."""

MADE_OF = {
    MARGIN: (SLOWDOWN,),
    SHUTDOWN_MARGIN: (SHUTDOWN,),
    TOTAL: (USED, FREE, RESERVED),
}
"""What a channel is made of where no field gives it, beside the core temperature."""

EVENTS: dict[XidClass, str] = {kind: f"gpu_{kind}_xid_events_total" for kind in XidClass}
XID_COUNTS = ("DCGM_EXP_XID_ERRORS_COUNT", "DCGM_EXP_XID_ERRORS_TOTAL")
"""Events by label `xid`: in a sliding window, whatever its type says, and since the start."""

_BY_NAME: dict[str, tuple[Field, ...]] = {
    name: tuple(field for field in FIELDS if name in field.names)
    for name in {name for field in FIELDS for name in field.names}
}


def fields(name: str) -> tuple[Field, ...]:
    """Return the rows that a metric name feeds: several for the clock mask, none if unknown."""
    known = _BY_NAME.get(name)
    if known is not None:
        return known
    upper = name.upper()
    return _BY_NAME.get(upper) or _BY_NAME.get(upper.removesuffix("_TOTAL"), ())


def spellings(channel: str) -> tuple[str, ...]:
    """Return the DCGM fields that feed a channel, ingredients included, in order of preference."""
    sources = (channel, *MADE_OF.get(channel, ()))
    rows = (field for source in sources for field in FIELDS if field.channel == source)
    return tuple(dict.fromkeys(name for field in rows for name in field.names))


def is_legacy(name: str) -> bool:
    """Tell whether a metric name is one of dcgm-exporter 1.x."""
    return name.startswith("dcgm_") and not name.startswith(("dcgm_fi_", "dcgm_exp_"))


def is_sentinel(value: float) -> bool:
    """Tell whether a number means blank, not found, not supported or not permitted.

    32-bit blanks are matched exactly: real counters pass them on their way up.
    """
    low, high = INT64_BLANKS
    return value in INT32_BLANKS or value in FP64_BLANKS or low <= value <= high


def convert(field: Field, value: float) -> float | Unusable:
    """Turn a number of the page into the channel's unit, or say why it is not a reading."""
    if not math.isfinite(value):
        return Unusable.NOT_FINITE
    if is_sentinel(value):
        return Unusable.SENTINEL
    if value == 0 and field.zero_means_none:
        return Unusable.ZERO_MEANS_NONE
    if value < 0 and not field.signed:
        return Unusable.OUT_OF_RANGE
    if field.flag is not None:
        return _answer(field.flag, value)
    return _bounded(field.channel, value * field.scale)


def derived(values: Mapping[str, float], *, divided: bool = False) -> dict[str, float]:
    """Return the channels that can be made of one GPU's other values, ingredients included.

    The framebuffer is the sum of what is used, free and reserved, of which
    dcgm-exporter lists all three more often than the total; of a GPU that is
    `divided` into instances these are of different instances, and make no sum.
    """
    made: dict[str, float] = {}
    for channel, constant in ((MARGIN, SLOWDOWN), (SHUTDOWN_MARGIN, SHUTDOWN)):
        if constant in values and TEMPERATURE in values:
            made[channel] = values[constant] - values[TEMPERATURE]
    if not divided and {USED, FREE, RESERVED} <= values.keys():
        made[TOTAL] = values[USED] + values[FREE] + values[RESERVED]
    return {name: value for name, value in made.items() if schema.BY_NAME[name].plausible(value)}


def contradicted(values: Mapping[str, float]) -> frozenset[str]:
    """Return the profiling channels of one GPU that its utilisation proves wrong.

    Profiling goes blank or 0 after some errors, or while a profiler has the
    counters, and stays so until a restart; a kernel that ran all the time
    cannot have left the engine at exactly 0.
    """
    busy = values.get(UTILISATION, 0.0) >= BUSY_RATIO and values.get(ENGINE) == 0.0
    return PROFILED & values.keys() if busy else frozenset()


def _answer(flag: Callable[[int], bool], value: float) -> float | Unusable:
    if value != int(value) or not 0 <= value <= ClockEvent.LIMIT:
        return Unusable.OUT_OF_RANGE
    return float(flag(int(value)))


def _bounded(name: str, value: float) -> float | Unusable:
    if name in INGREDIENTS:
        low, high = INGREDIENTS[name]
        return value if low <= value <= high else Unusable.OUT_OF_RANGE
    channel = schema.BY_NAME[name]
    if channel.unit == "ratio" and 1 < value <= RATIO_ROUNDING:
        return 1.0
    return value if channel.plausible(value) else Unusable.OUT_OF_RANGE
