"""Which node may be acted on and which pod may be moved: predicates that answer with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remediation.policy.refusal import Reason, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remediation.policy.limits import MigrationBar
    from remediation.policy.snapshot import Node, Pod


def may_act_on(node: Node) -> Refusal | None:
    """Return why `node` must be left alone, or None."""
    if node.unschedulable and not node.cordon_is_ours:
        return Refusal(Reason.FOREIGN_CORDON, "somebody else cordoned the node: it is theirs")
    if node.other_drainer is not None:
        return Refusal(Reason.OTHER_DRAINER, f"{node.other_drainer} says another owner drains it")
    if not node.ready:
        return Refusal(Reason.NODE_LOST, "the node is not ready: Kubernetes moves its work itself")
    return None


def movable(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """Return the pods that keep the node busy: those on its GPUs that can run elsewhere.

    Mirror and DaemonSet pods stay by nature, finished ones have nothing to move.
    """
    return tuple(
        pod
        for pod in pods
        if pod.gpus and not pod.finished and not pod.mirror and pod.owner != "DaemonSet"
    )


def obstacle(pod: Pod, bar: MigrationBar) -> Refusal | None:
    """Return why `pod` must not be evicted, or None.  One obstacle stops its whole wave."""
    if pod.namespace in bar.protected_namespaces:
        return Refusal(Reason.POD_ASKS_TO_STAY, f"{pod} is in a protected namespace")
    if pod.wish in {"never", "wait"}:
        return Refusal(Reason.POD_ASKS_TO_STAY, f"{pod} asks to stay ({pod.wish})")
    if pod.owner is None and not bar.allow_unmanaged:
        return Refusal(Reason.POD_UNMANAGED, f"{pod} has no controller: nothing would replace it")
    if pod.empty_dir and not bar.allow_empty_dir:
        return Refusal(Reason.POD_HAS_LOCAL_DATA, f"{pod} has data in an emptyDir")
    return None
