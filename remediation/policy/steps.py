"""What the plan may ask for: one PATCH of one node, a taint of one GPU, one wave of pods."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from remediation.policy.facts.node import RISK_TAINT, Risk
from remediation.policy.facts.taint import Effect, Taint

if TYPE_CHECKING:
    from typing import Any

    from remediation.policy.facts.device import Device, Rule
    from remediation.policy.facts.handed import Handed
    from remediation.policy.facts.ledger import Ledger
    from remediation.policy.facts.mark import Mark
    from remediation.policy.facts.node import Node
    from remediation.policy.facts.pod import Pod
    from remediation.policy.facts.refusal import Refusal


class Decision(StrEnum):
    """What was decided for one episode in one tick."""

    SOFTEN = "soften"
    EXCLUDE = "exclude"
    TAINT_GPU = "taint_gpu"
    LIFT_GPU = "lift_gpu"
    CHECKPOINT = "checkpoint"
    SNAPSHOT = "snapshot"
    EVICT = "evict"
    SETTLE = "settle"
    OFFER = "offer"
    HAND_OVER = "hand_over"
    VERIFY = "verify"
    RELAPSE = "relapse"
    TRUST = "trust"
    RELEASE = "release"
    STAND_DOWN = "stand_down"
    GIVE_WAY = "give_way"
    WAIT = "wait"


class EpisodeState(StrEnum):
    """Where an episode stands, for people and metrics; derived anew each tick."""

    OBSERVED = "observed"
    DEFERRED = "deferred"
    ELEVATED = "elevated"
    EXCLUDED = "excluded"
    CHECKPOINTING = "checkpointing"
    SNAPSHOTTING = "snapshotting"
    MIGRATING = "migrating"
    BLOCKED = "blocked"
    DRAINED = "drained"
    HANDED_OVER = "handed_over"
    VERIFYING = "verifying"
    PROBATION = "probation"
    HELD = "held"
    FACILITY = "facility"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeWrite:
    """One PATCH: mark, taint and cordon together, valid only for the version that was read.

    `effect` None means our taint is absent afterwards; `unschedulable` None
    leaves the cordon as it is; `mark` None removes the annotation.
    """

    decision: Decision
    node: Node
    mark: Mark | None
    effect: Effect | None
    unschedulable: bool | None
    sentence: str
    heard_at: float | None = None

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The node, as every step tells whom it concerns."""
        return (self.node,)

    @property
    def risk(self) -> Risk | None:
        """What the label says afterwards; None removes it, for we say nothing any more.

        It follows the mark, and so rises with a grant and falls only after a soak.
        """
        if self.mark is None:
            return Risk.LOW if self.decision is Decision.RELEASE else None
        return Risk.HIGH if self.mark.cordoned else Risk.ELEVATED

    @property
    def taints(self) -> tuple[Taint, ...]:
        """The node's whole list with ours replaced: a PATCH replaces the list."""
        others = tuple(taint for taint in self.node.taints if taint.key != RISK_TAINT)
        return others if self.effect is None else (*others, Taint(RISK_TAINT, self.effect))


@dataclass(frozen=True, slots=True, kw_only=True)
class EvictWave:
    """Evict these pods of one job together, after a dry run of all of them.

    `job` is the key of the job, `nodes` are those the pods run on; `overdue`
    says that the wave moved nothing for so long that it gave its place back.
    """

    job: str
    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    sentence: str
    heard_at: float | None = None
    overdue: bool = False
    decision: Decision = Decision.EVICT


@dataclass(frozen=True, slots=True, kw_only=True)
class AskCheckpoint:
    """Ask these pods to save their work under the name `id`; asking twice is asking once."""

    id: str
    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    first: bool
    sentence: str
    heard_at: float | None = None
    decision: Decision = Decision.CHECKPOINT


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeSnapshots:
    """Take a snapshot of each claim under the name `id`; taking twice is taking once.

    An empty class is the default one of the volume's driver.
    """

    id: str
    nodes: tuple[Node, ...]
    namespace: str
    claims: tuple[str, ...]
    snapshot_class: str
    first: bool
    sentence: str
    heard_at: float | None = None
    decision: Decision = Decision.SNAPSHOT


@dataclass(frozen=True, slots=True, kw_only=True)
class _AroundWrite:
    """A step around the write of one node: whom it concerns and why, the write tells."""

    write: NodeWrite

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The node that is written."""
        return self.write.nodes

    @property
    def sentence(self) -> str:
        """What is done, as the write says it."""
        return self.write.sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class TaintGpu(_AroundWrite):
    """Taint one device, then write the mark that names it; doing it twice is doing it once."""

    device: Device
    heard_at: float | None = None
    decision: Decision = Decision.TAINT_GPU

    @property
    def node(self) -> Node:
        """The node of the GPU."""
        return self.write.node


@dataclass(frozen=True, slots=True, kw_only=True)
class LiftGpu:
    """Take a device taint of ours off, unless the node's mark speaks for it by now."""

    node: Node
    rule: Rule
    sentence: str
    heard_at: float | None = None
    decision: Decision = Decision.LIFT_GPU

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The node of the GPU."""
        return (self.node,)


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver(_AroundWrite):
    """Make the object that the mark names, then note that it is there; twice is once."""

    handed: Handed
    body: dict[str, Any]
    heard_at: float | None = None

    @property
    def decision(self) -> Decision:
        """What was decided is what the mark then says."""
        return self.write.decision


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeBack(_AroundWrite):
    """Delete the object that was made for `episode`, if it is there, then write the node."""

    handed: Handed
    episode: str

    @property
    def decision(self) -> Decision:
        """What was decided is what the node's own write does."""
        return self.write.decision

    @property
    def heard_at(self) -> float | None:
        """As of the node's own write."""
        return self.write.heard_at

    @property
    def sentence(self) -> str:
        """What is done, with the order that ends."""
        return f"{self.write.sentence}; {self.handed} is taken back"


Step = (
    NodeWrite | TaintGpu | LiftGpu | HandOver | TakeBack | EvictWave | AskCheckpoint | TakeSnapshots
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was decided for one node and why; `only_observed` means that it was not done."""

    node: str
    state: EpisodeState
    decision: Decision
    sentence: str
    episode: str = ""
    refusal: Refusal | None = None
    only_observed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The ledger to write first, then the steps, at most one per episode."""

    ledger: Ledger
    findings: tuple[Finding, ...]
    steps: tuple[Step, ...]
