from __future__ import annotations

import threading

from kubernetes import watch

from tests.contracts.cluster.asking import eventually, run_pod


def _read(stream, count):
    """The next `count` events as (type, name); a watch that stays silent fails by its time-out."""
    events = []
    for event in stream:
        events.append((event["type"], event["object"].metadata.name))
        if len(events) == count:
            break
    assert len(events) == count, events
    return events


def test_a_watch_from_a_listing_tells_what_came_after_it(cluster, namespace):
    core = cluster.core
    core.create_namespaced_config_map(namespace, {"metadata": {"name": "before"}})
    since = core.list_namespaced_config_map(namespace).metadata.resource_version
    core.create_namespaced_config_map(namespace, {"metadata": {"name": "ours"}})
    core.patch_namespaced_config_map("ours", namespace, {"data": {"a": "1"}})
    core.delete_namespaced_config_map("ours", namespace)
    stream = watch.Watch().stream(
        core.list_namespaced_config_map,
        namespace,
        resource_version=since,
        field_selector="metadata.name=ours",
        timeout_seconds=10,
    )
    assert _read(stream, 3) == [("ADDED", "ours"), ("MODIFIED", "ours"), ("DELETED", "ours")]


def test_a_watch_without_a_version_begins_with_what_exists(cluster, node):
    stream = watch.Watch().stream(
        cluster.core.list_node, label_selector=f"test={node}", timeout_seconds=10
    )
    assert _read(stream, 1) == [("ADDED", node)]


def test_a_change_reaches_an_open_watch_at_once(cluster, node):
    since = cluster.core.list_node().metadata.resource_version
    seen = threading.Event()

    def follow():
        for event in watch.Watch().stream(
            cluster.core.list_node,
            resource_version=since,
            label_selector=f"test={node}",
            timeout_seconds=10,
        ):
            if event["object"].spec.unschedulable:
                seen.set()
                return

    follower = threading.Thread(target=follow)
    follower.start()
    cluster.core.patch_node(node, {"spec": {"unschedulable": True}})
    assert seen.wait(5)
    follower.join()


def test_what_stops_matching_the_selector_is_deleted_for_that_watch(cluster, node):
    since = cluster.core.list_node().metadata.resource_version
    cluster.core.patch_node(node, {"metadata": {"labels": {"forewarn.dev/risk": "high"}}})
    cluster.core.patch_node(node, {"metadata": {"labels": {"forewarn.dev/risk": None}}})
    stream = watch.Watch().stream(
        cluster.core.list_node,
        resource_version=since,
        label_selector=f"forewarn.dev/risk=high,test={node}",
        timeout_seconds=10,
    )
    assert _read(stream, 2) == [("ADDED", node), ("DELETED", node)]


def test_a_watch_ends_when_its_time_is_up(cluster, namespace):
    stream = watch.Watch().stream(
        cluster.core.list_namespaced_config_map,
        namespace,
        field_selector="metadata.name=none",
        timeout_seconds=1,
    )
    assert list(stream) == []


def test_pods_of_one_node_are_found_by_field_and_by_label(cluster, namespace, node):
    run_pod(cluster, namespace, node, "one", {"job": "train"})
    run_pod(cluster, namespace, node, "two", {"job": "serve"})

    def names(**selectors):
        found = cluster.core.list_pod_for_all_namespaces(**selectors).items
        return {pod.metadata.name for pod in found if pod.metadata.namespace == namespace}

    on_node = f"spec.nodeName={node}"
    assert names(field_selector=on_node) == {"one", "two"}
    assert names(field_selector=on_node, label_selector="job=train") == {"one"}
    assert names(field_selector=on_node, label_selector="job in (train, serve)") == {"one", "two"}
    assert names(field_selector=on_node, label_selector="job,job!=train") == {"two"}
    assert names(field_selector=on_node, label_selector="job notin (train)") == {"two"}
    assert names(field_selector=on_node, label_selector="!job") == set()
    assert names(field_selector="spec.nodeName=nowhere") == set()
    assert names(field_selector=f"{on_node},status.phase!=Running") == set()


def test_nodes_are_found_by_being_schedulable(cluster, node):
    def names(selector):
        listed = cluster.core.list_node(field_selector=selector, label_selector=f"test={node}")
        return {found.metadata.name for found in listed.items}

    assert names("spec.unschedulable=false") == {node}
    cluster.core.patch_node(node, {"spec": {"unschedulable": True}})
    eventually(lambda: names("spec.unschedulable=true") == {node})


def test_a_deleted_pod_tells_the_watch_that_it_is_going_and_that_it_is_gone(
    cluster, namespace, node
):
    run_pod(cluster, namespace, node, "work")
    since = cluster.core.list_namespaced_pod(namespace).metadata.resource_version
    cluster.core.delete_namespaced_pod("work", namespace)
    stream = watch.Watch().stream(
        cluster.core.list_namespaced_pod, namespace, resource_version=since, timeout_seconds=10
    )
    types = []
    for event in stream:
        types.append(event["type"])
        if event["type"] == "DELETED":
            break
    assert types[0] == "MODIFIED"
    assert types[-1] == "DELETED"
