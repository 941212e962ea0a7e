"""A pod, as far as moving it needs, and what made its Job."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remediation.policy.facts.demand import Demand

if TYPE_CHECKING:
    from collections.abc import Mapping

MIGRATE_ANNOTATION = "forewarn.dev/migrate"


@dataclass(frozen=True, slots=True)
class Owner:
    """What made the Job of a pod."""

    kind: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """One pod, as far as moving it needs.  `ends_at` is set while it terminates.

    `node` is empty while it is bound to none; `gated` says that a queue holds it
    back.  `owner` is the kind of its controller, `top` what made that; `notes` are its annotations;
    `device_claims` names its claims of dynamic resource allocation;
    `claims` names the volume claims that it mounts, `demand` what else its node
    must have; `address` is where its containers answer, the machine's own with
    `host_network`.
    """

    namespace: str
    name: str
    uid: str
    node: str = ""
    gpus: bool = True
    finished: bool = False
    ready: bool = True
    gated: bool = False
    created_at: float | None = None
    owner: str | None = None
    owner_name: str = ""
    owner_uid: str = ""
    top: Owner | None = None
    pod_group: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)
    mirror: bool = False
    empty_dir: bool = False
    wish: str = ""
    ends_at: float | None = None
    address: str = ""
    host_network: bool = False
    claims: tuple[str, ...] = ()
    device_claims: tuple[str, ...] = ()
    demand: Demand = field(default_factory=Demand)

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"
