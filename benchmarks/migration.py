"""Walk one migration on a real control plane, and print what each command says on the way.

etcd, API server, controller manager and scheduler are real; kubelets and the
monitoring are imitated.  Limits are the shipped ones, the waits of the way
back are seconds instead of hours.

    python -m benchmarks.migration
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from kubernetes import client

from benchmarks.pool import Pool, wait
from benchmarks.restraint import SHIPPED
from simulator.controlplane.kubelet import FakeKubelets
from simulator.controlplane.plane import assets

if TYPE_CHECKING:
    from collections.abc import Iterator

REQUESTED, DONE = "forewarn.dev/checkpoint-requested", "forewarn.dev/checkpoint-done"
SOON_BACK = {
    "soak_seconds": 5,
    "interval_seconds": 1,
    "jitter_seconds": 0,
    "probation_seconds": 5,
    "quiet_probation_seconds": 10,
}


class Walk:
    """What a person types, on one cluster."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.core = pool.core
        self._environment = {
            **os.environ,
            "FOREWARN_REMEDIATION_URL": f"http://127.0.0.1:{pool.status_port}",
        }

    def kubectl(self, *words: str) -> None:
        """Show what kubectl says."""
        command = (str(assets() / "kubectl"), "--kubeconfig", str(self.pool.plane.kubeconfig))
        self._show("kubectl", words, (*command, *words))

    def remediation(self, *words: str) -> None:
        """Show what a command of ours says."""
        command = (sys.executable, "-m", "remediation")
        self._show("forewarn-remediation", words, (*command, *words))

    def audit(self, node: str) -> None:
        """Show the audit lines of one node."""
        print(f"$ kubectl -n forewarn logs deploy/forewarn-remediation | grep {node}")
        log = self.pool.processes.log("remediation").read_text(encoding="utf-8")
        for line in log.splitlines():
            with suppress(ValueError):
                if json.loads(line).get("node") == node:
                    print(line)
        print()

    def states(self, node: str) -> Iterator[str]:
        """Yield the state of a node's episode, each time that it is asked for."""
        while True:
            found = json.loads(self.pool.get(f"/api/v1/episodes/{node}")).get("finding")
            yield found["state"] if found else "none"

    def until(self, node: str, state: str, seconds: float = 60) -> None:
        """Wait until a node's episode is in a state."""
        states = self.states(node)
        wait(lambda: next(states) == state, seconds)

    def _show(self, name: str, words: tuple[str, ...], command: tuple[str, ...]) -> None:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, env=self._environment
        )
        print(f"$ {name} {' '.join(words)}\n{done.stdout}{done.stderr}", flush=True)


def main() -> int:
    """Let one node of four fail soon, and its work be moved."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Pool(Path(folder), controllers=True) as pool,
        FakeKubelets(pool.plane.kubeconfig, stop_seconds=2.0) as kubelets,
    ):
        for number in range(1, 5):
            rack = f"r{(number + 1) // 2}"
            labels = {"nvidia.com/gpu.present": "true", "topology.kubernetes.io/rack": rack}
            kubelets.add_node(f"gpu-{number:03d}", labels=labels)
        _train(pool)
        sick = str(pool.pods()[0]["spec"]["nodeName"])
        pool.start(mode="migrate", limits=SHIPPED, release=SOON_BACK)
        pool.follow_cordons()
        _go(Walk(pool), sick)
    return 0


def _go(walk: Walk, sick: str) -> None:
    walk.kubectl("-n", "jobs", "get", "pods", "-o", "wide")
    walk.pool.post([sick])
    walk.until(sick, "checkpointing")
    walk.remediation("status")
    walk.remediation("explain", sick)
    _save(walk)
    walk.until(sick, "drained")
    walk.remediation("explain", sick)
    wait(lambda: [pod["status"]["phase"] for pod in walk.pool.pods()] == ["Running"], 60)
    walk.kubectl("-n", "jobs", "get", "pods", "-o", "wide")
    walk.kubectl("get", "nodes")
    what = "jsonpath={.metadata.annotations.forewarn\\.dev/episode}"
    walk.kubectl("get", "node", sick, "-o", what)
    walk.pool.monitoring.quiet(sick)
    walk.until(sick, "probation")
    walk.remediation("explain", sick)
    walk.until(sick, "none")
    what = "custom-columns=REASON:.reason,MESSAGE:.message"
    chosen = f"involvedObject.name={sick},source=forewarn-remediation"
    order = "--sort-by=.metadata.resourceVersion"
    walk.kubectl("get", "events", order, "--field-selector", chosen, "-o", what)
    walk.audit(sick)


def _train(pool: Pool) -> None:
    gpus = {"nvidia.com/gpu": "8"}
    container = {"name": "work", "image": "work", "resources": {"limits": gpus, "requests": gpus}}
    metadata = {"annotations": {"forewarn.dev/checkpoint": "annotate"}}
    spec = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 30,
        "containers": [container],
    }
    body = {
        "metadata": {"name": "llm"},
        "spec": {"backoffLimit": 6, "template": {"metadata": metadata, "spec": spec}},
    }
    client.BatchV1Api(pool.api).create_namespaced_job("jobs", body)
    wait(lambda: [pod["status"]["phase"] for pod in pool.pods()] == ["Running"], 60)


def _save(walk: Walk) -> None:
    """Answer as the job would, once its work is saved."""
    (pod,) = walk.pool.pods()
    name = pod["metadata"]["name"]
    asked = {**pod["metadata"]["annotations"]}[REQUESTED]
    answer = {"metadata": {"annotations": {DONE: asked}}}
    walk.core.patch_namespaced_pod(name, "jobs", answer)


if __name__ == "__main__":
    raise SystemExit(main())
