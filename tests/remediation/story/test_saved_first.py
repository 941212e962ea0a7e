"""Work is saved before it is moved: by the pod itself, by a snapshot of its volumes, or not yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubernetes import client

from tests.remediation.site import eventually
from tests.remediation.story.test_jobs_moved import LONG_SECONDS, moving
from tests.remediation.story.test_migrated import a_template, is_drained, running_on

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.remediation.site import Site

GROUP, VERSION = "snapshot.storage.k8s.io", "v1"
REQUESTED, DONE = "forewarn.dev/checkpoint-requested", "forewarn.dev/checkpoint-done"


def add_trainer(site: Site, annotations: dict[str, str], **spec: Any) -> Any:
    """One replica that asks for something before it is moved; returns its pod."""
    template = a_template(site, "train", **spec)
    template["metadata"]["annotations"] = annotations
    client.AppsV1Api(site.api).create_namespaced_replica_set(
        site.namespace,
        {
            "metadata": {"name": "train"},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": {"app": "train"}},
                "template": template,
            },
        },
    )
    eventually(lambda: len(running_on(site)) == 1)
    return the_pod(site)


def the_pod(site: Site) -> Any:
    (pod,) = site.core.list_namespaced_pod(site.namespace).items
    return pod


def note_of(site: Site, name: str) -> str | None:
    found: str | None = (the_pod(site).metadata.annotations or {}).get(name)
    return found


def test_a_pod_that_asks_for_it_saves_its_work_before_it_is_moved(site: Site) -> None:
    site.add_nodes(2)
    pod = add_trainer(site, {"forewarn.dev/checkpoint": "annotate"})
    sick = pod.spec.node_name
    # Longer than the test may take: what the pod answers must be noticed when it does.
    with site.run(policy=moving(), pace={"tick_seconds": 600}) as running:
        running.post(site.monitoring.fire(sick))
        name = eventually(lambda: note_of(site, REQUESTED))
        eventually(lambda: running.reasons() == {sick: "checkpoint_pending"})
        assert running.metric("episodes", state="checkpointing") == 1
        assert running.metric("steps_total", decision="evict") == 0
        assert site.ledger().checkpoints
        answer = {"metadata": {"annotations": {DONE: name}}}
        site.core.patch_namespaced_pod(pod.metadata.name, site.namespace, answer)
        eventually(lambda: is_drained(site, sick), LONG_SECONDS)
        assert running.metric("steps_total", decision="checkpoint") == 1
        assert site.events(sick).count("AtRiskCheckpoint") == 1


def test_a_pod_that_never_answers_stays_while_there_is_time(site: Site) -> None:
    site.add_nodes(2)
    pod = add_trainer(site, {"forewarn.dev/checkpoint": "annotate"})
    sick = pod.spec.node_name
    policy = {**moving(), "migrate": {"checkpoint_seconds": 0.5}}
    with site.run(policy=policy) as running:
        running.post(site.monitoring.fire(sick))
        eventually(lambda: running.reasons() == {sick: "checkpoint_failed"})
        assert running.metric("episodes", state="blocked") == 1
        assert the_pod(site).metadata.uid == pod.metadata.uid


def bind(site: Site, snapshot: Any, *, back_to: str, ready: bool) -> None:
    """Do the snapshot controller's part: a content that names a snapshot, and the status."""
    custom = client.CustomObjectsApi(site.api)
    name = f"content-{site.id}-{back_to[:8]}"
    content = {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "VolumeSnapshotContent",
        "metadata": {"name": name},
        "spec": {
            "deletionPolicy": "Delete",
            "driver": "csi.example.com",
            "source": {"volumeHandle": "data"},
            "volumeSnapshotRef": {
                "uid": back_to,
                "name": snapshot["metadata"]["name"],
                "namespace": site.namespace,
            },
        },
    }
    custom.create_cluster_custom_object(GROUP, VERSION, "volumesnapshotcontents", content)
    set_status(site, snapshot, {"boundVolumeSnapshotContentName": name, "readyToUse": ready})


def set_status(site: Site, snapshot: Any, status: dict[str, Any]) -> None:
    client.CustomObjectsApi(site.api).patch_namespaced_custom_object_status(
        GROUP,
        VERSION,
        site.namespace,
        "volumesnapshots",
        snapshot["metadata"]["name"],
        {"status": status},
    )


def with_volume(site: Site) -> dict[str, Any]:
    return {
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
    }


def add_claim(site: Site) -> None:
    """A volume that is there already, so that the scheduler binds the claim at once."""
    name = f"pv-{site.id}"
    size = {"storage": "1Gi"}
    site.core.create_persistent_volume(
        {
            "metadata": {"name": name},
            "spec": {
                "capacity": size,
                "accessModes": ["ReadWriteMany"],
                "storageClassName": "",
                "hostPath": {"path": "/nowhere"},
                "claimRef": {"namespace": site.namespace, "name": "data"},
            },
        }
    )
    site.core.create_namespaced_persistent_volume_claim(
        site.namespace,
        {
            "metadata": {"name": "data"},
            "spec": {
                "accessModes": ["ReadWriteMany"],
                "storageClassName": "",
                "volumeName": name,
                "resources": {"requests": size},
            },
        },
    )


def test_work_leaves_when_the_snapshot_of_its_volume_is_ready(
    site: Site, snapshots: Callable[[], list[Any]]
) -> None:
    site.add_nodes(2)
    add_claim(site)
    pod = add_trainer(site, {"forewarn.dev/snapshot": "true"}, **with_volume(site))
    sick = pod.spec.node_name
    with site.run(policy=moving()) as running:
        running.post(site.monitoring.fire(sick))
        (taken,) = eventually(snapshots)
        assert taken["spec"]["source"] == {"persistentVolumeClaimName": "data"}
        eventually(lambda: running.metric("episodes", state="snapshotting") == 1)
        set_status(site, taken, {"error": {"message": "the driver is busy"}})
        eventually(lambda: running.metric("tick_duration_seconds_count") > 5)
        bind(site, taken, back_to=taken["metadata"]["uid"], ready=True)
        eventually(lambda: is_drained(site, sick), LONG_SECONDS)
        assert len(snapshots()) == 1
        assert running.metric("steps_total", decision="snapshot") == 1


def test_a_content_that_names_another_snapshot_is_not_this_ones(
    site: Site, snapshots: Callable[[], list[Any]]
) -> None:
    site.add_nodes(2)
    add_claim(site)
    pod = add_trainer(site, {"forewarn.dev/snapshot": "true"}, **with_volume(site))
    policy = {**moving(), "migrate": {"snapshot_seconds": 2}}
    with site.run(policy=policy) as running:
        running.post(site.monitoring.fire(pod.spec.node_name))
        (taken,) = eventually(snapshots)
        bind(site, taken, back_to="somebody-elses", ready=True)
        sick = pod.spec.node_name
        eventually(lambda: running.reasons() == {sick: "snapshot_failed"})
        assert the_pod(site).metadata.uid == pod.metadata.uid
