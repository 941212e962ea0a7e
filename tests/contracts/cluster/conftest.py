"""The same questions to the embedded cluster and to the real API server."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from kubernetes import client, config

from simulator.cluster import EmbeddedCluster, Pace
from tests.contracts.cluster.asking import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True)
class Asked:
    """One cluster as a client sees it, and the way a machine joins it."""

    api: client.ApiClient
    add_node: Callable[[str, dict[str, str]], None]

    @property
    def core(self) -> client.CoreV1Api:
        return client.CoreV1Api(self.api)

    @property
    def leases(self) -> client.CoordinationV1Api:
        return client.CoordinationV1Api(self.api)

    @property
    def policy(self) -> client.PolicyV1Api:
        return client.PolicyV1Api(self.api)

    def with_token(self, token: str | None) -> client.ApiClient:
        """The same address with another token, or with none."""
        settings = client.Configuration()
        settings.host = self.api.configuration.host
        settings.ssl_ca_cert = self.api.configuration.ssl_ca_cert
        if token is not None:
            settings.api_key["authorization"] = f"Bearer {token}"
            settings.api_key["BearerToken"] = f"Bearer {token}"
        return client.ApiClient(settings)


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    path = tmp_path_factory.mktemp("embedded") / "kubeconfig"
    with EmbeddedCluster(pace=Pace(start_seconds=1.0, scale=20)) as cluster:
        cluster.write_kubeconfig(path)
        api = config.new_client_from_config(str(path))
        yield Asked(api, lambda name, labels: cluster.add_node(name, rack="r1", labels=labels))
        api.close()


@pytest.fixture(scope="session")
def real(control_plane: Any, kubelets: Any) -> Iterator[Asked]:
    api = config.new_client_from_config(str(control_plane.kubeconfig))
    yield Asked(api, lambda name, labels: kubelets.add_node(name, labels=labels))
    api.close()


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.cluster)])
def cluster(request: pytest.FixtureRequest) -> Asked:
    return request.getfixturevalue(request.param)


@pytest.fixture
def namespace(cluster: Asked) -> str:
    name = f"t-{uuid.uuid4().hex[:8]}"
    cluster.core.create_namespace({"metadata": {"name": name}})
    return name


@pytest.fixture
def node(cluster: Asked) -> str:
    """A Ready node of this test alone, without taints."""
    name = f"node-{uuid.uuid4().hex[:8]}"
    cluster.add_node(name, {"test": name})
    eventually(lambda: cluster.core.read_node(name).spec.taints is None)
    return name
