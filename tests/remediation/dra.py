"""A cluster that hands out GPUs by dynamic resource allocation: the driver's part, by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubernetes import client

from tests.remediation.site import eventually

if TYPE_CHECKING:
    from tests.remediation.site import Site

GROUP, VERSION, DRIVER = "resource.k8s.io", "v1", "gpu.example.com"


def uuid_of(node: str, number: int) -> str:
    return f"GPU-{node}-{number}"


def publish(site: Site, node: str, gpus: int) -> None:
    """Publish the GPUs of one node, as its driver does, each with its uuid."""
    devices = [
        {"name": f"gpu-{n}", "attributes": {"uuid": {"string": uuid_of(node, n)}}}
        for n in range(gpus)
    ]
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"nodeName": node, "driver": DRIVER, "pool": pool, "devices": devices}
    _create(site, "resourceslices", "ResourceSlice", f"{node}-{site.id}", spec)


def offer_gpus(site: Site) -> None:
    """Let pods of the story claim one GPU each by the template `one-gpu`."""
    expression = f"device.driver == '{DRIVER}'"
    spec = {"selectors": [{"cel": {"expression": expression}}]}
    _create(site, "deviceclasses", "DeviceClass", f"gpu-{site.id}", spec)
    requests = [{"name": "gpu", "exactly": {"deviceClassName": f"gpu-{site.id}"}}]
    client.CustomObjectsApi(site.api).create_namespaced_custom_object(
        GROUP,
        VERSION,
        site.namespace,
        "resourceclaimtemplates",
        {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": "one-gpu"},
            "spec": {"spec": {"devices": {"requests": requests}}},
        },
    )


def add_holders(site: Site, count: int) -> dict[str, str]:
    """Run `count` replicas with one GPU each; returns the device of each pod by uid."""
    container = {"name": "work", "image": "test", "resources": {"claims": [{"name": "gpu"}]}}
    claims = [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]
    template = {
        "metadata": {"labels": {"app": "holders"}},
        "spec": {
            "nodeSelector": {"story": site.id},
            "containers": [container],
            "resourceClaims": claims,
            "terminationGracePeriodSeconds": 0,
        },
    }
    client.AppsV1Api(site.api).create_namespaced_deployment(
        site.namespace,
        {
            "metadata": {"name": "holders"},
            "spec": {
                "replicas": count,
                "selector": {"matchLabels": {"app": "holders"}},
                "template": template,
            },
        },
    )
    eventually(lambda: len(devices_of(site)) == count)
    return devices_of(site)


def devices_of(site: Site) -> dict[str, str]:
    """The device of every running pod of the story, by uid."""
    found = client.CustomObjectsApi(site.api).list_namespaced_custom_object(
        GROUP, VERSION, site.namespace, "resourceclaims"
    )["items"]
    running = {
        pod.metadata.uid
        for pod in site.core.list_namespaced_pod(site.namespace).items
        if pod.status.phase == "Running" and pod.metadata.deletion_timestamp is None
    }
    held: dict[str, str] = {}
    for claim in found:
        results = ((claim.get("status") or {}).get("allocation") or {}).get("devices") or {}
        for consumer in (claim.get("status") or {}).get("reservedFor") or ():
            for one in results.get("results") or ():
                held[consumer["uid"]] = f"{one['pool']}/{one['device']}"
    return {uid: device for uid, device in held.items() if uid in running}


def rules(site: Site) -> list[dict[str, Any]]:
    """The device taint rules of the story's nodes."""
    found = client.CustomObjectsApi(site.api).list_cluster_custom_object(
        GROUP, VERSION, "devicetaintrules"
    )["items"]
    return [one for one in found if site.id in one["metadata"]["name"]]


def _create(site: Site, plural: str, kind: str, name: str, spec: dict[str, Any]) -> None:
    body = {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }
    client.CustomObjectsApi(site.api).create_cluster_custom_object(GROUP, VERSION, plural, body)
