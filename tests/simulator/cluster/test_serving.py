from __future__ import annotations

import threading

import pytest
import requests
from kubernetes import client, watch
from urllib3.exceptions import HTTPError

from simulator.cluster import EmbeddedCluster


def test_a_closed_cluster_cuts_clients_that_were_connected(core, cluster):
    core.list_node()
    cluster.close()
    with pytest.raises(HTTPError):
        core.list_node(_request_timeout=(1, 1))


def test_closing_ends_an_open_watch(core, cluster):
    since = core.list_node().metadata.resource_version
    opened, ended = threading.Event(), threading.Event()

    def follow():
        try:
            for _ in watch.Watch().stream(
                core.list_node, resource_version=since, timeout_seconds=60
            ):
                opened.set()
        except HTTPError:
            pass
        ended.set()

    follower = threading.Thread(target=follow)
    follower.start()
    cluster.add_node("late", rack="r")
    assert opened.wait(20)
    cluster.close()
    assert ended.wait(20)
    follower.join()


def test_a_watch_from_before_the_history_ends_with_410_in_the_stream():
    with EmbeddedCluster(history=5) as cluster:
        for number in range(10):
            cluster.add_node(f"n{number}", rack="r")
        headers = {"Authorization": f"Bearer {cluster.token}"}
        query = {"watch": "1", "resourceVersion": "2", "timeoutSeconds": "5"}
        url = f"{cluster.url}/api/v1/nodes"
        event = requests.get(url, params=query, headers=headers, timeout=5).json()
    assert (event["type"], event["object"]["code"]) == ("ERROR", 410)


def test_a_kubeconfig_is_readable_by_its_owner_only(cluster, tmp_path):
    cluster.write_kubeconfig(tmp_path / "kubeconfig")
    assert (tmp_path / "kubeconfig").stat().st_mode & 0o777 == 0o600


def test_what_the_cluster_does_not_offer_is_refused_in_words(core):
    with pytest.raises(client.ApiException) as caught:
        core.patch_node("n0", [{"op": "add", "path": "/spec/unschedulable", "value": True}])
    assert caught.value.status == 415
    assert "application/merge-patch+json" in caught.value.body


def test_a_body_that_is_no_json_is_a_bad_request(cluster):
    url = f"{cluster.url}/api/v1/nodes"
    headers = {"Authorization": f"Bearer {cluster.token}"}
    answer = requests.post(url, data=b"{", headers=headers, timeout=5)
    assert (answer.status_code, answer.json()["reason"]) == (400, "BadRequest")
