"""The embedded cluster as one thing to start, fill, look at and close."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Self

import yaml

from daemon.clocks import Clock, system_clock
from simulator.cluster import nodes, workload
from simulator.cluster.admission import admit_new
from simulator.cluster.api import Api
from simulator.cluster.controllers import Controllers
from simulator.cluster.kinds import JOBS, NAMESPACES, NODES
from simulator.cluster.kubelet import Pace
from simulator.cluster.server import ApiServer
from simulator.cluster.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from simulator.cluster.placements import Move

_NAMESPACES = ("default", "kube-system")


class EmbeddedCluster:
    """A cluster on one loopback port, gone when it is closed.

    `scale` divides the time that pods take to start and to stop, and nothing
    else. `port` 0 takes a free one; it is bound from construction on, so that
    `url` is true before `start`.
    """

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        pace: Pace | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str | None = None,
        history: int = 20_000,
    ) -> None:
        clock = clock or system_clock()
        self.token = token or secrets.token_urlsafe(16)
        self.store = Store(clock, history)
        self._controllers = Controllers(self.store, clock, pace or Pace())
        self._server = ApiServer(Api(self.store, clock, {self.token: "admin"}), host, port)
        for name in _NAMESPACES:
            self.add_namespace(name)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        """The address of the API."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def start(self) -> None:
        """Serve, schedule and run pods in the background."""
        self._server.start()
        self._controllers.start()

    def close(self) -> None:
        """Stop everything; clients that are connected are cut off."""
        self._controllers.close()
        self._server.close()

    def write_kubeconfig(self, path: Path) -> None:
        """Write a kubeconfig that carries the token, readable by its owner only."""
        named = "embedded"
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": named,
            "clusters": [{"name": named, "cluster": {"server": self.url}}],
            "users": [{"name": named, "user": {"token": self.token}}],
            "contexts": [{"name": named, "context": {"cluster": named, "user": named}}],
        }
        path.touch(mode=0o600)
        path.write_text(yaml.safe_dump(document), encoding="utf-8")

    def add_namespace(self, name: str) -> None:
        """Add a namespace; objects cannot be created in one that does not exist."""
        document = {"metadata": {"name": name}}
        self.store.create(NAMESPACES, admit_new(NAMESPACES, document, ""))

    def add_node(
        self, name: str, *, rack: str, gpus: int = 8, labels: Mapping[str, str] | None = None
    ) -> None:
        """Add a Ready node with its GPUs as capacity."""
        node = nodes.gpu_node(name, rack, gpus, labels or {}, self.store.now())
        self.store.create(NODES, admit_new(NODES, node, ""))

    def add_gang_job(
        self,
        name: str,
        *,
        nodes: int,
        gpus_per_node: int = 8,
        namespace: str = "default",
        grace_seconds: int = 30,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        """Add a training job with one pod on each of `nodes` nodes."""
        job = workload.gang_job(
            name,
            namespace,
            nodes=nodes,
            gpus_per_node=gpus_per_node,
            grace_seconds=grace_seconds,
            annotations=annotations or {},
        )
        self.store.create(JOBS, admit_new(JOBS, job, namespace))

    def moves(self) -> tuple[Move, ...]:
        """Every part of a workload that came to run on another node, oldest first."""
        return self._controllers.placements.moves()

    def nodes_of(self, workload_name: str) -> tuple[str, ...]:
        """Nodes where Ready pods of the workload `namespace/name` run now, one entry per pod."""
        return self._controllers.placements.nodes_of(workload_name)
