from __future__ import annotations

import time

import pytest
from kubernetes import client, config

from simulator.cluster import EmbeddedCluster, Pace


@pytest.fixture
def cluster():
    """Two racks of three nodes; a minute of cluster time takes half a second."""
    with EmbeddedCluster(pace=Pace(scale=120)) as running:
        for number in range(6):
            running.add_node(f"n{number}", rack=f"r{number // 3}")
        yield running


@pytest.fixture
def core(cluster, tmp_path):
    cluster.write_kubeconfig(tmp_path / "kubeconfig")
    api = config.new_client_from_config(str(tmp_path / "kubeconfig"))
    yield client.CoreV1Api(api)
    api.close()


@pytest.fixture
def eventually():
    def wait(holds, seconds=5.0):
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, f"not within {seconds} s"
            time.sleep(0.01)

    return wait
