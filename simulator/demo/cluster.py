"""What the trial asks of its cluster, the same of the embedded one and of a real one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kubernetes import client, config

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

REQUEST_TIMEOUT_SECONDS = (2.0, 5.0)
EPISODE = "forewarn.dev/episode"


@dataclass(frozen=True, slots=True)
class Work:
    """One live pod of the trial's job: where it is, and whether it runs."""

    pod: str
    node: str
    running: bool


@dataclass(frozen=True, slots=True)
class ClusterLook:
    """One look at the cluster: cordoned nodes, our annotation by node, and the job's pods."""

    cordoned: tuple[str, ...]
    episodes: dict[str, str]
    work: tuple[Work, ...]

    def on(self, node: str) -> int:
        """Return how many pods of the job sit on `node`."""
        return sum(work.node == node for work in self.work)


class Watcher:
    """Looks at a cluster through the official client, as any user could."""

    def __init__(self, kubeconfig: Path, namespace: str, job: str) -> None:
        self._core = client.CoreV1Api(config.new_client_from_config(str(kubeconfig)))
        self._namespace = namespace
        self._selector = f"batch.kubernetes.io/job-name={job}"

    def look(self) -> ClusterLook:
        """Read nodes and pods once; raises the client's errors."""
        nodes = self._core.list_node(_request_timeout=REQUEST_TIMEOUT_SECONDS).items
        pods = self._core.list_namespaced_pod(
            self._namespace,
            label_selector=self._selector,
            _request_timeout=REQUEST_TIMEOUT_SECONDS,
        ).items
        return ClusterLook(
            cordoned=tuple(node.metadata.name for node in nodes if node.spec.unschedulable),
            episodes=_episodes(nodes),
            work=tuple(
                Work(pod.metadata.name, pod.spec.node_name or "", _runs(pod))
                for pod in pods
                if pod.status.phase in ("Pending", "Running")
            ),
        )

    def close(self) -> None:
        """Free the connections."""
        self._core.api_client.close()


def _episodes(nodes: Iterable[Any]) -> dict[str, str]:
    annotated = ((node.metadata.name, node.metadata.annotations or {}) for node in nodes)
    return {name: notes[EPISODE] for name, notes in annotated if EPISODE in notes}


def _runs(pod: Any) -> bool:
    conditions = pod.status.conditions or ()
    ready = any(each.type == "Ready" and each.status == "True" for each in conditions)
    return ready and pod.metadata.deletion_timestamp is None
