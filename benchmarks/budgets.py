"""Work behind disruption budgets is moved, and every moment of it is looked at.

budgets     replicas behind one budget each leave nodes that alert at once, under
            the real controllers and scheduler.  A watch of the pods, which tells
            every change in its order, counts who is there; a proxy before the
            API server reads what the evictions say.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from kubernetes import client

from benchmarks.failings import POOL_LABEL, STEPS, pool_of, run_replicas
from benchmarks.pool import wait
from benchmarks.rows import Row
from simulator.controlplane.kubelet import FakeKubelets
from tests.remediation.proxy import Proxy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.pool import Pool

EVICTION = re.compile(r"/pods/[^/]+/eviction(\?|\Z)")


class Evictions:
    """What was asked for in evictions that were no dry run."""

    def __init__(self) -> None:
        self.asked = 0
        self.without_uid = 0

    def read(self, method: str, path: str, body: bytes) -> None:
        """Note one request."""
        if method == "POST" and EVICTION.search(path) and "dryRun" not in path:
            options = json.loads(body).get("deleteOptions") or {}
            self.asked += 1
            self.without_uid += not (options.get("preconditions") or {}).get("uid")


def budgets(count: int = 4, replicas: int = 12, nodes: int = 6) -> Iterator[Row]:
    """Move `count` times as many replicas, of each of which all but one must be there."""
    seen = Evictions()
    with (
        pool_of(2 * nodes, controllers=True) as (pool, names),
        FakeKubelets(pool.plane.kubeconfig, stop_seconds=0.2) as kubelets,
        Proxy(pool.plane.kubeconfig, read=seen.read) as proxy,
    ):
        for name in names[:nodes]:
            kubelets.add_node(name, labels=POOL_LABEL)
        for number in range(count):
            _run_behind_a_budget(pool, f"serve-{number}", replicas)
        wait(lambda: _all_allow_one(pool, count), 60)
        for name in names[nodes:]:
            kubelets.add_node(name, labels=POOL_LABEL)
        there = Company(pool)
        pool.kubeconfig = proxy.write_kubeconfig(pool.folder / "proxied")
        pool.start(mode="migrate")
        pool.follow_cordons()
        pool.post(names[:nodes])
        wait(lambda: pool.metric(f'{STEPS}{{decision="settle"}}') == nodes, 240)
    what = f"{count * replicas} pods behind {count} disruption budgets moved off {nodes} nodes"
    yield Row(
        f"{what}: fewest of {replicas} there at any moment", f"{there.fewest}", f"{replicas - 1}"
    )
    yield Row("moments in which a budget was violated", f"{there.below(replicas - 1)}", "0")
    yield Row(
        "evictions that did not name the pod's uid",
        f"{seen.without_uid} of {seen.asked}",
        "0",
    )


class Company:
    """How many pods of each application were there, from now on; one that ends is not."""

    def __init__(self, pool: Pool) -> None:
        self._of = {
            pod["metadata"]["uid"]: pod["metadata"]["labels"]["app"]
            for pod in pool.pods()
            if _is_there(pod)
        }
        self._seen = Counter(Counter(self._of.values()).values())
        pool.follow_pods(self._take)

    @property
    def fewest(self) -> int:
        """The fewest that were there of any application."""
        return min(self._seen)

    def below(self, least: int) -> int:
        """Return how many changes left fewer than `least` of an application."""
        return sum(times for there, times in self._seen.items() if there < least)

    def _take(self, pod: Any) -> None:
        uid, name = pod["metadata"]["uid"], pod["metadata"]["labels"]["app"]
        if _is_there(pod):
            self._of[uid] = name
        elif self._of.pop(uid, None) is None:
            return
        self._seen[Counter(self._of.values())[name]] += 1


def _is_there(pod: Any) -> bool:
    conditions = pod["status"].get("conditions") or ()
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]


def _run_behind_a_budget(pool: Pool, name: str, replicas: int) -> None:
    run_replicas(pool, name, replicas)
    spec = {"minAvailable": replicas - 1, "selector": {"matchLabels": {"app": name}}}
    body = {"metadata": {"name": name}, "spec": spec}
    client.PolicyV1Api(pool.api).create_namespaced_pod_disruption_budget("jobs", body)


def _all_allow_one(pool: Pool, count: int) -> bool:
    found = client.PolicyV1Api(pool.api).list_namespaced_pod_disruption_budget("jobs").items
    return [one.status.disruptions_allowed for one in found] == [1] * count
