"""GPUs as dynamic resource allocation names them, our taints on them, and who holds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

Place = tuple[str, str, str]
"""Driver, pool and name: what a claim or a taint rule calls a device."""


class Device(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One published GPU; `uuid` is the machine's own name for it, the rest is the cluster's."""

    driver: str
    pool: str
    name: str
    uuid: str

    @property
    def place(self) -> Place:
        """Where the cluster looks for it: another GPU may be there after a repair."""
        return self.driver, self.pool, self.name

    def __str__(self) -> str:
        return f"GPU {self.uuid} ({self.name})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One DeviceTaintRule of ours; `node_uid` is of the machine that it was made for."""

    name: str
    uid: str
    node: str
    node_uid: str
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Devices:
    """What the cluster says of its GPUs; what is missing was not read.

    `offered` is whether it knows device taints.  `published` holds the devices of
    nodes that were asked for, `parts` uuids of GPUs that are published in
    pieces, `rules` our taints, `held` which devices a pod (by uid) holds.
    """

    offered: bool | None = None
    published: Mapping[str, tuple[Device, ...]] = field(default_factory=dict)
    parts: frozenset[str] = frozenset()
    rules: tuple[Rule, ...] | None = None
    held: Mapping[str, frozenset[Place]] = field(default_factory=dict)
