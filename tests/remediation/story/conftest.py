"""The same stories on the embedded cluster and on a real control plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from kubernetes import client, config

from simulator.cluster import EmbeddedCluster, Pace
from tests.controlplane.definitions import define
from tests.remediation.monitoring import Monitoring
from tests.remediation.site import Site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def embedded_site(tmp_path: Path) -> Iterator[Site]:
    kubeconfig = tmp_path / "kubeconfig"
    with EmbeddedCluster(pace=Pace(start_seconds=1.0, scale=20)) as cluster, Monitoring() as seen:
        cluster.write_kubeconfig(kubeconfig)
        api = config.new_client_from_config(str(kubeconfig))
        yield Site(
            api,
            kubeconfig,
            tmp_path,
            seen,
            lambda name, labels: cluster.add_node(name, rack="r1", labels=labels),
        )
        api.close()


@pytest.fixture
def real_site(control_plane: Any, kubelets: Any, tmp_path: Path) -> Iterator[Site]:
    with Monitoring() as seen:
        api = config.new_client_from_config(str(control_plane.kubeconfig))
        yield Site(
            api,
            control_plane.kubeconfig,
            tmp_path,
            seen,
            lambda name, labels: kubelets.add_node(name, labels=labels),
        )
        api.close()


@pytest.fixture(params=["embedded_site", pytest.param("real_site", marks=pytest.mark.cluster)])
def site(request: pytest.FixtureRequest) -> Site:
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Site)
    return found


@pytest.fixture
def snapshots(request: pytest.FixtureRequest, site: Site) -> Callable[[], list[Any]]:
    """Let the cluster know volume snapshots; returns how to list those of the story."""
    if "control_plane" in request.fixturenames or "real" in str(request.node.callspec.id):
        define(site.api, "snapshots")
    custom = client.CustomObjectsApi(site.api)

    def found() -> list[Any]:
        listed = custom.list_namespaced_custom_object(
            "snapshot.storage.k8s.io", "v1", site.namespace, "volumesnapshots"
        )
        items: list[Any] = listed["items"]
        return items

    return found
