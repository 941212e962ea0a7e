"""The cluster behind the loop's port, made of the other files of this package."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from remediation.kube import events, nodes, observe
from remediation.kube.eviction import evict_wave
from remediation.kube.mirror import Mirror

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from daemon.clocks import Clock
    from remediation.kube.connection import Connection
    from remediation.policy.snapshot import Node, Pod
    from remediation.policy.steps import EvictWave, NodeWrite
    from remediation.ports import EvictionOutcome


class KubeCluster:
    """The pool that `selector` matches; see `remediation.ports.Cluster`.

    `stream_seconds` bounds how long a dead watch can pass for a quiet one;
    `stirred` is called when somebody else changed a node that carries our mark.
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
        self._gpu_resources = gpu_resources
        self._clock = clock
        self._stirred = stirred
        self._pool = Mirror(
            observe.pool_feed(connection, selector),
            stream_seconds=stream_seconds,
            call_seconds=connection.timeout_seconds,
            clock=clock,
            changed=self._node_changed,
        )

    def close(self) -> None:
        """Stop watching."""
        self._pool.close()

    def nodes(self) -> Mapping[str, Node]:
        """Return the pool by name."""
        return self._pool.values()

    def pods(self, node: str) -> tuple[Pod, ...]:
        """Return the pods on one node."""
        return observe.list_pods(self._connection, node, self._gpu_resources)

    def write_node(self, write: NodeWrite) -> None:
        """Do one PATCH."""
        self._pool.note(nodes.patch(self._connection, write))

    def evict(
        self, wave: EvictWave, *, may_go_on: Callable[[], bool]
    ) -> Mapping[str, EvictionOutcome]:
        """Evict a wave."""
        return evict_wave(self._connection, wave.pods, may_go_on=may_go_on)

    def tell(self, write: NodeWrite | EvictWave) -> None:
        """Leave an Event on the node."""
        events.leave(
            self._connection, write.node, write.decision, write.sentence, now=self._clock.wall()
        )

    def _node_changed(self, before: Node | None, after: Node | None) -> None:
        marked = any(node is not None and node.mark is not None for node in (before, after))
        if marked and not _alike(before, after):
            self._stirred()


def _alike(before: Node | None, after: Node | None) -> bool:
    """Whether only the version differs, as after a heartbeat."""
    if before is None or after is None:
        return before is after
    return replace(before, resource_version=after.resource_version) == after
