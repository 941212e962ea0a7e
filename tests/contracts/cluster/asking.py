"""Short forms of the questions that these contracts ask again and again."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from kubernetes import client

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Refusal:
    """What of a refusal a client may build on."""

    code: int
    reason: str | None
    causes: tuple[str, ...]
    retry_after: str | None


def refusal(call: Callable[..., object], *arguments: Any, **options: Any) -> Refusal:
    """Make a call that must be refused, and return how."""
    with pytest.raises(client.ApiException) as caught:
        call(*arguments, **options)
    body = json.loads(caught.value.body)
    causes = (body.get("details") or {}).get("causes") or ()
    return Refusal(
        caught.value.status,
        body.get("reason"),
        tuple(cause["reason"] for cause in causes),
        caught.value.headers.get("Retry-After"),
    )


def eventually(holds: Callable[[], object], seconds: float = 15.0) -> None:
    """Wait until it holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.02)


def run_pod(
    cluster: Any, namespace: str, node: str, name: str, labels: Mapping[str, str] | None = None,
    **metadata: Any,
) -> Any:  # fmt: skip
    """Create a pod on the node and wait until it is Ready."""
    container = {"name": "work", "image": "test"}
    document = {
        "metadata": {"name": name, "labels": dict(labels or {}), **metadata},
        "spec": {"nodeName": node, "containers": [container], "terminationGracePeriodSeconds": 1},
    }
    cluster.core.create_namespaced_pod(namespace, document)
    eventually(lambda: is_ready(cluster.core.read_namespaced_pod(name, namespace)))
    return cluster.core.read_namespaced_pod(name, namespace)


def is_ready(pod: Any) -> bool:
    return any(c.type == "Ready" and c.status == "True" for c in pod.status.conditions or ())


def is_gone(cluster: Any, namespace: str, name: str) -> bool:
    try:
        cluster.core.read_namespaced_pod(name, namespace)
    except client.ApiException as error:
        assert error.status == 404, error
        return True
    return False


def evict(cluster: Any, pod: Any, *, uid: str | None = None, **options: Any) -> None:
    """Ask for an eviction; `options` are delete options."""
    preconditions = client.V1Preconditions(uid=uid) if uid else None
    body = client.V1Eviction(
        metadata=client.V1ObjectMeta(name=pod.metadata.name),
        delete_options=client.V1DeleteOptions(preconditions=preconditions, **options),
    )
    cluster.core.create_namespaced_pod_eviction(pod.metadata.name, pod.metadata.namespace, body)
