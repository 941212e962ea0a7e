"""What others were seen to get wrong, each shown on the real API server.

kept        60 alerts are posted and the process is killed at once; a new one
            is started and must act on all of them.  Then: how long a freed
            place in the budget lies idle.
storm       every node alerts at once, under the shipped limits; then once more
            with the doubt of the model lifted.
breaker     10 alerts where 3 grants are allowed: does it say that it stopped,
            and does it go on after `resume`, without a restart?
dying       the pods of an evicted node never end: is that called a success,
            is anything evicted twice?
landing     all nodes of a ReplicaSet but the spare ones alert at once, under
            the real scheduler: do evicted pods land where they must leave again?
"""

from __future__ import annotations

import itertools
import json
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kubernetes import client

from benchmarks.objects import GRACE_SECONDS
from benchmarks.pool import PODS_PER_NODE, Pool, wait
from benchmarks.restraint import SHIPPED
from benchmarks.rows import Row, quantiles
from simulator.controlplane.kubelet import FakeKubelets

if TYPE_CHECKING:
    from collections.abc import Iterator

STEPS = "forewarn_remediation_steps_total"
EVICTIONS = "forewarn_remediation_evictions_total"


@contextmanager
def pool_of(nodes: int, *, controllers: bool = False) -> Iterator[tuple[Pool, list[str]]]:
    """A control plane with `nodes` nodes; yields it and their names."""
    names = [f"gpu-{number:05d}" for number in range(nodes)]
    with (
        tempfile.TemporaryDirectory() as folder,
        Pool(Path(folder), controllers=controllers) as pool,
    ):
        if not controllers:
            pool.add_nodes(names)
        yield pool, names


def kept(alerts: int = 60) -> Iterator[Row]:
    """Kill the process right after it answered, and start another."""
    with pool_of(300) as (pool, names):
        pool.start()
        seen = pool.follow_cordons()
        pool.post(names[:alerts])
        pool.processes.kill("remediation")
        before = len(seen)
        pool.start()
        wait(lambda: len(seen) == alerts, 60)
    yield Row(
        f"killed after {alerts} accepted alerts ({before} done), acted on in the end",
        f"{len(seen)}",
        f"{alerts}",
    )
    yield from _idle_place()


def _idle_place(nodes: int = 8) -> Iterator[Row]:
    """Let nodes be emptied one at a time; how long after one is empty is the next cordoned?"""
    with pool_of(100) as (pool, names):
        pool.add_pods(names[:nodes], 2)
        pool.end_pods()
        pool.start(mode="migrate", limits={"concurrency": 1})
        seen = pool.follow_cordons()
        pool.post(names[:nodes])
        wait(lambda: len(seen) == nodes, 120)
    order = sorted(seen.values())
    gaps = [1000 * (later - one) for one, later in itertools.pairwise(order)]
    yield Row(
        "one node at a time: cordon, empty, next cordon", quantiles(gaps), "seconds, not 150 s"
    )


def storm(nodes: int = 300) -> Iterator[Row]:
    """Let every node alert at once, and look whom that moved and what is said of the others."""
    for doubt, limits in (("", {}), (", not doubted", {"predicted_nodes": nodes})):
        with pool_of(nodes) as (pool, names):
            pool.start(limits={**SHIPPED, **limits})
            seen = pool.follow_cordons()
            pool.post(names)
            wait(lambda: len(_reasons(pool)) == nodes, 60)
            time.sleep(10)
            told, cordoned = _reasons(pool), len(seen)
        counted = Counter(told.values()).most_common()
        said = ", ".join(f"{count} {reason or 'without a reason'}" for reason, count in counted)
        what = f"{nodes} of {nodes} nodes alert at once, shipped limits{doubt}"
        yield Row(what, f"{cordoned} cordoned; waiting: {said}", "the budget, all with reasons")


def _reasons(pool: Pool) -> dict[str, str]:
    found = json.loads(pool.get("/api/v1/episodes"))["episodes"]
    return {one["node"]: (one["refusal"] or {}).get("reason", "") for one in found}


def breaker(alerts: int = 10, allowed: int = 3) -> Iterator[Row]:
    """Trip the breaker, read what is said of it, arm it again by order."""
    with pool_of(100) as (pool, names):
        pool.start(limits={"breaker_grants": allowed, "breaker_percent": 1})
        seen = pool.follow_cordons()
        pool.post(names[:alerts])
        wait(lambda: pool.metric("forewarn_remediation_breaker_open"), 30)
        ready = pool.get("/readyz").splitlines()
        first = len(seen)
        pool.order("resume")
        wait(lambda: len(seen) > first, 30)
        wait(lambda: pool.metric("forewarn_remediation_breaker_open"), 30)
    said = next((line for line in ready if "breaker" in line), "nothing")
    yield Row(f"{alerts} alerts, {allowed} grants an hour: cordoned", f"{first}", f"{allowed}")
    yield Row("what readiness then says", said, "that it stopped")
    yield Row("cordoned after `resume`, no restart", f"{len(seen) - first}", f"{allowed}")


def dying(seconds: float = GRACE_SECONDS + 10) -> Iterator[Row]:
    """Evict a node's pods, which never end, and look on until well after their grace."""
    with pool_of(100) as (pool, names):
        sick = names[0]
        pool.add_pods([sick], PODS_PER_NODE)
        pool.start(mode="migrate")
        pool.follow_cordons()
        pool.post([sick])
        wait(lambda: pool.metric(f'{EVICTIONS}{{outcome="accepted"}}') == PODS_PER_NODE, 30)
        pool.lose_kubelet(sick)
        time.sleep(seconds)
        called_done = pool.metric(f'{STEPS}{{decision="settle"}}')
        asked = pool.metric(f'{EVICTIONS}{{outcome="accepted"}}')
        story = json.loads(pool.get(f"/api/v1/episodes/{sick}"))["finding"]
    yield Row(
        f"pods Terminating {seconds:g} s on a dead node: called emptied", _no(called_done), "no"
    )
    yield Row("what is said of it", f"{story['state']}: {story['sentence']}", "")
    yield Row("evictions of each pod meanwhile", f"{asked / PODS_PER_NODE:.2f}", "1.00")


def landing(nodes: int = 6) -> Iterator[Row]:
    """Let all nodes that work runs on alert at once, with as many cool ones beside."""
    with (
        pool_of(2 * nodes, controllers=True) as (pool, names),
        FakeKubelets(pool.plane.kubeconfig, stop_seconds=1.0) as kubelets,
    ):
        for name in names[:nodes]:
            kubelets.add_node(name, labels=POOL_LABEL)
        run_replicas(pool, "serve", 8 * nodes)
        sick = {str(pod["spec"]["nodeName"]) for pod in pool.pods()}
        old = {pod["metadata"]["uid"] for pod in pool.pods()}
        for name in names[nodes:]:
            kubelets.add_node(name, labels=POOL_LABEL)
        pool.start(mode="migrate")
        pool.follow_cordons()
        landed = pool.follow_bindings()
        pool.post(sorted(sick))
        wait(lambda: pool.metric(f'{STEPS}{{decision="settle"}}') == len(sick), 120)
    again = [uid for uid, node in landed.items() if uid not in old and node in sick]
    moved = len(set(landed) - old)
    what = f"{len(old)} pods on {len(sick)} nodes that alert at once: placed on one of these again"
    yield Row(what, f"{len(again)} of {moved} placements", "0")


POOL_LABEL = {"nvidia.com/gpu.present": "true"}


def run_replicas(pool: Pool, name: str, replicas: int) -> None:
    """Run so many pods of one ReplicaSet, each on one GPU, and wait until all do."""
    gpu = {"nvidia.com/gpu": "1"}
    container = {"name": "work", "image": "work", "resources": {"limits": gpu, "requests": gpu}}
    template: dict[str, Any] = {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 5},
    }
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": {"app": name}},
        "template": template,
    }
    body = {"metadata": {"name": name}, "spec": spec}
    client.AppsV1Api(pool.api).create_namespaced_replica_set("jobs", body)
    wait(lambda: _running(pool, name) == replicas, 120)


def _running(pool: Pool, name: str) -> int:
    pods = (pod for pod in pool.pods() if pod["metadata"]["labels"]["app"] == name)
    return sum(pod["status"]["phase"] == "Running" for pod in pods)


def _no(count: float) -> str:
    return "yes" if count else "no"
