"""Whether a pod may be evicted now: the answers of the Eviction API. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.cluster.refusals import Refused
from simulator.cluster.selectors import matches_selector

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.cluster.kinds import Obj

_OUTSIDE_BUDGETS = ("Pending", "Succeeded", "Failed")


def budget_to_charge(pod: Obj, budgets: Iterable[Obj]) -> Obj | None:
    """Return the budget that pays for this eviction, or None when none needs to.

    Refuses with 429 and the cause DisruptionBudget when it cannot pay, and
    with 500, without a reason, when two budgets claim the pod.
    """
    if "deletionTimestamp" in pod["metadata"] or pod["status"]["phase"] in _OUTSIDE_BUDGETS:
        return None
    claims = [budget for budget in budgets if covers(budget, pod)]
    if not claims:
        return None
    if len(claims) > 1:
        message = (
            "This pod has more than one PodDisruptionBudget, which the eviction subresource"
            " does not support."
        )
        raise Refused(500, "", message)
    budget = claims[0]
    if not is_ready(pod) and _unhealthy_may_go(budget):
        return None
    _check_allowance(budget)
    return budget


def charged(budget: Obj, pod: Obj, now: str) -> Obj:
    """Return the budget with one allowed disruption fewer."""
    status = budget["status"]
    disrupted = {**status.get("disruptedPods", {}), pod["metadata"]["name"]: now}
    left = {"disruptionsAllowed": status["disruptionsAllowed"] - 1, "disruptedPods": disrupted}
    return {**budget, "status": {**status, **left}}


def marked(pod: Obj, now: str) -> Obj:
    """Return the pod with the condition that says why it goes; a terminating pod as it is."""
    if "deletionTimestamp" in pod["metadata"]:
        return pod
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
        "lastTransitionTime": now,
    }
    kept = [c for c in pod["status"].get("conditions") or [] if c["type"] != "DisruptionTarget"]
    return {**pod, "status": {**pod["status"], "conditions": [*kept, condition]}}


def covers(budget: Obj, pod: Obj) -> bool:
    """Tell whether the budget's selector takes in the pod."""
    if budget["metadata"]["namespace"] != pod["metadata"]["namespace"]:
        return False
    return matches_selector(budget["spec"].get("selector"), pod["metadata"].get("labels") or {})


def is_ready(pod: Obj) -> bool:
    """Read the pod's Ready condition; absent is not ready."""
    conditions = pod["status"].get("conditions") or []
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def _unhealthy_may_go(budget: Obj) -> bool:
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget["status"]
    return bool(status) and status["currentHealthy"] >= status["desiredHealthy"] > 0


def _check_allowance(budget: Obj) -> None:
    name = budget["metadata"]["name"]
    status = budget["status"]
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 1):
        why = f"The disruption budget {name} is still being processed by the server."
        raise _too_many(why, retry_after_seconds=10)
    if status["disruptionsAllowed"] < 1:
        why = (
            f"The disruption budget {name} needs {status['desiredHealthy']} healthy pods"
            f" and has {status['currentHealthy']} currently"
        )
        raise _too_many(why)


def _too_many(why: str, retry_after_seconds: int | None = None) -> Refused:
    details: Obj = {"causes": [{"reason": "DisruptionBudget", "message": why}]}
    if retry_after_seconds is not None:
        details["retryAfterSeconds"] = retry_after_seconds
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    return Refused(429, "TooManyRequests", message, details)
