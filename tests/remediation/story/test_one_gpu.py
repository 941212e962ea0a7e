"""One sick GPU: on a real API server it alone is tainted, on one without such rules its node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from kubernetes import client

from tests.remediation import dra
from tests.remediation.proxy import Fate, Proxy
from tests.remediation.site import SOON_BACK, Process, eventually
from tests.remediation.story.test_jobs_moved import LONG_SECONDS
from tests.remediation.story.test_migrated import is_drained

if TYPE_CHECKING:
    from tests.remediation.site import Site

ONE_GPU = {"causes": ["memory"]}


def moving(**changes: Any) -> dict[str, Any]:
    limits = {"unavailable_percent": 100, "domains": [], "predicted_percent": 100}
    release = {"soak_seconds": 600, "interval_seconds": 0.1}
    return {"mode": "migrate", "limits": limits, "release": release, "gpu": ONE_GPU, **changes}


def fall_ill(site: Site, device: str) -> str:
    """Let one GPU look ill and its node's alert fire; returns the node."""
    node, name = device.split("/")
    number = int(name.removeprefix("gpu-"))
    site.monitoring.fire(node)
    site.monitoring.gpus[node] = {
        dra.uuid_of(node, n): 0.9 if n == number else 0.001 for n in range(3)
    }
    return node


@pytest.fixture
def gpu_site(real_site: Site) -> Site:
    """Two nodes of three published GPUs each."""
    for name in real_site.add_nodes(2):
        dra.publish(real_site, name, 3)
    dra.offer_gpus(real_site)
    return real_site


@pytest.mark.cluster
def test_only_the_pod_on_the_sick_gpu_moves_and_may_stay_on_its_node(gpu_site: Site) -> None:
    site = gpu_site
    held = dra.add_holders(site, 4)
    uid, device = next(iter(held.items()))
    sick = fall_ill(site, device)
    with site.run(policy=moving()) as running:
        eventually(lambda: is_drained(site, sick), LONG_SECONDS)
        (rule,) = dra.rules(site)
        assert rule["spec"]["deviceSelector"] == {
            "driver": dra.DRIVER,
            "pool": sick,
            "device": device.split("/")[1],
        }
        assert rule["spec"]["taint"]["effect"] == "NoSchedule"
        eventually(lambda: len(dra.devices_of(site)) == 4, LONG_SECONDS)
        now = dra.devices_of(site)
        assert set(held) - set(now) == {uid}
        assert device not in now.values()
        assert site.cordoned() == []
        assert site.our_taints(sick) == []
        assert running.metric("steps_total", decision="taint_gpu") == 1
        assert running.metric("evictions_total", outcome="accepted") == 1
        assert "AtRiskGpuTainted" in site.events(sick)
        assert "GPU-" in str(running.get(f"/api/v1/episodes/{sick}").json()["mark"]["gpu"])


@pytest.mark.cluster
def test_a_gpu_that_is_well_again_comes_back_and_leaves_nothing_behind(gpu_site: Site) -> None:
    site = gpu_site
    device = next(iter(dra.add_holders(site, 2).values()))
    sick = fall_ill(site, device)
    policy = moving(mode="exclude", release={**SOON_BACK, "probation_seconds": 0.3})
    with site.run(policy=policy) as running:
        eventually(lambda: site.mark(sick))
        assert len(dra.rules(site)) == 1
        site.monitoring.quiet(sick)
        site.monitoring.gpus.clear()
        eventually(lambda: site.mark(sick) is None and not dra.rules(site), LONG_SECONDS)
        assert site.our_taints(sick) == []
        assert running.metric("steps_total", decision="lift_gpu") == 1
        eventually(lambda: site.ledger().grants == {})


@pytest.mark.cluster
def test_a_person_who_deletes_the_rule_is_obeyed(gpu_site: Site) -> None:
    site = gpu_site
    sick = fall_ill(site, next(iter(dra.add_holders(site, 2).values())))
    with site.run(policy=moving(mode="exclude")) as running:
        (rule,) = eventually(lambda: dra.rules(site))
        eventually(lambda: site.mark(sick))
        client.CustomObjectsApi(site.api).delete_cluster_custom_object(
            dra.GROUP, dra.VERSION, "devicetaintrules", rule["metadata"]["name"]
        )
        eventually(lambda: running.reasons() == {sick: "held"})
        assert dra.rules(site) == []
        assert site.mark(sick) is None


@pytest.mark.cluster
def test_a_gpu_that_no_slice_publishes_takes_its_node_and_says_so(gpu_site: Site) -> None:
    site = gpu_site
    sick = next(iter(dra.add_holders(site, 2).values())).split("/")[0]
    site.monitoring.fire(sick)
    site.monitoring.gpus[sick] = {"GPU-unknown": 0.9}
    with site.run(policy=moving()) as running:
        eventually(lambda: site.cordoned() == [sick])
        assert dra.rules(site) == []
        eventually(lambda: running.reasons() == {sick: "gpu_unpublished"})
        assert running.metric("refusals_total", reason="gpu_unpublished") >= 1


def test_a_server_without_device_taints_takes_the_node_keeps_its_work_and_says_so(
    embedded_site: Site,
) -> None:
    site = embedded_site
    sick, *_ = site.add_nodes(3)
    site.monitoring.fire(sick)
    site.monitoring.gpus[sick] = {"GPU-1": 0.9, "GPU-2": 0.001}
    with site.run(policy=moving()) as running:
        eventually(lambda: site.cordoned() == [sick])
        eventually(lambda: running.reasons() == {sick: "no_device_taints"})
        mark = site.mark(sick)
        assert mark is not None
        assert mark["reason"].endswith("the cluster offers no DeviceTaintRule")
        (told,) = [one for one in running.log() if one.get("decision") == "exclude"]
        assert told["reason"] == "no_device_taints"


# Between the grant and the rule, between the rule and the mark, and between the mark's end and
# that of the rule.
POINTS = [
    pytest.param("POST", "/devicetaintrules", id="the-grant-is-recorded-and-nothing-is-tainted"),
    pytest.param("PATCH", "/api/v1/nodes/", id="the-gpu-is-tainted-and-no-mark-says-so"),
]


@pytest.mark.cluster
@pytest.mark.scenario
@pytest.mark.parametrize(("method", "path"), POINTS)
def test_killed_while_it_taints_the_other_replica_ends_it(
    gpu_site: Site, method: str, path: str
) -> None:
    site = gpu_site
    sick = fall_ill(site, next(iter(dra.add_holders(site, 2).values())))
    with Proxy(site.kubeconfig, _first(method, path)) as proxy:
        config = settings(site, proxy, moving(mode="exclude"))
        with Process(config) as first:
            assert proxy.held.wait(LONG_SECONDS)
            with Process(config):
                first.kill()
                eventually(lambda: site.mark(sick), LONG_SECONDS)
                assert len(dra.rules(site)) == 1
    assert len(site.ledger().breaker.window) == 1
    assert site.cordoned() == []


@pytest.mark.cluster
@pytest.mark.scenario
def test_killed_between_the_marks_end_and_the_rules_the_other_lifts_the_taint(
    gpu_site: Site,
) -> None:
    site = gpu_site
    sick = fall_ill(site, next(iter(dra.add_holders(site, 2).values())))
    policy = moving(mode="exclude", release=SOON_BACK)
    with Proxy(site.kubeconfig, _first("DELETE", "/devicetaintrules/")) as proxy:
        config = settings(site, proxy, policy)
        with Process(config) as first:
            eventually(lambda: site.mark(sick), LONG_SECONDS)
            site.monitoring.quiet(sick)
            site.monitoring.gpus.clear()
            assert proxy.held.wait(LONG_SECONDS)
            assert len(dra.rules(site)) == 1
            with Process(config):
                first.kill()
                eventually(lambda: not dra.rules(site), LONG_SECONDS)
                eventually(lambda: site.mark(sick) is None, LONG_SECONDS)


def settings(site: Site, proxy: Proxy, policy: dict[str, Any]) -> Any:
    kubeconfig = str(proxy.write_kubeconfig(site.folder / "proxied"))
    kubernetes = {"kubeconfig": kubeconfig, "namespace": site.namespace}
    return site.settings(kubernetes=kubernetes, policy=policy)


def _first(method: str, path: str) -> Any:
    seen: list[str] = []

    def fate(asked: str, where: str) -> Fate:
        if asked != method or path not in where or seen:
            return Fate.PASSES
        seen.append(where)
        return Fate.IS_HELD

    return fate
