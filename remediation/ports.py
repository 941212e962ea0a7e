"""What the loop and the HTTP edge need of the outside world, and how that world may fail.

The protocols are the whole of it: tests and the Kubernetes edge implement them,
the loop sees nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from remediation.policy.facts.demand import Term
    from remediation.policy.facts.device import Devices
    from remediation.policy.facts.evidence import Evidence
    from remediation.policy.facts.ledger import Ledger
    from remediation.policy.facts.node import Node
    from remediation.policy.facts.pod import Pod
    from remediation.policy.facts.snapshot import Part
    from remediation.policy.steps import (
        EvictWave,
        HandOver,
        LiftGpu,
        NodeWrite,
        Step,
        TaintGpu,
        TakeBack,
    )


class FailureReason(StrEnum):
    """Why a call failed; also the metric label."""

    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server_error"
    UNEXPECTED_ANSWER = "unexpected_answer"
    BAD_CONTENT = "bad_content"
    NO_DATA = "no_data"
    LEDGER_UNREADABLE = "ledger_unreadable"
    STALE = "stale"


class CallFailed(Exception):
    """A call to the outside failed.  `reason` says how, the message what and where."""

    def __init__(self, message: str, reason: FailureReason) -> None:
        super().__init__(message)
        self.reason = reason

    @property
    def may_have_happened(self) -> bool:
        """Whether a write may have been done although no answer came: re-read before deciding."""
        return self.reason in {FailureReason.TIMEOUT, FailureReason.UNREACHABLE}


class Conflict(CallFailed):
    """What was read is no longer what is there: read again, decide again."""

    def __init__(self, message: str) -> None:
        super().__init__(message, FailureReason.CONFLICT)


class EvictionOutcome(StrEnum):
    """What the server answered to one eviction."""

    ACCEPTED = "accepted"
    BUDGET = "budget"
    MISCONFIGURED = "misconfigured"
    OVERLOADED = "overloaded"
    GONE = "gone"
    REPLACED = "replaced"
    DENIED = "denied"
    NOT_ALLOWED = "not_allowed"
    FAILED = "failed"
    DEFERRED = "deferred"


@dataclass(frozen=True, slots=True)
class EvictionAnswer:
    """What became of one eviction, in the server's words where they say more.

    `retry_seconds` is how long the server asked to be left alone, if it did;
    `may_have_happened` says that its answer was lost.
    """

    outcome: EvictionOutcome
    words: str = ""
    retry_seconds: float | None = None
    may_have_happened: bool = False


@dataclass(frozen=True, slots=True)
class StoredLedger:
    """A ledger and the version that a compare-and-swap must name; "" while none is stored."""

    ledger: Ledger
    version: str


class LedgerStore(Protocol):
    """One ledger for all replicas."""

    def last(self) -> StoredLedger | None:
        """Return the ledger as last read, written or told of: only a swap proves it current."""

    def read(self) -> StoredLedger:
        """Return the stored ledger; raises `CallFailed`, also when it is garbage."""

    def write(self, ledger: Ledger, version: str) -> StoredLedger:
        """Replace the ledger of `version`; raises `Conflict` when it is no longer that one."""


@dataclass(frozen=True, slots=True)
class Pods:
    """The pods of one moment: by node of the pool, each of which has a key, and those pending.

    Pending are pods that ask for GPUs and are bound to no node.
    """

    on: Mapping[str, tuple[Pod, ...]]
    pending: tuple[Pod, ...] = ()


class Cluster(Protocol):
    """The nodes of the pool and what may be done to them."""

    def nodes(self) -> Mapping[str, Node]:
        """Return the pool by name, own writes included; raises `CallFailed` when it is not known.

        It may be a moment old: a write is bound to the version that was read.
        """

    def pods(self) -> Pods:
        """Return the pods of the pool that was last read; raises `CallFailed`."""

    def named(self, pods: Pods, nodes: Iterable[str]) -> Pods:
        """Return `pods` with what owns their Jobs, as `nodes` concern; raises `CallFailed`."""

    def volumes(
        self, claims: frozenset[tuple[str, str]]
    ) -> Mapping[tuple[str, str], tuple[Term, ...] | None]:
        """Return where the volume of each claim can be, None anywhere; raises `CallFailed`.

        A claim whose volume is not known is left out.
        """

    def write_node(self, write: NodeWrite) -> None:
        """Do one PATCH; raises `Conflict` when the node changed since, `CallFailed` otherwise."""

    def devices(self, nodes: frozenset[str], pods: tuple[Pod, ...], *, in_use: bool) -> Devices:
        """Return the published GPUs of `nodes`, our taints, and what `pods` hold.

        Read after the nodes, so that no mark is newer; while not `in_use` only
        until it is known that nothing of ours is left.  Raises `CallFailed`.
        """

    def taint_gpu(self, step: TaintGpu) -> None:
        """Taint one device, then do the PATCH that marks its node; raises as `write_node`."""

    def lift_gpu(self, step: LiftGpu) -> None:
        """Take one device taint off; raises `Conflict` when the node's mark speaks for it."""

    def hand_over(self, step: HandOver) -> None:
        """Make the object, then do the PATCH; raises as `write_node`."""

    def take_back(self, step: TakeBack) -> None:
        """Delete the object where it is this episode's, then do the PATCH; raises alike."""

    def evict(
        self, wave: EvictWave, *, may_go_on: Callable[[], bool]
    ) -> Mapping[str, EvictionAnswer]:
        """Evict a wave, all or (when the dry run says no) nothing; answers by pod uid."""

    def note_checkpoint(self, pod: Pod, name: str) -> Part:
        """Note on one pod that it should save under `name`; noting twice is noting once."""

    def take_snapshot(self, namespace: str, claim: str, *, name: str, snapshot_class: str) -> Part:
        """Take a snapshot of one claim under `name`, or look how it stands."""

    def tell(self, write: Step) -> None:
        """Leave an Event on every node that the step concerns; raises `CallFailed`."""


class CheckpointHook(Protocol):
    """Pods that are asked over HTTP."""

    def ask(self, pod: Pod, name: str) -> Part:
        """Ask `pod` to save its work under `name`; asking twice is asking once."""


class Source(StrEnum):
    """Whose call it was; also the metric label."""

    KUBERNETES = "kubernetes"
    ALERTMANAGER = "alertmanager"
    PROMETHEUS = "prometheus"


@dataclass(frozen=True, slots=True)
class EvidenceReading:
    """What could be read, and why the rest could not."""

    evidence: Evidence
    failures: Mapping[Source, CallFailed]


class EvidenceSource(Protocol):
    """Alertmanager and Prometheus, read now."""

    def read(self, nodes: frozenset[str]) -> EvidenceReading:
        """Return all alerts, and predictions of `nodes` and of what alerts name; never raises."""


class Leadership(Protocol):
    """Who may act."""

    @property
    def holder(self) -> str:
        """Who leads, as far as known; empty when nobody does."""

    def epoch(self) -> int:
        """Return this replica's epoch while it leads for long enough to finish a call, else 0."""

    def acting(self) -> AbstractContextManager[None]:
        """Mark that a write is under way."""


ChangeLedger = Callable[["Ledger"], "Ledger"]


def swap(
    store: LedgerStore,
    change: ChangeLedger,
    *,
    attempts: int = 5,
    out_of_time: Callable[[], bool] = lambda: False,
    answer_lost: Callable[[], None] = lambda: None,
) -> Ledger:
    """Apply `change` by compare-and-swap and return what is stored then.

    The first attempt starts from the ledger last seen, and so costs one call;
    `change` runs again on a fresh one after every conflict or lost answer, so
    it must be idempotent.  Returning its argument means that nothing needs
    writing, which only a fresh ledger may say.  `answer_lost` is called after a
    write that may or may not have happened.  No new attempt begins once
    `out_of_time`.  Raises `CallFailed`.
    """
    failure: CallFailed = Conflict("the ledger kept changing")
    seen = store.last()
    fresh = seen is None
    stored = seen or store.read()
    for _ in range(attempts):
        wanted = change(stored.ledger)
        unchanged = wanted == stored.ledger and bool(stored.version)
        if unchanged and fresh:
            return stored.ledger
        if not unchanged:
            try:
                return store.write(wanted, stored.version).ledger
            except CallFailed as failed:
                if not isinstance(failed, Conflict) and not failed.may_have_happened:
                    raise
                if failed.may_have_happened:
                    answer_lost()
                failure = failed
            if out_of_time():
                break
        stored, fresh = store.read(), True
    raise failure
