"""A dead API server: one clear line, counted, 503, and everything goes on when it is back."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.controlplane.perishable import PerishableControlPlane
from tests.remediation.proxy import Fate, Proxy
from tests.remediation.site import eventually

if TYPE_CHECKING:
    from pathlib import Path

    from tests.remediation.site import Site


def test_a_dead_api_server_is_one_line_and_a_503_in_time(embedded_site: Site) -> None:
    document = yaml.safe_load(embedded_site.kubeconfig.read_text("utf-8"))
    document["clusters"][0]["cluster"]["server"] = "http://127.0.0.1:9"
    embedded_site.kubeconfig.write_text(yaml.safe_dump(document), "utf-8")
    with embedded_site.run() as running:
        began = time.monotonic()
        answer = running.post(embedded_site.monitoring.fire("n1"))
        assert time.monotonic() - began < 1.0
        assert answer.status_code == 503
        failed = {"source": "kubernetes", "reason": "unreachable"}
        eventually(lambda: running.metric("errors_total", **failed) > 3)
        assert running.metric("webhook_posts_total", outcome="unavailable") == 1
        assert running.get("/readyz").status_code == 503
        assert running.get("/healthz").status_code == 200
        lines = [line for line in running.log() if line["event"] == "call failed"]
        assert len(lines) == 1
        assert "127.0.0.1" in lines[0]["error"]


def test_an_api_server_that_hangs_costs_alertmanager_less_than_a_second(
    embedded_site: Site,
) -> None:
    def fate(_: str, path: str) -> Fate:
        return Fate.IS_HELD if "configmaps" in path else Fate.PASSES

    with Proxy(embedded_site.kubeconfig, fate) as proxy:
        proxied = str(proxy.write_kubeconfig(embedded_site.folder / "proxied"))
        with embedded_site.run(kubernetes={"kubeconfig": proxied}) as running:
            began = time.monotonic()
            answer = running.post(embedded_site.monitoring.fire("n1"))
            assert time.monotonic() - began < 1.0
            assert answer.status_code == 503
            failed = {"source": "kubernetes", "reason": "timeout"}
            eventually(lambda: running.metric("errors_total", **failed) > 1)
            proxy.closing.set()


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("fate", "reason"),
    [
        pytest.param(Fate.IS_TURNED_AWAY, "overloaded", id="a-storm-of-429"),
        pytest.param(Fate.IS_NOT_STORED, "server_error", id="a-store-that-is-full"),
    ],
)
def test_a_server_that_takes_no_writes_is_waited_for_and_each_is_done_once(
    real_site: Site, fate: Fate, reason: str
) -> None:
    site = real_site
    sick = site.add_nodes(3)[0]
    refusing = threading.Event()

    def of(method: str, _: str) -> Fate:
        return fate if refusing.is_set() and method != "GET" else Fate.PASSES

    with Proxy(site.kubeconfig, of) as proxy:
        proxied = {"kubeconfig": str(proxy.write_kubeconfig(site.folder / "proxied"))}
        with site.run(kubernetes=proxied, lease={"duration_seconds": 600}) as running:
            eventually(lambda: running.metric("leader") and site.ledger().bucket)
            refusing.set()
            assert running.post(site.monitoring.fire(sick)).status_code == 503
            failed = {"source": "kubernetes", "reason": reason}
            eventually(lambda: running.metric("errors_total", **failed) > 3)
            assert site.cordoned() == []
            refusing.clear()
            eventually(lambda: site.cordoned() == [sick])
            eventually(lambda: running.reasons() == {sick: "still_firing"})
    assert len(site.ledger().breaker.window) == 1


@pytest.mark.cluster
@pytest.mark.usefixtures("control_plane_programs")
def test_it_goes_on_where_it_was_when_the_api_server_is_back(tmp_path: Path) -> None:
    from kubernetes import config

    from simulator.controlplane.kubelet import FakeKubelets
    from tests.remediation.monitoring import Monitoring
    from tests.remediation.site import Site

    with (
        PerishableControlPlane(tmp_path / "plane") as plane,
        FakeKubelets(plane.kubeconfig) as kubelets,
        Monitoring() as monitoring,
    ):
        api = config.new_client_from_config(str(plane.kubeconfig))
        site = Site(
            api,
            plane.kubeconfig,
            tmp_path,
            monitoring,
            lambda name, labels: kubelets.add_node(name, labels=labels),
        )
        first, second = site.add_nodes(4)[:2]
        monitoring.fire(first)
        with site.run() as running:
            eventually(lambda: site.cordoned() == [first])
            plane.kill_api_server()
            alert = monitoring.fire(second)
            eventually(lambda: running.get("/readyz").status_code == 503)
            assert running.post(alert).status_code == 503
            plane.start_api_server()
            eventually(lambda: site.cordoned() == sorted([first, second]), seconds=40)
        assert len(site.ledger().breaker.window) == 2
        api.close()
