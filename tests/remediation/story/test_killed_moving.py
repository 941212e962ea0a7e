"""kill -9 while work is moved, a second replica standing by: one wave, each pod asked once."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.remediation.proxy import Fate, Proxy
from tests.remediation.site import Process, eventually
from tests.remediation.story.test_jobs_moved import LONG_SECONDS, add_gang, moving
from tests.remediation.story.test_migrated import is_drained, running_on
from tests.remediation.story.test_saved_first import (
    DONE,
    REQUESTED,
    add_claim,
    add_trainer,
    bind,
    the_pod,
    with_volume,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.remediation.site import Site

EVICTION = re.compile(r"/pods/(?P<pod>[^/]+)/eviction")
DRY = re.compile(r"/eviction\?.*dryRun=All")
REAL = re.compile(r"/eviction(?!\?.*dryRun)")
NODE = re.compile(r"/api/v1/nodes/[^/?]+")
POD = re.compile(r"/pods/[^/?]+(\?|\Z)")


class Accident:
    """Lets the `number`th request of a kind meet its fate, and counts evictions that are real."""

    def __init__(self, method: str, path: re.Pattern[str], number: int, fate: Fate) -> None:
        self._method, self._path, self._fate = method, path, fate
        self._left = number
        self.evicted: Counter[str] = Counter()

    def __call__(self, method: str, path: str) -> Fate:
        fate = Fate.PASSES
        if method == self._method and self._path.search(path):
            self._left -= 1
            fate = self._fate if self._left == 0 else Fate.PASSES
        if method == "POST" and REAL.search(path) and fate is not Fate.IS_HELD:
            found = EVICTION.search(path)
            assert found is not None
            self.evicted[found["pod"]] += 1
        return fate


def settings(site: Site, proxy: Proxy, **policy: Any) -> Any:
    kubeconfig = str(proxy.write_kubeconfig(site.folder / "proxied"))
    kubernetes = {"kubeconfig": kubeconfig, "namespace": site.namespace}
    return site.settings(kubernetes=kubernetes, policy={**moving(), **policy})


# A wave of two pods: two dry runs, then two evictions.  The fourth PATCH of a node in it is
# the first that says drained, after two exclusions and whatever their conflicts cost.
POINTS = [
    pytest.param("POST", DRY, 1, id="the-wave-is-recorded-and-nothing-asked"),
    pytest.param("POST", REAL, 1, id="the-dry-run-is-over"),
    pytest.param("POST", REAL, 2, id="half-of-the-gang-is-evicted"),
    pytest.param("PATCH", NODE, 3, id="all-are-gone-and-no-node-is-drained"),
]


@pytest.mark.scenario
@pytest.mark.parametrize(("method", "path", "number"), POINTS)
def test_killed_in_a_wave_the_other_replica_ends_it(
    site: Site, method: str, path: re.Pattern[str], number: int
) -> None:
    site.add_nodes(5)
    sick = add_gang(site, "train", 2)
    before = {pod.metadata.name for pod in site.core.list_namespaced_pod(site.namespace).items}
    accident = Accident(method, path, number, Fate.IS_HELD)
    with Proxy(site.kubeconfig, accident) as proxy:
        config = settings(site, proxy)
        for name in sick:
            site.monitoring.fire(name)
        with Process(config) as first:
            assert proxy.held.wait(LONG_SECONDS)
            with Process(config):
                first.kill()
                eventually(lambda: all(is_drained(site, name) for name in sick), LONG_SECONDS)
    assert accident.evicted == dict.fromkeys(before, 1)
    (wave,) = site.ledger().waves.values()
    assert wave.ended_at is not None
    assert len(site.ledger().breaker.window) == 2
    eventually(lambda: len(running_on(site)) == 2, LONG_SECONDS)


@pytest.mark.scenario
def test_killed_while_it_asks_for_a_checkpoint_the_other_asks_under_the_same_name(
    site: Site,
) -> None:
    site.add_nodes(2)
    pod = add_trainer(site, {"forewarn.dev/checkpoint": "annotate"})
    accident = Accident("PATCH", POD, 1, Fate.IS_HELD)
    with Proxy(site.kubeconfig, accident) as proxy:
        config = settings(site, proxy)
        site.monitoring.fire(pod.spec.node_name)
        with Process(config) as first:
            assert proxy.held.wait(LONG_SECONDS)
            with Process(config):
                first.kill()
                (asked,) = site.ledger().checkpoints.values()
                name = eventually(lambda: _note(site, REQUESTED), LONG_SECONDS)
                assert name == asked.id
                answer = {"metadata": {"annotations": {DONE: name}}}
                site.core.patch_namespaced_pod(pod.metadata.name, site.namespace, answer)
                eventually(lambda: is_drained(site, pod.spec.node_name), LONG_SECONDS)
    assert accident.evicted == {pod.metadata.name: 1}


SNAPSHOT = re.compile(r"/volumesnapshots(/|\Z|\?)")
# Looking for it, making it, looking how it stands.
SNAPSHOT_POINTS = [
    pytest.param("POST", 1, id="it-is-recorded-and-nothing-is-taken"),
    pytest.param("GET", 2, id="it-is-taken-and-nobody-looked-at-it"),
]


@pytest.mark.scenario
@pytest.mark.parametrize(("method", "number"), SNAPSHOT_POINTS)
def test_killed_around_a_snapshot_the_other_finds_it_and_takes_no_second(
    site: Site, snapshots: Callable[[], list[Any]], method: str, number: int
) -> None:
    site.add_nodes(2)
    add_claim(site)
    pod = add_trainer(site, {"forewarn.dev/snapshot": "true"}, **with_volume(site))
    sick = pod.spec.node_name
    accident = Accident(method, SNAPSHOT, number, Fate.IS_HELD)
    with Proxy(site.kubeconfig, accident) as proxy:
        config = settings(site, proxy)
        site.monitoring.fire(sick)
        with Process(config) as first:
            assert proxy.held.wait(LONG_SECONDS)
            assert len(snapshots()) == number - 1
            with Process(config):
                first.kill()
                (taken,) = eventually(snapshots, LONG_SECONDS)
                (asked,) = site.ledger().restore_points.values()
                assert taken["metadata"]["name"].endswith(asked.id.lower()[-20:])
                assert accident.evicted == {}
                bind(site, taken, back_to=taken["metadata"]["uid"], ready=True)
                eventually(lambda: is_drained(site, sick), LONG_SECONDS)
                assert len(snapshots()) == 1
    assert accident.evicted == {pod.metadata.name: 1}


def _note(site: Site, name: str) -> str | None:
    found: str | None = (the_pod(site).metadata.annotations or {}).get(name)
    return found


def test_an_eviction_whose_answer_was_lost_is_not_asked_again(site: Site) -> None:
    site.add_nodes(3)
    (sick,) = add_gang(site, "train", 1)
    (pod,) = site.core.list_namespaced_pod(site.namespace).items
    accident = Accident("POST", REAL, 1, Fate.LOSES_ITS_ANSWER)
    # Several ticks go by before the watch tells what became of it.
    with Proxy(site.kubeconfig, accident, late_seconds=0.5) as proxy:
        site.monitoring.fire(sick)
        kubeconfig = str(proxy.write_kubeconfig(site.folder / "proxied"))
        with site.run(kubernetes={"kubeconfig": kubeconfig}, policy=moving()):
            eventually(lambda: is_drained(site, sick), LONG_SECONDS)
    assert accident.evicted == {pod.metadata.name: 1}
