"""The cluster behind the loop's port, made of the other files of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remediation.kube import events, nodes, observe
from remediation.kube.eviction import evict_wave

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from daemon.clocks import Clock
    from remediation.kube.connection import Connection
    from remediation.policy.snapshot import Node
    from remediation.policy.steps import EvictWave, NodeWrite
    from remediation.ports import EvictionAnswer, Pods


class KubeCluster:
    """The pool that `selector` matches; see `remediation.ports.Cluster`."""

    def __init__(
        self,
        connection: Connection,
        *,
        selector: str,
        gpu_resources: tuple[str, ...],
        clock: Clock,
    ) -> None:
        self._connection = connection
        self._selector = selector
        self._gpu_resources = gpu_resources
        self._clock = clock
        self._pool: frozenset[str] = frozenset()

    def nodes(self) -> Mapping[str, Node]:
        """Return the pool by name."""
        nodes = observe.list_pool(self._connection, self._selector)
        self._pool = frozenset(nodes)
        return nodes

    def pods(self) -> Pods:
        """Return the pods of the pool that was last read."""
        return observe.list_pods(self._connection, self._pool, self._gpu_resources)

    def write_node(self, write: NodeWrite) -> None:
        """Do one PATCH."""
        nodes.patch(self._connection, write)

    def evict(
        self, wave: EvictWave, *, may_go_on: Callable[[], bool]
    ) -> Mapping[str, EvictionAnswer]:
        """Evict a wave."""
        return evict_wave(self._connection, wave.pods, may_go_on=may_go_on)

    def tell(self, write: NodeWrite | EvictWave) -> None:
        """Leave an Event on every node that the step concerns."""
        for node in write.nodes:
            events.leave(
                self._connection, node, write.decision, write.sentence, now=self._clock.wall()
            )
