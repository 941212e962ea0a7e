"""Evictions: one wave at a time, tried dry first, each bound to the pod's uid.

Answers are classified by status and causes, never by text.  The pod keeps its
own grace period, and an accepted eviction is not progress: the pod being gone is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubernetes.client.exceptions import ApiException

from remediation.kube.errors import answer, calling
from remediation.ports import CallFailed, EvictionOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remediation.kube.connection import Connection
    from remediation.policy.snapshot import Pod

_HARMLESS = frozenset({EvictionOutcome.ACCEPTED, EvictionOutcome.GONE, EvictionOutcome.REPLACED})


def evict_wave(
    connection: Connection, pods: tuple[Pod, ...], *, may_go_on: Callable[[], bool]
) -> Mapping[str, EvictionOutcome]:
    """Evict all of `pods`, or none when the dry run refuses one; outcomes by uid.

    `may_go_on` is asked before each call; the rest of the wave is then deferred.
    """
    tried = {pod.uid: _evict(connection, pod, dry=True, may_go_on=may_go_on) for pod in pods}
    if any(outcome not in _HARMLESS for outcome in tried.values()):
        return {
            uid: EvictionOutcome.DEFERRED if outcome in _HARMLESS else outcome
            for uid, outcome in tried.items()
        }
    return {pod.uid: _evict(connection, pod, dry=False, may_go_on=may_go_on) for pod in pods}


def classify(error: ApiException) -> EvictionOutcome:
    """Say what a refused eviction means."""
    status = int(error.status or 0)
    if status == 429:
        budget = "DisruptionBudget" in answer(error).causes
        return EvictionOutcome.BUDGET if budget else EvictionOutcome.OVERLOADED
    if status == 404:
        return EvictionOutcome.GONE
    if status == 409:
        return EvictionOutcome.REPLACED
    # Two budgets matching one pod is the one 500 that carries no reason.
    if status == 500 and not answer(error).reason:
        return EvictionOutcome.MISCONFIGURED
    return EvictionOutcome.FAILED


def _evict(
    connection: Connection, pod: Pod, *, dry: bool, may_go_on: Callable[[], bool]
) -> EvictionOutcome:
    if not may_go_on():
        return EvictionOutcome.DEFERRED
    options: dict[str, Any] = {"dry_run": "All"} if dry else {}
    try:
        with calling(f"evict {pod}"):
            return _send(connection, pod, options)
    except CallFailed:
        return EvictionOutcome.FAILED


def _send(connection: Connection, pod: Pod, options: dict[str, Any]) -> EvictionOutcome:
    try:
        accepted = connection.core.create_namespaced_pod_eviction(
            name=pod.name, namespace=pod.namespace, body=_body(pod), **options, **connection.raw
        )
        accepted.drain_conn()
    except ApiException as error:
        return classify(error)
    return EvictionOutcome.ACCEPTED


def _body(pod: Pod) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod.name, "namespace": pod.namespace},
        "deleteOptions": {"preconditions": {"uid": pod.uid}},
    }
