"""The same stories on the embedded cluster and on a real control plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from kubernetes import config

from simulator.cluster import EmbeddedCluster, Pace
from tests.remediation.monitoring import Monitoring
from tests.remediation.site import Site

if TYPE_CHECKING:
    from collections.abc import Iterator
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
