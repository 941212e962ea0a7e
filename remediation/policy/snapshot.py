"""What is true at one moment: the pool's nodes, their marks, the pods to move, the ledger.

Everything is immutable and read from the cluster; nothing here remembers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from remediation.policy.demand import Demand
from remediation.policy.device import Device, Devices
from remediation.policy.handed import Handed
from remediation.policy.limits import Rung

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remediation.policy.demand import Term
    from remediation.policy.evidence import Evidence
    from remediation.policy.jobs import Owner
    from remediation.policy.ledger import Ledger
    from remediation.policy.limits import Policy
    from remediation.policy.preparing import Part
    from remediation.policy.refusal import Refusal

RISK_TAINT = "forewarn.dev/at-risk"
EPISODE_ANNOTATION = "forewarn.dev/episode"
HOLD_ANNOTATION = "forewarn.dev/hold"
RISK_LABEL = "forewarn.dev/risk"
RELEASE_ANNOTATION = "forewarn.dev/release"
MIGRATE_ANNOTATION = "forewarn.dev/migrate"
FIELD_MANAGER = "forewarn-remediation"

# Others that drain a node say so with these; two owners of one drain is one too many.
OTHER_DRAINERS = frozenset({"ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted"})
_MARK_LIMIT_BYTES = 2048


class Effect(StrEnum):
    """What a taint does to pods that do not tolerate it."""

    PREFER = "PreferNoSchedule"
    FORBID = "NoSchedule"
    EXPEL = "NoExecute"


@dataclass(frozen=True, slots=True)
class Taint:
    """One taint, whoever put it; `time_added` is kept as the server wrote it."""

    key: str
    effect: str
    value: str = ""
    time_added: str = ""


class MarkState(StrEnum):
    """What the annotation says of an episode; finer states are derived each tick."""

    ELEVATED = "elevated"
    EXCLUDED = "excluded"
    DRAINED = "drained"
    VERIFYING = "verifying"
    PROBATION = "probation"


class Risk(StrEnum):
    """What the label says to whoever places work; a node that never was at risk carries none."""

    LOW = "low"
    ELEVATED = "elevated"
    HIGH = "high"


class MarkUnreadable(Exception):
    """The node carries our annotation, but not in our words."""


class Mark(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The episode as written on the node, always in the PATCH that it explains.

    `cordoned` says that we cordoned; `prior_unschedulable` what we found.
    `since` is when the state was entered (Unix seconds).  `horizon` and `cause`
    name the probability that must be low before release.  `probation` says that
    it came back from an exclusion without having proven itself.  With a `gpu` the
    taint is on that device and the node itself stays in service.  `handed` names
    the object by which a drained node was handed over.
    """

    episode: str
    node_uid: str
    state: MarkState
    rung: Rung
    grant: str
    since: float
    reason: str
    cordoned: bool
    epoch: int
    prior_unschedulable: bool = False
    probation: bool = False
    horizon: str = ""
    cause: str = ""
    boot_id: str = ""
    gpu: Device | None = None
    handed: Handed | None = None

    @property
    def taints_gpu(self) -> bool:
        """Whether a device taint of ours must be there; on probation it is off again."""
        return self.gpu is not None and self.state is not MarkState.PROBATION

    @property
    def takes(self) -> bool:
        """Whether it takes something away, the node or a GPU of it, not just advises."""
        return self.cordoned or self.taints_gpu


def encode_mark(mark: Mark) -> str:
    """Write a mark; the reason is cut so that the whole stays small."""
    text = _written(mark)
    if len(text.encode()) <= _MARK_LIMIT_BYTES:
        return text
    return _written(msgspec.structs.replace(mark, reason=mark.reason[:200]))


def _written(mark: Mark) -> str:
    fields = msgspec.to_builtins(mark)
    for name in ("gpu", "handed"):
        if fields[name] is None:
            del fields[name]  # so that replicas that do not know it yet can read the others
    return msgspec.json.encode(fields).decode()


_MARKS = msgspec.json.Decoder(Mark)


def decode_mark(text: str) -> Mark:
    """Read a mark; raises `MarkUnreadable`."""
    try:
        return _MARKS.decode(text)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise MarkUnreadable(f"{EPISODE_ANNOTATION}: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One node of the pool.  `ready_since` is None when the server did not say.

    `held` and `released` are what a person annotated; `released` is the reason given.
    `cordoned_by` is who last wrote `spec.unschedulable`, where the server tells.
    `allocatable` is keyed by resource, in base units (cores, bytes, devices).
    """

    name: str
    uid: str
    resource_version: str
    ready: bool = True
    ready_since: float | None = None
    unschedulable: bool = False
    cordoned_by: str | None = None
    taints: tuple[Taint, ...] = ()
    mark: Mark | None = None
    mark_fault: str | None = None
    held: bool = False
    released: str | None = None
    boot_id: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    allocatable: Mapping[str, float] = field(default_factory=dict)

    @property
    def cordon_is_ours(self) -> bool:
        """Whether the cordon now on the node is one we wrote and nobody wrote since."""
        wrote = self.mark is not None and self.mark.cordoned and not self.mark.prior_unschedulable
        return wrote and self.unschedulable and self.cordoned_by in {None, FIELD_MANAGER}

    @property
    def unavailable(self) -> bool:
        """Whether new work cannot land here, whoever made it so."""
        if not self.taints:
            return self.unschedulable or not self.ready  # asked of every node for every grant
        forbidden = any(t.effect != Effect.PREFER and t.key == RISK_TAINT for t in self.taints)
        drained = self.other_drainer is not None
        return self.unschedulable or not self.ready or forbidden or drained

    @property
    def other_drainer(self) -> Taint | None:
        """The taint of another owner who drains this node, if any."""
        return next((taint for taint in self.taints if taint.key in OTHER_DRAINERS), None)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A wave that was tried and refused at `at` (Unix seconds), not to be tried before `again_at`.

    It is a memory of this process: another one just tries once more.
    """

    at: float
    again_at: float
    refusal: Refusal

    def holds(self, now: float) -> bool:
        """Return whether it is too early to try again; a clock that jumped back is no reason."""
        return self.at <= now < self.again_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One moment, whole.  `now` is Unix seconds.

    `nodes` is the GPU pool; a node that is not in it does not exist for us.
    `pods` has a key for every node whose pods were read, `pending` the pods on
    GPUs that wait for a node.  `epoch` is the leader's; 0 for a replica that
    only watches.  `trials` holds what the server last said to each wave, by job;
    `answers` what parts of preparations answered, by preparation and part;
    `volumes` where the volume of a claim (namespace, name) can be, None anywhere;
    `devices` what is known of GPUs as devices.
    """

    now: float
    epoch: int
    nodes: Mapping[str, Node]
    pods: Mapping[str, tuple[Pod, ...]]
    pending: tuple[Pod, ...] = ()
    ledger: Ledger
    evidence: Evidence
    policy: Policy
    trials: Mapping[str, Trial] = field(default_factory=dict)
    answers: Mapping[str, Part] = field(default_factory=dict)
    volumes: Mapping[tuple[str, str], tuple[Term, ...] | None] = field(default_factory=dict)
    devices: Devices = field(default_factory=Devices)
