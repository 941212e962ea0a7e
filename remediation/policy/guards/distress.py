"""Distress: the cluster has troubles of its own, so nothing new is taken from it.

What cannot be read counts as distress.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from remediation.policy.facts.refusal import Reason, Refusal

if TYPE_CHECKING:
    from remediation.policy.bounds.distress import DistressBar
    from remediation.policy.facts.pod import Pod
    from remediation.policy.facts.snapshot import Snapshot


def distress(snapshot: Snapshot) -> Refusal | None:
    """Return the trouble that holds everything new, or None."""
    bar = snapshot.policy.distress
    found = _alerts(snapshot, bar) or _not_ready(snapshot, bar) or _pending(snapshot, bar)
    if found is None:
        return None
    return Refusal(Reason.DISTRESS, f"the cluster is in distress: {found}")


def _alerts(snapshot: Snapshot, bar: DistressBar) -> str | None:
    if not bar.alerts:
        return None
    if snapshot.evidence.distress is None:
        return "its alerts could not be read"
    firing = sorted(snapshot.evidence.distress & set(bar.alerts))
    return f"{firing[0]} fires" if firing else None


def _not_ready(snapshot: Snapshot, bar: DistressBar) -> str | None:
    lost = sum(not node.ready for node in snapshot.nodes.values())
    allowed = max(
        bar.not_ready_nodes, math.floor(len(snapshot.nodes) * bar.not_ready_percent / 100)
    )
    return f"more than {allowed} nodes are not ready" if lost > allowed else None


def _pending(snapshot: Snapshot, bar: DistressBar) -> str | None:
    waiting = sum(_waits(pod, snapshot.now, bar) for pod in snapshot.pending)
    if waiting <= bar.pending_pods:
        return None
    return f"more than {bar.pending_pods} pods wait for GPUs"


def _waits(pod: Pod, now: float, bar: DistressBar) -> bool:
    ended = pod.gated or pod.ends_at is not None
    return not ended and pod.created_at is not None and now - pod.created_at >= bar.pending_seconds
