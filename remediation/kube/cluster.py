"""The cluster behind the loop's port, made of the other files of this package."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from remediation.kube import checkpoint, events, nodes, observe, volumes
from remediation.kube.claims import Claims
from remediation.kube.devices import Gpus
from remediation.kube.discovery import Discovery
from remediation.kube.eviction import evict_wave
from remediation.kube.mirror import Mirror
from remediation.kube.owners import Owners
from remediation.kube.repair import Repair
from remediation.policy.moving.preparing import DONE_ANNOTATION
from remediation.ports import CallFailed, EvictionOutcome, Pods

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from daemon.clocks import Clock
    from remediation.kube.connection import Connection
    from remediation.policy.facts.demand import Term
    from remediation.policy.facts.device import Devices
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
    from remediation.ports import EvictionAnswer

# An eviction shows on the watch within milliseconds; this is for one that never does.
_TOLD_WITHIN_SECONDS = 30.0


class KubeCluster:
    """The pool that `selector` matches; see `remediation.ports.Cluster`.

    `stream_seconds` bounds how long a dead watch can pass for a quiet one;
    `stirred` is called when somebody else changed a node that carries our mark,
    or a pod left it or told that its work is saved.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        selector: str,
        gpu_resources: tuple[str, ...],
        stream_seconds: int,
        clock: Clock,
        stirred: Callable[[], None],
    ) -> None:
        self._connection = connection
        self._clock = clock
        self._stirred = stirred
        self._pool = Mirror(
            observe.pool_feed(connection, selector),
            stream_seconds=stream_seconds,
            call_seconds=connection.timeout_seconds,
            clock=clock,
            changed=self._node_changed,
        )
        # Begins to watch when pods are first asked for: most days nothing needs them.
        self._pods = Mirror(
            observe.pod_feed(connection, gpu_resources),
            stream_seconds=stream_seconds,
            call_seconds=connection.timeout_seconds,
            clock=clock,
            changed=self._pod_changed,
        )
        self._marked: frozenset[str] = frozenset()
        self._leaving: dict[str, float] = {}
        self._claims = Claims(connection, clock)
        discovery = Discovery(connection, clock)
        self._gpus = Gpus(connection, discovery, clock)
        self._repair = Repair(connection, discovery)
        self._owners = Owners(connection)
        self._doubtful: set[str] = set()

    def close(self) -> None:
        """Stop watching."""
        self._pool.close()
        self._pods.close()

    def nodes(self) -> Mapping[str, Node]:
        """Return the pool by name."""
        self._read_doubtful()
        nodes = self._pool.values()
        self._marked = frozenset(name for name, node in nodes.items() if node.mark is not None)
        return nodes

    def pods(self) -> Pods:
        """Return the pods of the pool, own evictions included."""
        on: dict[str, list[Pod]] = {name: [] for name in self._pool.values()}
        pending: list[Pod] = []
        for pod in self._with_leaving(self._pods.values()):
            if pod.node in on:
                on[pod.node].append(pod)
            elif pod.gpus and not pod.node and not pod.finished:
                pending.append(pod)
        return Pods({name: tuple(found) for name, found in on.items()}, tuple(pending))

    def named(self, pods: Pods, nodes: Iterable[str]) -> Pods:
        """Return `pods` with what owns their Jobs."""
        return self._owners.named(pods, nodes)

    def write_node(self, write: NodeWrite) -> None:
        """Do one PATCH."""
        try:
            self._pool.note(nodes.patch(self._connection, write))
        except CallFailed as failed:
            if failed.may_have_happened:
                self._doubtful.add(write.node.name)
            raise

    def evict(
        self, wave: EvictWave, *, may_go_on: Callable[[], bool]
    ) -> Mapping[str, EvictionAnswer]:
        """Evict a wave."""
        answers = evict_wave(self._connection, wave.pods, may_go_on=may_go_on)
        now = self._clock.monotonic()
        for uid, answer in answers.items():
            if answer.outcome is EvictionOutcome.ACCEPTED:
                self._leaving[uid] = now + _TOLD_WITHIN_SECONDS
            elif answer.may_have_happened:
                # If it was done, the watch tells; if not, the pod is asked again after this.
                self._leaving[uid] = now + self._connection.timeout_seconds
        return answers

    def volumes(
        self, claims: frozenset[tuple[str, str]]
    ) -> Mapping[tuple[str, str], tuple[Term, ...] | None]:
        """Return where the volume of each claim can be."""
        return self._claims.read(claims)

    def devices(self, nodes: frozenset[str], pods: tuple[Pod, ...], *, in_use: bool) -> Devices:
        """Return what is known of GPUs as devices."""
        return self._gpus.read(nodes, pods, in_use=in_use)

    def taint_gpu(self, step: TaintGpu) -> None:
        """Taint one device, then mark its node."""
        self._gpus.taint(step)
        self.write_node(step.write)

    def lift_gpu(self, step: LiftGpu) -> None:
        """Take one device taint off."""
        self._gpus.lift(step)

    def hand_over(self, step: HandOver) -> None:
        """Make the object for whoever repairs the node, then mark it."""
        self._repair.make(step)
        self.write_node(step.write)

    def take_back(self, step: TakeBack) -> None:
        """Delete that object, then write the node."""
        self._repair.unmake(step)
        self.write_node(step.write)

    def note_checkpoint(self, pod: Pod, name: str) -> Part:
        """Note a request to save on one pod."""
        return checkpoint.note(self._connection, pod, name)

    def take_snapshot(self, namespace: str, claim: str, *, name: str, snapshot_class: str) -> Part:
        """Take a snapshot of one claim, or look how it stands."""
        return volumes.take(
            self._connection, namespace, claim, name=name, snapshot_class=snapshot_class
        )

    def tell(self, write: Step) -> None:
        """Leave an Event on every node that the step concerns."""
        for node in write.nodes:
            events.leave(
                self._connection, node, write.decision, write.sentence, now=self._clock.wall()
            )

    def _read_doubtful(self) -> None:
        """Read the nodes again whose write lost its answer: the watch may not have told it yet."""
        for name in sorted(self._doubtful):
            document = nodes.read(self._connection, name)
            if document is not None:
                self._pool.note(document)
            self._doubtful.discard(name)

    def _with_leaving(self, pods: Mapping[str, Pod]) -> Iterable[Pod]:
        """Let what we evicted be ending, also where the watch has not told it yet."""
        now = self._clock.monotonic()
        untold = {
            uid: until
            for uid, until in self._leaving.items()
            if until > now and uid in pods and pods[uid].ends_at is None
        }
        self._leaving = untold
        if not untold:
            return pods.values()
        ends_at = self._clock.wall() + _TOLD_WITHIN_SECONDS
        return (
            replace(pod, ends_at=ends_at) if uid in untold else pod for uid, pod in pods.items()
        )

    def _node_changed(self, before: Node | None, after: Node | None) -> None:
        marked = any(node is not None and node.mark is not None for node in (before, after))
        if marked and not _alike(before, after):
            self._stirred()

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        if before is None or before.node not in self._marked:
            return
        # The last pod to leave frees a place in the budget, and one that saved its work may leave.
        if after is None or _saved(before) != _saved(after):
            self._stirred()


def _saved(pod: Pod) -> str | None:
    return pod.notes.get(DONE_ANNOTATION)


def _alike(before: Node | None, after: Node | None) -> bool:
    """Whether only the version differs, as after a heartbeat."""
    if before is None or after is None:
        return before is after
    return replace(before, resource_version=after.resource_version) == after
