"""Which node may be acted on and which pod may be moved: predicates that answer with a reason."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from remediation.policy.facts.refusal import Reason, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remediation.policy.bounds.migration import MigrationBar
    from remediation.policy.facts.node import Node
    from remediation.policy.facts.pod import Pod
    from remediation.policy.facts.snapshot import Snapshot
    from remediation.policy.facts.taint import Taint

HOSTNAME = "kubernetes.io/hostname"


def unknown(name: str, nodes: Mapping[str, Node]) -> Refusal:
    """Say that only an exact name is acted on, and which one may have been meant."""
    meant = [node.name for node in nodes.values() if _resembles(name, node)]
    hint = f"; {meant[0]} may be meant: see the relabelling" if len(meant) == 1 else ""
    return Refusal(Reason.UNKNOWN_NODE, f"the pool has no node of that name{hint}")


def _resembles(name: str, node: Node) -> bool:
    short = node.name.startswith(f"{name}.") or name.startswith(f"{node.name}.")
    return short or node.labels.get(HOSTNAME) == name


def may_act_on(node: Node, snapshot: Snapshot) -> Refusal | None:
    """Return why `node` must be left alone, or None."""
    if node.unschedulable and not node.cordon_is_ours:
        return Refusal(Reason.FOREIGN_CORDON, "somebody else cordoned the node: it is theirs")
    if node.other_drainer is not None:
        return _drained_by_another(node, node.other_drainer, snapshot)
    if not node.ready:
        return Refusal(Reason.NODE_LOST, "the node is not ready: Kubernetes moves its work itself")
    return None


def _drained_by_another(node: Node, taint: Taint, snapshot: Snapshot) -> Refusal:
    since = snapshot.ledger.strangers.get(node.name, snapshot.now)
    if snapshot.now - since <= snapshot.policy.limits.stale_drain_seconds:
        return Refusal(Reason.OTHER_DRAINER, f"{taint.key} says another owner drains it")
    moment = datetime.fromtimestamp(since, UTC).strftime("%Y-%m-%d %H:%M UTC")
    words = (
        f"{taint.key} is there since {moment}, its owner may have forgotten it: a person decides"
    )
    return Refusal(Reason.OTHER_DRAINER_STALE, words)


def drained_since(taint: Taint, now: float) -> float:
    """Return when another owner's drain began (Unix seconds), as far as its taint tells."""
    try:
        since = float(taint.value)
    except ValueError:
        return now
    return since if 0 < since < now else now


def movable(pods: Iterable[Pod], bar: MigrationBar) -> tuple[Pod, ...]:
    """Return the pods that keep the node busy: those on its GPUs that can run elsewhere.

    Mirror and DaemonSet pods stay by nature, those of a protected namespace by
    policy; finished ones have nothing to move.
    """
    return tuple(pod for pod in pods if pod.gpus and not pod.finished and not _stays(pod, bar))


def _stays(pod: Pod, bar: MigrationBar) -> bool:
    by_nature = pod.mirror or pod.owner == "DaemonSet"
    return by_nature or pod.namespace in bar.protected_namespaces


def pinned(pod: Pod, node: Node) -> bool:
    """Return whether `pod` may run on `node` only: a scheduler of gangs tied it there."""
    tied_to = pod.node_selector.get(HOSTNAME)
    return tied_to is not None and tied_to == node.labels.get(HOSTNAME, node.name)


def obstacle(pod: Pod, bar: MigrationBar) -> Refusal | None:
    """Return why `pod` must not be evicted, or None.  One obstacle stops its whole wave."""
    if pod.wish in {"never", "wait"}:
        return Refusal(Reason.POD_ASKS_TO_STAY, f"{pod} asks to stay ({pod.wish})")
    if pod.owner is None and not bar.allow_unmanaged:
        return Refusal(Reason.POD_UNMANAGED, f"{pod} has no controller: nothing would replace it")
    if pod.empty_dir and not bar.allow_empty_dir:
        return Refusal(Reason.POD_HAS_LOCAL_DATA, f"{pod} has data in an emptyDir")
    return None
