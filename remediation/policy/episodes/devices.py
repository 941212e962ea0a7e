"""One sick GPU instead of its node: which it is, whether its taint is there, what runs on it.

Where the cluster hands out GPUs by dynamic resource allocation, a taint on the
one device keeps new work off it and leaves the others of its node in service.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remediation.policy.bounds.limits import Rung
from remediation.policy.episodes.justify import wanted
from remediation.policy.facts.refusal import Reason, Refusal
from remediation.policy.guards.eligibility import movable
from remediation.policy.guards.evidence import judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remediation.policy.bounds.limits import Policy
    from remediation.policy.episodes.episode import Episode
    from remediation.policy.facts.device import Device, Devices, Rule
    from remediation.policy.facts.ledger import Ledger, Suspect
    from remediation.policy.facts.node import Node
    from remediation.policy.facts.pod import Pod
    from remediation.policy.facts.snapshot import Snapshot

UNREADABLE = Refusal(
    Reason.DEVICES_UNREADABLE, "what the cluster says of its GPUs could not be read"
)
_NOT_OFFERED = Refusal(Reason.NO_DEVICE_TAINTS, "the cluster offers no DeviceTaintRule")


def concerned(nodes: Mapping[str, Node], ledger: Ledger, policy: Policy) -> frozenset[str]:
    """Return the nodes whose devices decide anything now."""
    causes = policy.gpu.causes
    asked = {one.node for one in ledger.suspects.values() if one.cause in causes}
    marked = {name for name, node in nodes.items() if node.mark is not None and node.mark.gpu}
    return frozenset((asked & set(nodes)) | marked)


def target(episode: Episode, snapshot: Snapshot) -> Device | Refusal | None:
    """Return the one GPU that is to be tainted instead of the node.

    A refusal says why the whole node must do, or `UNREADABLE`; None that nothing
    asks for a GPU.  All that holds about the node and asks for more than a soft taint must be
    explained by that GPU; what another cause asks for concerns the node.
    """
    node, policy = episode.node, snapshot.policy
    if node is None or not policy.gpu.causes:
        return None
    bar = policy.evidence
    holding = [
        suspect
        for key, suspect in episode.suspects
        if wanted(suspect, snapshot) > Rung.SOFTEN
        and judge(suspect, key, snapshot.evidence, bar) is None
    ]
    if not holding or any(suspect.cause not in policy.gpu.causes for suspect in holding):
        return None
    if snapshot.devices.offered is False:
        return _NOT_OFFERED
    sick = {_culprit(suspect, snapshot) for suspect in holding}
    uuid = next(iter(sick)) if len(sick) == 1 else None
    if uuid is None:
        words = f"no single GPU explains it: of {node.name} several or none look ill"
        return Refusal(Reason.NO_SINGLE_GPU, words)
    return _published(node, uuid, snapshot)


def _culprit(suspect: Suspect, snapshot: Snapshot) -> str | None:
    """Return the uuid of the one GPU behind an alert, None when it is not only one."""
    prediction = (snapshot.evidence.predictions or {}).get(suspect.node)
    if prediction is None:
        return None
    least = snapshot.policy.evidence.probability(suspect.severity)
    found = {
        uuid: value
        for (horizon, uuid), value in prediction.gpus.items()
        if horizon == suspect.horizon
    }
    if suspect.uuid:
        named = found.get(suspect.uuid)
        return suspect.uuid if named is not None and named >= least else None
    sick = [uuid for uuid, value in found.items() if value is None or value >= least]
    well = snapshot.policy.gpu.others_below
    others = all(value is not None and value < well for u, value in found.items() if u not in sick)
    return sick[0] if len(sick) == 1 and others and found[sick[0]] is not None else None


def _published(node: Node, uuid: str, snapshot: Snapshot) -> Device | Refusal:
    devices = snapshot.devices
    listed = devices.published.get(node.name)
    if devices.offered is None or listed is None or devices.rules is None:
        return UNREADABLE
    found = [one for one in listed if one.uuid == uuid]
    if len(found) != 1 or uuid in devices.parts:
        how = "in parts" if found or uuid in devices.parts else "not"
        return Refusal(Reason.GPU_UNPUBLISHED, f"GPU {uuid} is {how} published as a device")
    for pod in movable(snapshot.pods.get(node.name, ()), snapshot.policy.migrate):
        if not pod.demand.devices:
            words = f"{pod} uses GPUs that no claim names: a device taint would not tell which"
            return Refusal(Reason.GPU_UNPUBLISHED, words)
        if pod.uid not in devices.held:
            return UNREADABLE
    return found[0]


def busy(pods: Iterable[Pod], device: Device, devices: Devices) -> tuple[Pod, ...] | Refusal:
    """Return which of `pods` hold `device`, or that it could not be told."""
    pods = tuple(pods)
    if any(pod.demand.devices and pod.uid not in devices.held for pod in pods):
        return UNREADABLE
    return tuple(pod for pod in pods if device.place in devices.held.get(pod.uid, ()))


def stays_home(pods: Iterable[Pod], node: Node, device: Device, devices: Devices) -> frozenset[str]:
    """Return the uids of those of `pods` that other free GPUs of their own node can take.

    They leave `device` of `node`; what else they need is there already.
    """
    listed = devices.published.get(node.name, ())
    taken = {place for places in devices.held.values() for place in places}
    free = sum(
        one.driver == device.driver and one.place not in {*taken, device.place} for one in listed
    )
    home: set[str] = set()
    for pod in pods:
        held = devices.held.get(pod.uid, frozenset())
        if not held or any(driver != device.driver for driver, _, _ in held):
            continue
        # It brings its other devices back, and needs as many as it had.
        if free >= 1:
            free -= 1
            home.add(pod.uid)
    return frozenset(home)


def orphans(snapshot: Snapshot, ledger: Ledger) -> frozenset[str]:
    """Return the nodes of the pool with a taint of ours on a GPU that nothing speaks for any more.

    A crash, a release and a person who takes the node leave such a taint; a
    node outside the pool is not ours to judge, and one that is deleted takes
    its rules along.
    """
    named = {rule.node for rule in snapshot.devices.rules or ()}
    return frozenset(
        name
        for name in named
        if (node := snapshot.nodes.get(name)) is not None
        and left_over(node, snapshot, ledger) is not None
    )


def left_over(node: Node, snapshot: Snapshot, ledger: Ledger) -> Rule | None:
    """Return a taint on a GPU of `node` that neither its mark nor a pending grant speaks for."""
    if node.mark_fault is not None:
        return None  # somebody has to read the mark first
    grant = ledger.grants.get(node.name)
    pending = grant.gpu.place if grant is not None and grant.gpu and not grant.applied else None
    marked = node.mark.gpu.place if node.mark and node.mark.gpu and node.mark.taints_gpu else None
    for rule in snapshot.devices.rules or ():
        if rule.node != node.name:
            continue
        if rule.node_uid != node.uid or rule.place not in {pending, marked}:
            return rule
    return None


def taken_off(node: Node, devices: Devices) -> bool:
    """Return whether somebody took our taint off the GPU that the node's mark names."""
    mark = node.mark
    if mark is None or mark.gpu is None or not mark.taints_gpu or devices.rules is None:
        return False
    return all((rule.node, rule.place) != (node.name, mark.gpu.place) for rule in devices.rules)
