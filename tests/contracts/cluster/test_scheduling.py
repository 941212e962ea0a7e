from __future__ import annotations

import uuid

import pytest

from tests.contracts.cluster.asking import eventually

AT_RISK = "forewarn.dev/at-risk"


@pytest.fixture
def pair(cluster):
    """Two equal nodes that only the pods of this test choose; the label value, and their names."""
    group = uuid.uuid4().hex[:8]
    names = tuple(f"{letter}-{group}" for letter in "ab")
    for name in names:
        cluster.add_node(name, {"group": group})
    for name in names:
        eventually(lambda name=name: cluster.core.read_node(name).spec.taints is None)
    return group, names


def _ask_for(cluster, namespace, group, gpus=8, name="pod", **spec):
    limits = {"nvidia.com/gpu": str(gpus)}
    container = {"name": "work", "image": "test", "resources": {"limits": limits}}
    document = {
        "metadata": {"name": name},
        "spec": {"nodeSelector": {"group": group}, "containers": [container], **spec},
    }
    cluster.core.create_namespaced_pod(namespace, document)


def _place(cluster, namespace, name="pod"):
    return cluster.core.read_namespaced_pod(name, namespace).spec.node_name


def _taint(cluster, node, effect):
    taint = {"key": AT_RISK, "value": "memory", "effect": effect}
    cluster.core.patch_node(node, {"spec": {"taints": [taint]}})


@pytest.mark.parametrize("effect", ["NoSchedule", "PreferNoSchedule"])
def test_new_work_goes_to_the_node_without_the_taint(cluster, namespace, pair, effect):
    group, (tainted, clean) = pair
    _taint(cluster, tainted, effect)
    _ask_for(cluster, namespace, group)
    eventually(lambda: _place(cluster, namespace))
    assert _place(cluster, namespace) == clean


def test_an_unwanted_node_is_better_than_none(cluster, namespace, pair):
    group, (tainted, cordoned) = pair
    _taint(cluster, tainted, "PreferNoSchedule")
    cluster.core.patch_node(cordoned, {"spec": {"unschedulable": True}})
    _ask_for(cluster, namespace, group)
    eventually(lambda: _place(cluster, namespace))
    assert _place(cluster, namespace) == tainted


def test_a_toleration_opens_a_tainted_node(cluster, namespace, pair):
    group, names = pair
    for name in names:
        _taint(cluster, name, "NoSchedule")
    toleration = {"key": AT_RISK, "operator": "Exists"}
    _ask_for(cluster, namespace, group, tolerations=[toleration])
    eventually(lambda: _place(cluster, namespace) in names)


def test_a_pod_waits_for_gpus_and_gets_them_when_they_are_free(cluster, namespace, pair):
    group, (first, second) = pair
    cluster.core.patch_node(second, {"spec": {"unschedulable": True}})
    _ask_for(cluster, namespace, group, gpus=6, name="early", terminationGracePeriodSeconds=0)
    eventually(lambda: _place(cluster, namespace, "early") == first)
    _ask_for(cluster, namespace, group, gpus=3, name="late")
    _ask_for(cluster, namespace, group, gpus=2, name="small")
    eventually(lambda: _place(cluster, namespace, "small") == first)
    assert _place(cluster, namespace, "late") is None
    cluster.core.delete_namespaced_pod("early", namespace)
    eventually(lambda: _place(cluster, namespace, "late") == first)
