"""What a PodDisruptionBudget allows, computed from the pods it covers. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from simulator.cluster.eviction import covers, is_ready

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.cluster.kinds import Obj


def with_status(budget: Obj, pods: Iterable[Obj]) -> Obj:
    """Return the budget as the disruption controller leaves it."""
    covered = [pod for pod in pods if covers(budget, pod)]
    lives = [pod for pod in covered if "deletionTimestamp" not in pod["metadata"]]
    waiting = {
        name: since
        for name, since in budget["status"].get("disruptedPods", {}).items()
        if any(pod["metadata"]["name"] == name for pod in lives)
    }
    healthy = sum(is_ready(pod) and pod["metadata"]["name"] not in waiting for pod in lives)
    desired = _desired(budget["spec"], len(lives))
    status = {
        "observedGeneration": budget["metadata"]["generation"],
        "expectedPods": len(lives),
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "disruptionsAllowed": max(0, healthy - desired),
    }
    if waiting:
        status["disruptedPods"] = waiting
    return {**budget, "status": status}


def _desired(spec: Obj, expected: int) -> int:
    if "minAvailable" in spec:
        return _amount(spec["minAvailable"], expected)
    return max(0, expected - _amount(spec.get("maxUnavailable", 0), expected))


def _amount(value: int | str, of: int) -> int:
    if isinstance(value, str):
        return math.ceil(int(value.removesuffix("%")) / 100 * of)
    return value
