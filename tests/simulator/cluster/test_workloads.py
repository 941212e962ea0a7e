from __future__ import annotations

import time

from kubernetes import client


def _evict_from(core, node):
    selector = f"spec.nodeName={node}"
    for pod in core.list_namespaced_pod("default", field_selector=selector).items:
        body = {"metadata": {"name": pod.metadata.name}}
        core.create_namespaced_pod_eviction(pod.metadata.name, "default", body)


def _names_on(core, node):
    pods = core.list_namespaced_pod("default", field_selector=f"spec.nodeName={node}").items
    return {pod.metadata.name for pod in pods}


def _add_replicas(core, name, replicas, gpus):
    labels = {"app": name}
    limits = {"nvidia.com/gpu": str(gpus)}
    container = {"name": "work", "image": "test", "resources": {"limits": limits}}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    client.AppsV1Api(core.api_client).create_namespaced_replica_set(
        "default", {"metadata": {"name": name}, "spec": spec}
    )


def _tell_ready(core, node, status):
    """Say what the node's kubelet, or in its silence the cluster, says of it."""
    condition = {"type": "Ready", "status": status}
    core.patch_node_status(node, {"status": {"conditions": [condition]}})


def test_a_gang_runs_on_as_many_nodes_as_it_asked_for(cluster, eventually):
    cluster.add_gang_job("train", nodes=4)
    eventually(lambda: len(cluster.nodes_of("default/train")) == 4)
    assert len(set(cluster.nodes_of("default/train"))) == 4
    assert cluster.moves() == ()


def test_work_evicted_from_a_cordoned_node_runs_elsewhere_and_is_told_as_a_move(
    cluster, core, eventually
):
    cluster.add_gang_job("train", nodes=3)
    eventually(lambda: len(cluster.nodes_of("default/train")) == 3)
    core.patch_node("n1", {"spec": {"unschedulable": True}})
    _evict_from(core, "n1")
    eventually(lambda: len(cluster.moves()) == 1)
    (move,) = cluster.moves()
    assert (move.workload, move.source) == ("default/train", "n1")
    assert move.target in {"n3", "n4", "n5"}
    assert "n1" not in cluster.nodes_of("default/train")


def test_pods_name_their_owner_and_their_place_in_it(cluster, core, eventually):
    cluster.add_gang_job("train", nodes=2, annotations={"forewarn.dev/checkpoint": "annotate"})
    eventually(lambda: len(cluster.nodes_of("default/train")) == 2)
    pods = core.list_namespaced_pod("default", label_selector="job-name=train").items
    index = "batch.kubernetes.io/job-completion-index"
    assert {pod.metadata.labels[index] for pod in pods} == {"0", "1"}
    assert {pod.metadata.owner_references[0].kind for pod in pods} == {"Job"}
    assert pods[0].metadata.annotations == {"forewarn.dev/checkpoint": "annotate"}


def test_replicas_share_nodes_as_their_gpus_allow(cluster, core, eventually):
    _add_replicas(core, "serve", 9, 4)
    eventually(lambda: len(cluster.nodes_of("default/serve")) == 9)
    nodes = cluster.nodes_of("default/serve")
    assert max(nodes.count(name) for name in nodes) == 2


def test_an_evicted_pod_keeps_its_gpus_for_its_grace(cluster, core, eventually):
    cluster.add_gang_job("train", nodes=6, grace_seconds=60)
    eventually(lambda: len(cluster.nodes_of("default/train")) == 6)
    (before,) = core.list_namespaced_pod("default", field_selector="spec.nodeName=n0").items
    asked = time.monotonic()
    _evict_from(core, "n0")
    # The old pod itself must go: until it does, the six are the old six.
    eventually(lambda: before.metadata.name not in _names_on(core, "n0"))
    assert time.monotonic() - asked >= 60 / 120
    eventually(lambda: len(cluster.nodes_of("default/train")) == 6)
    assert cluster.moves() == ()


def test_a_node_that_fell_silent_acknowledges_nothing_and_gets_nothing_new(
    cluster, core, eventually
):
    cluster.add_gang_job("train", nodes=2)
    eventually(lambda: len(cluster.nodes_of("default/train")) == 2)
    _tell_ready(core, "n0", "Unknown")
    _evict_from(core, "n0")
    eventually(lambda: len(cluster.moves()) == 1)
    (left,) = core.list_namespaced_pod("default", field_selector="spec.nodeName=n0").items
    assert left.metadata.deletion_timestamp is not None
    assert {t.key for t in core.read_node("n0").spec.taints} == {"node.kubernetes.io/unreachable"}
    _tell_ready(core, "n0", "True")
    eventually(
        lambda: not core.list_namespaced_pod("default", field_selector="spec.nodeName=n0").items
    )
    eventually(lambda: core.read_node("n0").spec.taints is None)
