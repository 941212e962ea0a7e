"""The kubelets: placed pods start after a while, deleted pods stop after their grace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.cluster.kinds import NODES, PODS
from simulator.cluster.refusals import Refused
from simulator.cluster.scheduling import is_ready

if TYPE_CHECKING:
    from daemon.clocks import Clock
    from simulator.cluster.kinds import Obj
    from simulator.cluster.store import Store


@dataclass(frozen=True, slots=True)
class Pace:
    """How long things take, in simulated seconds; `scale` divides them all.

    `start_seconds` lies between a pod's placement and its being Ready; a pod
    takes the whole of its own grace to stop.
    """

    start_seconds: float = 2.0
    scale: float = 1.0


class Kubelets:
    """All kubelets at once. A node that is not Ready acknowledges nothing."""

    def __init__(self, store: Store, clock: Clock, pace: Pace) -> None:
        self._store = store
        self._clock = clock
        self._pace = pace
        self._due: dict[tuple[str, str], float] = {}

    def next_due_seconds(self) -> float:
        """Seconds until a pod is due to start or stop; infinite when none is."""
        return min(self._due.values(), default=float("inf")) - self._clock.monotonic()

    def step(self) -> None:
        """Start and stop what is due."""
        ready = {n["metadata"]["name"] for n in self._store.view(NODES)[0] if is_ready(n)}
        tasks = {
            (pod["metadata"]["uid"], task[0]): (pod, *task)
            for pod in self._store.view(PODS)[0]
            if pod["spec"].get("nodeName") in ready and (task := self._task(pod)) is not None
        }
        now = self._clock.monotonic()
        self._due = {key: self._due.get(key, now + tasks[key][2]) for key in tasks}
        for key, (pod, what, _) in tasks.items():
            if self._due[key] <= now:
                self._finish(pod, what)
                del self._due[key]

    def _task(self, pod: Obj) -> tuple[str, float] | None:
        """What the pod waits for, and the real seconds that it takes."""
        metadata = pod["metadata"]
        if "deletionTimestamp" in metadata:
            if not metadata["deletionGracePeriodSeconds"]:
                return None
            return "stop", metadata["deletionGracePeriodSeconds"] / self._pace.scale
        if pod["status"]["phase"] == "Pending":
            return "start", self._pace.start_seconds / self._pace.scale
        return None

    def _finish(self, pod: Obj, what: str) -> None:
        now = self._store.now()
        metadata = pod["metadata"]

        def finished(before: Obj) -> Obj:
            if before["metadata"]["uid"] != metadata["uid"]:
                return before
            return _stopped(before) if what == "stop" else _started(before, now)

        try:
            self._store.write(PODS, metadata["namespace"], metadata["name"], finished)
        except Refused:
            return  # deleted without grace in between: nothing is left to run


def _started(pod: Obj, now: str) -> Obj:
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": now}
    kept = [c for c in pod["status"].get("conditions") or [] if c["type"] != "Ready"]
    status = {
        **pod["status"],
        "phase": "Running",
        "startTime": now,
        "conditions": [*kept, condition],
    }
    return {**pod, "status": status}


def _stopped(pod: Obj) -> Obj:
    """Without grace left, the pod goes as soon as it has no finalizers."""
    return {**pod, "metadata": {**pod["metadata"], "deletionGracePeriodSeconds": 0}}
