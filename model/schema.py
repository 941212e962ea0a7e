"""The channels: what is measured, in which unit, on which level, and what missing means.

One table for the exporter's page, the window, training and the simulator; its
rows stand in `model.channels`.  Channel names are metric names without the
`forewarn_` prefix.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from model.channels.channel import NAMESPACE, Cause, Channel, Kind, Level, Origin
from model.channels.facility import FACILITY_CHANNELS, RACK_CHANNELS
from model.channels.gpu import GPU_CHANNELS
from model.channels.node import NODE_CHANNELS, WATCH_CHANNELS

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "BY_NAME",
    "CHANNELS",
    "HORIZONS",
    "NAMESPACE",
    "ON_A_NODE",
    "SCHEMA_VERSION",
    "STEP_SECONDS",
    "WINDOW_STEPS",
    "Cause",
    "Channel",
    "Kind",
    "Level",
    "Origin",
    "channels",
    "fingerprint",
]

SCHEMA_VERSION = 1
STEP_SECONDS = 60
WINDOW_STEPS = 64

HORIZONS: dict[str, int] = {"1h": 3_600, "6h": 21_600, "24h": 86_400, "72h": 259_200}
"""Horizon label → seconds, in increasing order."""

CHANNELS: tuple[Channel, ...] = (
    *GPU_CHANNELS,
    *NODE_CHANNELS,
    *WATCH_CHANNELS,
    *RACK_CHANNELS,
    *FACILITY_CHANNELS,
)
"""Every channel, in the order in which artefacts list them."""

BY_NAME: dict[str, Channel] = {channel.name: channel for channel in CHANNELS}


def channels(level: Level) -> tuple[Channel, ...]:
    """Return the channels of one level, in schema order."""
    return tuple(channel for channel in CHANNELS if channel.level is level)


ON_A_NODE: tuple[Channel, ...] = (*channels(Level.GPU), *channels(Level.NODE))
"""What a node's page, its window and a model may hold."""


def fingerprint(names: Iterable[str]) -> str:
    """Return a digest over the meaning of the named channels, in the given order.

    An artefact stays loadable when channels are added elsewhere in the table,
    and is refused when the unit, level, kind or range of one that it uses
    changes.  Raises `KeyError` for an unknown name.
    """
    lines = (
        f"{c.name}|{c.unit}|{c.level}|{c.kind}|{c.low!r}|{c.high!r}"
        for c in (BY_NAME[name] for name in names)
    )
    digest = hashlib.sha256("\n".join((str(SCHEMA_VERSION), *lines)).encode())
    return digest.hexdigest()[:16]
