"""Evictions: one wave at a time, tried dry first, each bound to the pod's uid.

Answers are classified by status and causes, never by text.  The pod keeps its
own grace period, and an accepted eviction is not progress: the pod being gone is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubernetes.client.exceptions import ApiException

from remediation.kube.errors import answer, calling
from remediation.ports import CallFailed, EvictionAnswer, EvictionOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remediation.kube.connection import Connection
    from remediation.kube.errors import Answer
    from remediation.policy.facts.pod import Pod

_HARMLESS = frozenset({EvictionOutcome.ACCEPTED, EvictionOutcome.GONE, EvictionOutcome.REPLACED})

_BY_STATUS = {404: EvictionOutcome.GONE, 409: EvictionOutcome.REPLACED}
_DENIED = "denied the request"
_NO_RIGHT = 'cannot create resource "pods/eviction"'
_WORDS_CHARACTERS = 200


def evict_wave(
    connection: Connection, pods: tuple[Pod, ...], *, may_go_on: Callable[[], bool]
) -> Mapping[str, EvictionAnswer]:
    """Evict all of `pods`, or none when the dry run refuses one; answers by uid.

    `may_go_on` is asked before each call; the rest of the wave is then deferred.
    """
    tried = {pod.uid: _evict(connection, pod, dry=True, may_go_on=may_go_on) for pod in pods}
    if any(answer.outcome not in _HARMLESS for answer in tried.values()):
        return {
            uid: EvictionAnswer(EvictionOutcome.DEFERRED) if one.outcome in _HARMLESS else one
            for uid, one in tried.items()
        }
    return {pod.uid: _evict(connection, pod, dry=False, may_go_on=may_go_on) for pod in pods}


def classify(error: ApiException) -> EvictionAnswer:
    """Say what a refused eviction means."""
    told = answer(error)
    return EvictionAnswer(
        _outcome(int(error.status or 0), told),
        words=told.message[:_WORDS_CHARACTERS],
        retry_seconds=_retry_seconds(error, told),
    )


def _outcome(status: int, told: Answer) -> EvictionOutcome:
    # A spent budget is 429, one with too many evictions that nobody confirmed is 403.
    if status in {403, 429} and "DisruptionBudget" in told.causes:
        return EvictionOutcome.BUDGET
    if status == 429:
        return EvictionOutcome.OVERLOADED
    # Two budgets matching one pod is the one 500 that carries no reason.
    if status == 500 and not told.reason:
        return EvictionOutcome.MISCONFIGURED
    if status == 403 or (status == 400 and _DENIED in told.message):
        return _forbidden(told)
    return _BY_STATUS.get(status, EvictionOutcome.FAILED)


def _forbidden(told: Answer) -> EvictionOutcome:
    """Tell a missing right from an owner that asks to be left to move the pod itself.

    Both are 403 without a cause; only the authoriser names a user and a verb.
    """
    return EvictionOutcome.NOT_ALLOWED if _NO_RIGHT in told.message else EvictionOutcome.DENIED


def _retry_seconds(error: ApiException, told: Answer) -> float | None:
    if told.details is not None and told.details.retry_after_seconds > 0:
        return float(told.details.retry_after_seconds)
    header = (error.headers or {}).get("Retry-After", "")
    return float(header) if header.isdecimal() else None


def _evict(
    connection: Connection, pod: Pod, *, dry: bool, may_go_on: Callable[[], bool]
) -> EvictionAnswer:
    if not may_go_on():
        return EvictionAnswer(EvictionOutcome.DEFERRED)
    options: dict[str, Any] = {"dry_run": "All"} if dry else {}
    try:
        with calling(f"evict {pod}"):
            return _send(connection, pod, options)
    except CallFailed as failed:
        unsure = failed.may_have_happened and not dry
        return EvictionAnswer(EvictionOutcome.FAILED, str(failed), may_have_happened=unsure)


def _send(connection: Connection, pod: Pod, options: dict[str, Any]) -> EvictionAnswer:
    try:
        accepted = connection.core.create_namespaced_pod_eviction(
            name=pod.name, namespace=pod.namespace, body=_body(pod), **options, **connection.raw
        )
        accepted.drain_conn()
    except ApiException as error:
        return classify(error)
    return EvictionAnswer(EvictionOutcome.ACCEPTED)


def _body(pod: Pod) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod.name, "namespace": pod.namespace},
        "deleteOptions": {"preconditions": {"uid": pod.uid}},
    }
