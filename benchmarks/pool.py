"""What the benchmarks of remediation run on: a real API server, nodes, monitoring, one replica.

Nodes are objects without kubelets, pods are ended by an imitation that deletes
them as soon as they may go.  Remediation is a process of its own, as shipped.
"""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Self

import requests
import yaml
from kubernetes import client, config
from urllib3.exceptions import HTTPError

from benchmarks.objects import SINCE, a_node, a_pod
from benchmarks.restraint import LIFTED
from simulator.controlplane.plane import ControlPlane
from simulator.processes import Processes, free_port
from tests.remediation.monitoring import Monitoring, a_post

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

TOKEN = "benchmark"  # noqa: S105 - it guards nothing
NAMESPACE = "forewarn"
GONE = 404
PODS_PER_NODE = 8


class TimedMonitoring(Monitoring):
    """Alertmanager and Prometheus that bear out every alert, and note when they were asked."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.spans: list[tuple[float, float]] = []

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        """Answer one request."""
        came = time.perf_counter()
        answer = super().__call__(environ, start_response)
        self.spans.append((came, time.perf_counter()))
        return answer

    def busy_between(self, began: float, ended: float) -> float:
        """Return the seconds from the first question to the last answer within a time."""
        spans = [span for span in self.spans if began < span[0] and span[1] < ended]
        return spans[-1][1] - spans[0][0] if spans else 0.0


class Pool:
    """One control plane with `Monitoring` and remediation, in `folder`; a context.

    `kubeconfig` is what remediation is started with.
    """

    def __init__(self, folder: Path, *, controllers: bool = False) -> None:
        self.folder = folder
        self.monitoring = TimedMonitoring()
        self.plane = ControlPlane(folder / "plane", controllers=controllers)
        self.processes = Processes(folder / "logs")
        self.webhook_port, self.status_port = free_port(), free_port()
        self.graces: dict[str, int] = {}
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        self.plane.start()
        self.monitoring.__enter__()
        self.api = config.new_client_from_config(str(self.plane.kubeconfig))
        self.core = client.CoreV1Api(self.api)
        self.kubeconfig = self.plane.kubeconfig
        for namespace in (NAMESPACE, "jobs"):
            self.core.create_namespace({"metadata": {"name": namespace}})
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self.processes.close()
        self.monitoring.__exit__()
        self.plane.close()
        for thread in self._threads:
            thread.join(5)
        self.api.close()

    def add_nodes(self, names: list[str]) -> None:
        """Register Ready nodes with 8 GPUs, as kubelets do: status included."""
        self._side_by_side(self._add_node, names)

    def _add_node(self, name: str) -> None:
        self.core.create_node(a_node(name), _preload_content=False).drain_conn()
        # Admission taints a new node until a controller finds it ready; none runs here.
        body = {"spec": {"taints": None}}
        self.core.patch_node(name, body, _preload_content=False).drain_conn()

    def add_pods(self, nodes: list[str], per_node: int) -> None:
        """Bind pods of one job per node, each on one GPU."""
        pods = [a_pod(node, number) for node in nodes for number in range(per_node)]
        self._side_by_side(lambda pod: self.core.create_namespaced_pod("jobs", pod), pods)

    def start(self, name: str = "remediation", **policy: Any) -> None:
        """Start remediation with limits lifted and the shipped pace, and wait until it leads."""
        (self.folder / "token").write_text(TOKEN, encoding="utf-8")
        listen = {"host": "127.0.0.1", "token_file": str(self.folder / "token")}
        limits = {**LIFTED, **policy.pop("limits", {})}
        settings = {
            "webhook": {**listen, "port": self.webhook_port},
            "status": {**listen, "port": self.status_port},
            "alertmanager": {"url": self.monitoring.url},
            "prometheus": {"url": self.monitoring.url},
            "kubernetes": {"kubeconfig": str(self.kubeconfig), "namespace": NAMESPACE},
            # Nobody measures heat here, so it is not asked where it is cool.
            "policy": {"mode": "exclude", "limits": limits, "targets": [], **policy},
        }
        path = self.folder / f"{name}.yml"
        path.write_text(yaml.safe_dump(settings), encoding="utf-8")
        self.processes.start_module(name, "remediation", "--config", str(path))
        self.processes.wait_until_answers(name, f"http://127.0.0.1:{self.status_port}/readyz")
        wait(lambda: "leads" in self.get("/readyz"), 30)

    def get(self, path: str) -> str:
        """Read a page of remediation."""
        return requests.get(f"http://127.0.0.1:{self.status_port}{path}", timeout=10).text

    def metric(self, sample: str) -> float:
        """Read one sample of remediation, 0 when it is not there."""
        lines = (line.rpartition(" ") for line in self.get("/metrics").splitlines())
        return next((float(value) for name, _, value in lines if name == sample), 0.0)

    def post(self, nodes: list[str]) -> float:
        """Let an alert of each of `nodes` fire and post them; returns the seconds it took."""
        body = a_post(*(self.monitoring.fire(node) for node in nodes))
        began = time.perf_counter()
        answer = self._session.post(
            f"http://127.0.0.1:{self.webhook_port}/api/v1/alerts",
            json=body,
            headers={"Authorization": f"Bearer {TOKEN}"},
            timeout=10,
        )
        took = time.perf_counter() - began
        if not answer.ok:
            raise RuntimeError(
                f"post answered {answer.status_code} after {took:.2f} s: {answer.text}"
            )
        return took

    def order(self, verb: str) -> None:
        """Give an order, as a person does."""
        answer = requests.post(
            f"http://127.0.0.1:{self.status_port}/api/v1/{verb}",
            json={"author": "benchmark", "reason": "to see it go on"},
            headers={"Authorization": f"Bearer {TOKEN}"},
            timeout=10,
        )
        answer.raise_for_status()

    def lose_kubelet(self, node: str) -> None:
        """Let a node be NotReady, as the node controller says of one whose kubelet is silent."""
        condition = {"type": "Ready", "status": "Unknown", "lastTransitionTime": SINCE}
        self.core.patch_node_status(node, {"status": {"conditions": [condition]}})

    def touch(self, node: str) -> float:
        """Annotate a node from here; returns the milliseconds: what one write costs at least."""
        body = {"metadata": {"annotations": {"example.com/touched": "yes"}}}
        began = time.perf_counter()
        self.core.patch_node(node, body, _preload_content=False).drain_conn()
        return 1000 * (time.perf_counter() - began)

    def follow_cordons(self) -> dict[str, float]:
        """Watch the nodes; returns the dict that fills with when each was seen cordoned."""
        self._session = requests.Session()
        seen: dict[str, float] = {}
        ready = threading.Event()
        self._spawn(lambda: self._watch_nodes(seen, ready))
        ready.wait(10)
        return seen

    def follow_bindings(self) -> dict[str, str]:
        """Watch the pods of the jobs; returns the dict that fills with the node of each, by uid."""
        placed: dict[str, str] = {}

        def take(pod: Any) -> None:
            if pod["spec"].get("nodeName"):
                placed[pod["metadata"]["uid"]] = pod["spec"]["nodeName"]

        self.follow_pods(take)
        return placed

    def follow_pods(self, take: Callable[[Any], None]) -> None:
        """Watch the pods of the jobs; `take` is given each after every change, in order."""
        since = self.core.list_namespaced_pod("jobs", limit=1).metadata.resource_version
        self._spawn(lambda: self._watch_pods(take, since))

    def end_pods(self) -> None:
        """Delete every pod as soon as it may go, as kubelets whose containers stop at once.

        What grace each was given is noted in `graces`, by name.
        """
        self._spawn(self._reap)

    def pods_left(self) -> int:
        """Count the pods of the jobs that are still there."""
        return len(self.pods())

    def pods(self) -> list[Any]:
        """Return the pods of the jobs."""
        answer = self.core.list_namespaced_pod("jobs", _preload_content=False)
        return list(json.loads(answer.data)["items"])

    def _spawn(self, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=target, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _watch_nodes(self, seen: dict[str, float], ready: threading.Event) -> None:
        since = self.core.list_node(limit=1).metadata.resource_version
        ready.set()
        while not self._stop.is_set():
            for line in self._stream(self.core.list_node, since):
                at = time.perf_counter()
                if b'"unschedulable":true' not in line:
                    continue
                metadata = json.loads(line)["object"]["metadata"]
                since = metadata["resourceVersion"]
                seen.setdefault(metadata["name"], at)

    def _watch_pods(self, take: Callable[[Any], None], since: str) -> None:
        def list_pods(**options: Any) -> Any:
            return self.core.list_namespaced_pod("jobs", **options)

        while not self._stop.is_set():
            for line in self._stream(list_pods, since):
                pod = json.loads(line)["object"]
                since = pod["metadata"]["resourceVersion"]
                take(pod)

    def _reap(self) -> None:
        while not self._stop.is_set():
            graces = {
                pod["metadata"]["name"]: pod["metadata"]["deletionGracePeriodSeconds"]
                for pod in self.pods()
                if pod["metadata"].get("deletionTimestamp")
            }
            self.graces |= graces
            self._side_by_side(self._end, list(graces))
            self._stop.wait(0.02)

    def _end(self, name: str) -> None:
        try:
            ended = self.core.delete_namespaced_pod(
                name, "jobs", grace_period_seconds=0, _preload_content=False
            )
        except client.ApiException as error:
            if error.status != GONE:
                raise
        else:
            ended.drain_conn()

    def _stream(self, call: Callable[..., Any], since: str) -> Iterable[bytes]:
        stream = call(
            watch=True, resource_version=since, timeout_seconds=600, _preload_content=False
        )
        rest = b""
        try:
            for chunk in stream.stream(1 << 16):
                *lines, rest = (rest + chunk).split(b"\n")
                yield from lines
        except HTTPError:
            return
        finally:
            stream.close()

    def _side_by_side(self, call: Callable[[Any], Any], things: list[Any]) -> None:
        with ThreadPoolExecutor(8) as lanes:
            list(lanes.map(call, things))


def wait(holds: Callable[[], Any], seconds: float) -> None:
    """Wait until `holds`; raises `TimeoutError`."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"it did not happen within {seconds:g} s")
        time.sleep(0.005)
