"""All kubelets of a control plane without machines: heartbeats, pods that start, pods that stop."""

from __future__ import annotations

import threading
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from kubernetes import client, config
from urllib3.exceptions import HTTPError

from daemon.clocks import system_clock

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

HEARTBEAT_SECONDS = 5.0
LEASES = "kube-node-lease"
GONE = 404


class FakeKubelets:
    """Nodes that are Ready, and a loop that does to their pods what kubelets would.

    A pod is Running and Ready as soon as it is placed, and gone
    `stop_seconds` after its deletion was asked for. `silence` makes a node's
    kubelet fall dumb: no heartbeat, nothing acknowledged.
    """

    def __init__(self, kubeconfig: Path, *, stop_seconds: float = 0.0) -> None:
        api = config.new_client_from_config(str(kubeconfig))
        self.refused = 0
        self._core = client.CoreV1Api(api)
        self._leases = client.CoordinationV1Api(api)
        self._stop_seconds = stop_seconds
        self._monotonic = system_clock().monotonic
        self._awake: dict[str, float] = {}
        self._leaving: dict[str, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the loop."""
        self._stop.set()
        self._thread.join()
        self._core.api_client.close()

    def add_node(
        self, name: str, *, labels: Mapping[str, str] | None = None, gpus: int = 8
    ) -> None:
        """Register a node, Ready and with its GPUs."""
        metadata = {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}}
        self._core.create_node({"metadata": metadata})
        self._core.patch_node_status(name, {"status": _status(gpus)})
        self._leases.create_namespaced_lease(LEASES, _lease(name))
        self._awake[name] = self._monotonic()

    def silence(self, name: str) -> None:
        """Let the node's kubelet fall dumb."""
        self._awake.pop(name)

    def _run(self) -> None:
        while not self._stop.wait(0.1):
            try:
                self._heartbeat()
                self._tend_pods()
            except (client.ApiException, HTTPError):
                self.refused += 1  # an API server that is away or changed its mind: next round

    def _heartbeat(self) -> None:
        now = self._monotonic()
        for name, last in list(self._awake.items()):
            if now - last >= HEARTBEAT_SECONDS:
                self._leases.patch_namespaced_lease(name, LEASES, {"spec": {"renewTime": _now()}})
                self._awake[name] = now

    def _tend_pods(self) -> None:
        pods = self._core.list_pod_for_all_namespaces(_request_timeout=(2, 5)).items
        for pod in pods:
            if pod.spec.node_name not in self._awake:
                continue
            if pod.metadata.deletion_timestamp is not None:
                self._stop_pod(pod.metadata)
            elif pod.status.phase == "Pending":
                self._core.patch_namespaced_pod_status(
                    pod.metadata.name, pod.metadata.namespace, {"status": _running()}
                )
        self._leaving = {p.metadata.uid: self._leaving[p.metadata.uid] for p in pods
                         if p.metadata.uid in self._leaving}  # fmt: skip

    def _stop_pod(self, metadata: Any) -> None:
        now = self._monotonic()
        if now - self._leaving.setdefault(metadata.uid, now) < self._stop_seconds:
            return
        options = client.V1DeleteOptions(
            grace_period_seconds=0, preconditions=client.V1Preconditions(uid=metadata.uid)
        )
        try:
            self._core.delete_namespaced_pod(metadata.name, metadata.namespace, body=options)
        except client.ApiException as error:
            if error.status != GONE:
                raise


def _now() -> str:
    return datetime.fromtimestamp(system_clock().wall(), UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _status(gpus: int) -> dict[str, Any]:
    resources = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": str(gpus)}
    ready = {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "lastHeartbeatTime": _now()[:19] + "Z",
        "lastTransitionTime": _now()[:19] + "Z",
    }
    info = dict.fromkeys(
        (
            "systemUUID",
            "kernelVersion",
            "osImage",
            "containerRuntimeVersion",
            "kubeletVersion",
            "kubeProxyVersion",
            "operatingSystem",
            "architecture",
        ),
        "test",
    )
    info |= {"bootID": str(uuid.uuid4()), "machineID": str(uuid.uuid4())}
    return {
        "capacity": resources,
        "allocatable": resources,
        "conditions": [ready],
        "nodeInfo": info,
    }


def _lease(name: str) -> dict[str, Any]:
    spec = {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": _now()}
    return {"metadata": {"name": name, "namespace": LEASES}, "spec": spec}


def _running() -> dict[str, Any]:
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": _now()[:19] + "Z"}
    return {"phase": "Running", "conditions": [ready], "startTime": _now()[:19] + "Z"}
