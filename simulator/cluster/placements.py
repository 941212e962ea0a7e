"""Where the simulated workloads run, and each time a part of one has moved."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.cluster.workload import slot_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from daemon.clocks import Clock
    from simulator.cluster.kinds import Obj


@dataclass(frozen=True, slots=True)
class Move:
    """A part of a workload runs on another node than before; `at` is wall-clock seconds."""

    workload: str
    slot: str
    pod: str
    source: str
    target: str
    at: float


class Placements:
    """Last known node of every slot of every workload, named `namespace/name`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._guard = threading.Lock()
        self._homes: dict[tuple[str, str], str] = {}
        self._moves: list[Move] = []
        self._running: dict[str, list[str]] = {}

    def observe(self, pods: Iterable[Obj]) -> None:
        """Take in the pods as they are now."""
        running = [pod for pod in pods if _works(pod)]
        with self._guard:
            self._running = {}
            for pod in running:
                self._running.setdefault(_workload(pod), []).append(pod["spec"]["nodeName"])
                self._settle(pod)

    def moves(self) -> tuple[Move, ...]:
        """Every move so far, oldest first."""
        with self._guard:
            return tuple(self._moves)

    def nodes_of(self, workload: str) -> tuple[str, ...]:
        """Nodes on which Ready pods of the workload run now, one entry per pod."""
        with self._guard:
            return tuple(sorted(self._running.get(workload, ())))

    def _settle(self, pod: Obj) -> None:
        workload, slot, node = _workload(pod), slot_of(pod), pod["spec"]["nodeName"]
        before = self._homes.get((workload, slot))
        self._homes[workload, slot] = node
        if before not in (None, node):
            name = pod["metadata"]["name"]
            self._moves.append(Move(workload, slot, name, before, node, self._clock.wall()))


def _works(pod: Obj) -> bool:
    metadata = pod["metadata"]
    running = pod["status"]["phase"] == "Running" and "deletionTimestamp" not in metadata
    return running and bool(metadata.get("ownerReferences"))


def _workload(pod: Obj) -> str:
    metadata = pod["metadata"]
    return f"{metadata['namespace']}/{metadata['ownerReferences'][0]['name']}"
