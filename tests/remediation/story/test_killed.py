"""kill -9 and lost answers between any two writes: nothing is done twice, nothing is forgotten."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.remediation.proxy import Fate, Proxy
from tests.remediation.site import Process, eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.remediation.site import Site

NODE = re.compile(r"/api/v1/nodes/[^/?]+")


def on_node_patches(fate: Fate, times: int) -> Callable[[str, str], Fate]:
    """Let this be the fate of the first `times` PATCHes of nodes."""
    left = [times]

    def decide(method: str, path: str) -> Fate:
        if method == "PATCH" and NODE.match(path) and left[0] > 0:
            left[0] -= 1
            return fate
        return Fate.PASSES

    return decide


def through(proxy: Proxy, site: Site) -> dict[str, str]:
    return {"kubeconfig": str(proxy.write_kubeconfig(site.folder / "proxied"))}


@pytest.mark.scenario
def test_killed_between_grant_and_cordon_it_carries_the_grant_out(site: Site) -> None:
    sick = site.add_nodes(3)[0]
    site.monitoring.fire(sick)
    with Proxy(site.kubeconfig, on_node_patches(Fate.IS_HELD, 1)) as proxy:
        path = site.settings(kubernetes={**through(proxy, site), "namespace": site.namespace})
        with Process(path) as first:
            assert proxy.held.wait(20)
            first.kill()
        granted = site.ledger().grants[sick]
        assert not granted.applied
        assert site.cordoned() == []
        with Process(path):
            eventually(lambda: site.cordoned() == [sick])
            eventually(lambda: site.ledger().grants[sick].applied)
    after = site.ledger()
    mark = site.mark(sick)
    assert mark is not None
    assert mark["grant"] == after.grants[sick].id == granted.id
    assert len(after.breaker.window) == 1
    assert after.epoch > granted.epoch


@pytest.mark.scenario
def test_killed_after_the_cordon_it_neither_cordons_nor_grants_again(site: Site) -> None:
    sick = site.add_nodes(3)[0]
    site.monitoring.fire(sick)
    path = site.settings(policy={"mode": "exclude", "limits": {"unavailable_percent": 100}})
    with Process(path) as first:
        eventually(lambda: site.cordoned() == [sick])
        first.kill()
    before, mark = site.node(sick).metadata.resource_version, site.mark(sick)
    with Process(path) as second:
        eventually(lambda: site.ledger().epoch == 2)
        eventually(lambda: second.done("wait"))
        assert second.done("exclude") == 0
    assert site.mark(sick) == mark
    assert site.node(sick).metadata.resource_version == before
    assert len(site.ledger().breaker.window) == 1


def test_a_cordon_whose_answer_was_lost_is_found_and_not_repeated(site: Site) -> None:
    sick = site.add_nodes(3)[0]
    patches: list[str] = []
    lost = on_node_patches(Fate.LOSES_ITS_ANSWER, 1)

    def fate(method: str, path: str) -> Fate:
        if method == "PATCH" and NODE.match(path):
            patches.append(path)
        return lost(method, path)

    with Proxy(site.kubeconfig, fate) as proxy:
        site.monitoring.fire(sick)
        with site.run(kubernetes=through(proxy, site)) as running:
            eventually(lambda: site.cordoned() == [sick])
            eventually(lambda: running.reasons() == {sick: "still_firing"})
            assert running.metric("errors_total", source="kubernetes", reason="unreachable") == 1
    assert len(patches) == 1
    assert len(site.ledger().breaker.window) == 1


def test_a_ledger_write_whose_answer_was_lost_grants_once(site: Site) -> None:
    sick = site.add_nodes(3)[0]
    losses: list[str] = []

    def fate(method: str, path: str) -> Fate:
        if "configmaps" in path and method != "GET" and site.monitoring.firing and not losses:
            losses.append(path)
            return Fate.LOSES_ITS_ANSWER
        return Fate.PASSES

    with (
        Proxy(site.kubeconfig, fate) as proxy,
        site.run(kubernetes=through(proxy, site)) as running,
    ):
        eventually(lambda: running.metric("leader"))
        eventually(lambda: site.ledger().bucket)
        site.monitoring.fire(sick)
        eventually(lambda: site.cordoned() == [sick])
    assert losses
    assert len(site.ledger().breaker.window) == 1
    mark = site.mark(sick)
    assert mark is not None
    assert mark["grant"] == site.ledger().grants[sick].id


def test_an_uncordon_whose_answer_was_lost_is_found_and_not_repeated(site: Site) -> None:
    sick = site.add_nodes(3)[0]
    site.monitoring.fire(sick)
    with site.run():
        eventually(lambda: site.cordoned() == [sick])
    patches: list[str] = []

    def fate(method: str, path: str) -> Fate:
        if method != "PATCH" or not NODE.match(path):
            return Fate.PASSES
        patches.append(path)
        # First it is verified; then the node comes back on probation, which frees it.
        return Fate.LOSES_ITS_ANSWER if len(patches) == 2 else Fate.PASSES

    with Proxy(site.kubeconfig, fate) as proxy:
        site.monitoring.quiet(sick)
        with site.run(kubernetes=through(proxy, site)):
            eventually(lambda: site.mark(sick) is None)
            eventually(lambda: site.ledger().grants == {})
    assert site.cordoned() == []
    assert site.our_taints(sick) == []
    assert len(patches) == 3
    (past,) = [one for one in site.ledger().past[sick] if one.rests]
    assert past.ended_at > 0


@pytest.mark.scenario
def test_of_two_replicas_one_acts_and_the_other_takes_over(site: Site) -> None:
    first_sick, second_sick, *_ = site.add_nodes(4)
    path = site.settings()
    with Process(path) as first:
        site.monitoring.fire(first_sick)
        eventually(lambda: site.cordoned() == [first_sick])
        with Process(path) as second:
            first.kill()
            site.monitoring.fire(second_sick)
            eventually(lambda: second_sick in site.cordoned())
            eventually(lambda: second.done("exclude") == 1)
    assert site.cordoned() == sorted([first_sick, second_sick])
    assert len(site.ledger().breaker.window) == 2


def test_a_ledger_of_garbage_stops_new_harm_and_says_so(site: Site) -> None:
    sick = site.add_nodes(2)[0]
    with site.run() as running:
        eventually(lambda: running.metric("leader"))
        eventually(lambda: site.ledger().bucket)
        site.core.patch_namespaced_config_map(
            "forewarn-ledger", site.namespace, {"data": {"ledger.json": "{"}}
        )
        alert = site.monitoring.fire(sick)
        eventually(lambda: running.get("/readyz").status_code == 503)
        assert "forewarn-ledger" in running.get("/readyz").text
        assert running.post(alert).status_code == 503
        assert site.cordoned() == []
        reason = {"source": "kubernetes", "reason": "ledger_unreadable"}
        assert running.metric("errors_total", **reason) > 0
        site.core.delete_namespaced_config_map("forewarn-ledger", site.namespace)
        eventually(lambda: site.cordoned() == [sick])
