"""Node lifecycle, workloads, scheduler and budgets: one loop over the store.

Each step reads the store, decides with a pure function, and writes as any
client would.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING

from simulator.cluster import budgets, nodes, scheduling, workload
from simulator.cluster.admission import admit_new
from simulator.cluster.kinds import BUDGETS, NODES, PODS
from simulator.cluster.kubelet import Kubelets, Pace
from simulator.cluster.placements import Placements
from simulator.cluster.refusals import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from daemon.clocks import Clock
    from simulator.cluster.kinds import Kind, Obj
    from simulator.cluster.store import Store

_IDLE_SECONDS = 0.05
"""The longest wait, so that closing does not take longer."""


class Controllers:
    """Everything that acts on the cluster besides its clients."""

    def __init__(self, store: Store, clock: Clock, pace: Pace) -> None:
        self.placements = Placements(clock)
        self._store = store
        self._kubelets = Kubelets(store, clock, pace)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="controllers", daemon=True)

    def start(self) -> None:
        """Run in the background."""
        self._thread.start()

    def close(self) -> None:
        """End the loop and wait for it."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def step(self) -> None:
        """Bring everything one step on."""
        self._keep_nodes()
        self._keep_workloads()
        self._schedule()
        self._kubelets.step()
        self._keep_budgets()
        self.placements.observe(self._store.view(PODS)[0])

    def _run(self) -> None:
        while not self._stop.is_set():
            revision = self._store.revision
            self.step()
            wait = max(0.001, min(_IDLE_SECONDS, self._kubelets.next_due_seconds()))
            self._store.wait_beyond(revision, wait)

    def _keep_nodes(self) -> None:
        for node in self._store.view(NODES)[0]:
            self._write(NODES, node, nodes.with_lifecycle_taints)

    def _keep_workloads(self) -> None:
        for kind in workload.WORKLOADS:
            for owner in self._store.view(kind)[0]:
                pods, _ = self._store.view(PODS, owner["metadata"]["namespace"])
                for pod in workload.missing_pods(owner, kind, pods):
                    admitted = admit_new(PODS, pod, owner["metadata"]["namespace"])
                    self._store.create(PODS, admitted)

    def _schedule(self) -> None:
        for pod in self._store.view(PODS)[0]:
            if pod["spec"].get("nodeName") or "deletionTimestamp" in pod["metadata"]:
                continue
            place = scheduling.place(pod, self._store.view(NODES)[0], self._store.view(PODS)[0])
            if place is not None:
                self._write(PODS, pod, scheduling.binding(place))

    def _keep_budgets(self) -> None:
        for budget in self._store.view(BUDGETS)[0]:
            pods, _ = self._store.view(PODS, budget["metadata"]["namespace"])
            self._write(BUDGETS, budget, partial(budgets.with_status, pods=pods))

    def _write(self, kind: Kind, obj: Obj, change: Callable[[Obj], Obj]) -> None:
        metadata = obj["metadata"]
        try:
            self._store.write(kind, metadata.get("namespace", ""), metadata["name"], change)
        except Refused:
            return  # gone since it was read; the next step sees the cluster without it
