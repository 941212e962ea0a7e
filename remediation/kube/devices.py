"""GPUs as devices: read from slices and claims, tainted by rule, found again by the rule.

The rule is owned by its node, so that it goes when the node is deleted, and
carries the mark of its episode, as everything of ours does from the first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from remediation.kube import nodes, wire, wire_devices
from remediation.kube.errors import calling
from remediation.kube.observe import read_node
from remediation.kube.slices import read_slices
from remediation.policy.facts.device import Devices, Rule
from remediation.policy.facts.mark import EPISODE_ANNOTATION, encode_mark
from remediation.policy.facts.node import FIELD_MANAGER, RISK_TAINT
from remediation.ports import CallFailed, Conflict, FailureReason

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from daemon.clocks import Clock
    from remediation.kube.connection import Connection
    from remediation.kube.discovery import Discovery, Offered
    from remediation.policy.facts.device import Device, Place
    from remediation.policy.facts.node import Node
    from remediation.policy.facts.pod import Pod
    from remediation.policy.steps import LiftGpu, TaintGpu

_GROUP = "resource.k8s.io"
_OURS = f"app.kubernetes.io/managed-by={FIELD_MANAGER}"
# What a slot holds changes when a machine is opened; what a pod holds, never.
_KEPT_SECONDS = 60.0
# A storm of suspects must not become a storm of questions: the others wait for the next tick.
_NODES_A_TICK = 20
_NAME_CHARACTERS = 200
_PAGES = msgspec.json.Decoder(wire.Page)
_SLICES = msgspec.json.Decoder(wire_devices.ResourceSlice)
_RULES = msgspec.json.Decoder(wire_devices.DeviceTaintRule)
_CLAIMS = msgspec.json.Decoder(wire_devices.ResourceClaim)


class Gpus:
    """What the cluster says of its GPUs, and the taints of ours on them."""

    def __init__(self, connection: Connection, discovery: Discovery, clock: Clock) -> None:
        self._connection = connection
        self._discovery = discovery
        self._clock = clock
        self._swept = False
        self._slices: dict[str, tuple[float, tuple[Device, ...], frozenset[str]]] = {}
        self._held: dict[str, frozenset[Place]] = {}

    def read(self, names: frozenset[str], pods: tuple[Pod, ...], *, in_use: bool) -> Devices:
        """Return what is known; see `remediation.ports.Cluster.devices`."""
        if self._swept and not in_use:
            return Devices()
        try:
            return self._read(names, pods)
        except CallFailed as failed:
            # Who never used this may run without the rights for it.
            if in_use or failed.reason is not FailureReason.FORBIDDEN:
                raise
            self._swept = True
            return Devices()

    def _read(self, names: frozenset[str], pods: tuple[Pod, ...]) -> Devices:
        offered = self._discovery.plurals(_GROUP)
        taints, slices = offered.get("devicetaintrules"), offered.get("resourceslices")
        if taints is None or slices is None:
            self._swept = True
            return Devices(offered=False)
        rules = self._rules(taints)
        # Once nothing of ours is left, a site that does not use this is not asked any more.
        self._swept = not rules
        known = self._published(names, slices)
        return Devices(
            offered=True,
            published={name: found for name, (_, found, _) in known.items()},
            parts=frozenset(uuid for _, _, parts in known.values() for uuid in parts),
            rules=rules,
            held=self._held_by(pods, offered.get("resourceclaims")),
        )

    def taint(self, step: TaintGpu) -> None:
        """Create the rule, or find that it is there."""
        kind = self._kind()
        name = rule_name(step.node, step.device)
        try:
            with calling(f"create device taint rule {name}"):
                self._connection.custom.create_cluster_custom_object(
                    group="resource.k8s.io",
                    version=kind.version,
                    plural="devicetaintrules",
                    body=_body(name, step, kind.version),
                    field_manager=FIELD_MANAGER,
                    **self._connection.limits,
                )
        except Conflict:
            there = next((rule for rule in self._rules(kind) if rule.name == name), None)
            if there is None:
                message = f"device taint rule {name} is there and not ours"
                raise CallFailed(message, FailureReason.UNEXPECTED_ANSWER) from None
            if (there.place, there.node_uid) != (step.device.place, step.node.uid):
                raise  # a left-over: it goes first
        self._swept = False

    def lift(self, step: LiftGpu) -> None:
        """Delete the rule, if it is still the one that was read and no mark speaks for it."""
        self._must_be_left_over(step)
        kind, rule = self._kind(), step.rule
        try:
            with calling(f"delete device taint rule {rule.name}"):
                self._connection.custom.delete_cluster_custom_object(
                    group="resource.k8s.io",
                    version=kind.version,
                    plural="devicetaintrules",
                    name=rule.name,
                    body={"preconditions": {"uid": rule.uid}},
                    **self._connection.limits,
                )
        except CallFailed as failed:
            if failed.reason is not FailureReason.NOT_FOUND:
                raise

    def _must_be_left_over(self, step: LiftGpu) -> None:
        """Look at the node itself: the mark that speaks for the rule may be newer than our view."""
        document = nodes.read(self._connection, step.node.name)
        if document is None:
            return
        node = read_node(document)[1].value
        gpu = node.mark.gpu if node.mark is not None and node.mark.taints_gpu else None
        speaks = gpu is not None and gpu.place == step.rule.place and node.uid == step.rule.node_uid
        if speaks or node.mark_fault is not None:
            raise Conflict(f"node {node.name} was marked meanwhile")

    def _kind(self) -> Offered:
        kind = self._discovery.plurals(_GROUP).get("devicetaintrules")
        if kind is None:
            message = "the cluster offers no DeviceTaintRule any more"
            raise CallFailed(message, FailureReason.NOT_FOUND)
        return kind

    def _rules(self, kind: Offered) -> tuple[Rule, ...]:
        with calling("list device taint rules"):
            answer = self._connection.custom.list_cluster_custom_object(
                group="resource.k8s.io",
                version=kind.version,
                plural="devicetaintrules",
                label_selector=_OURS,
                **self._connection.raw,
            )
            found = [_RULES.decode(item) for item in _PAGES.decode(answer.data).items or ()]
        return tuple(rule for one in found if (rule := _rule(one)) is not None)

    def _published(
        self, names: Iterable[str], kind: Offered
    ) -> Mapping[str, tuple[float, tuple[Device, ...], frozenset[str]]]:
        now = self._clock.monotonic()
        fresh = {n: known for n, known in self._slices.items() if now - known[0] < _KEPT_SECONDS}
        for name in sorted(frozenset(names) - frozenset(fresh))[:_NODES_A_TICK]:
            fresh[name] = now, *self._devices_of(name, kind)
        self._slices = fresh
        return {name: fresh[name] for name in names if name in fresh}

    def _devices_of(self, name: str, kind: Offered) -> tuple[tuple[Device, ...], frozenset[str]]:
        with calling(f"list resource slices of {name}"):
            answer = self._connection.custom.list_cluster_custom_object(
                group="resource.k8s.io",
                version=kind.version,
                plural="resourceslices",
                field_selector=f"spec.nodeName={name}",
                **self._connection.raw,
            )
            slices = [_SLICES.decode(item).spec for item in _PAGES.decode(answer.data).items or ()]
        return read_slices(slices)

    def _held_by(
        self, pods: tuple[Pod, ...], kind: Offered | None
    ) -> Mapping[str, frozenset[Place]]:
        asked = [pod for pod in pods if pod.demand.devices]
        self._held = {pod.uid: self._held[pod.uid] for pod in asked if pod.uid in self._held}
        for pod in asked if kind is not None else ():
            if pod.uid not in self._held:
                places = self._places(pod, kind.version) if kind is not None else None
                if places is not None:
                    self._held[pod.uid] = places
        return dict(self._held)

    def _places(self, pod: Pod, version: str) -> frozenset[Place] | None:
        """Return the devices of one pod, None while a claim of it has not been made or filled."""
        found: set[Place] = set()
        for claim in pod.device_claims:
            allocation = self._allocation(pod.namespace, claim, version)
            if allocation is None:
                return None
            found |= {
                (one.driver, one.pool, one.device)
                for one in allocation.devices.results or ()
                if not one.admin_access
            }
        return frozenset(found) if pod.device_claims else None

    def _allocation(
        self, namespace: str, claim: str, version: str
    ) -> wire_devices.Allocation | None:
        try:
            with calling(f"read resource claim {namespace}/{claim}"):
                answer = self._connection.custom.get_namespaced_custom_object(
                    group="resource.k8s.io",
                    version=version,
                    namespace=namespace,
                    plural="resourceclaims",
                    name=claim,
                    **self._connection.raw,
                )
                return _CLAIMS.decode(answer.data).status.allocation
        except CallFailed as failed:
            if failed.reason is FailureReason.NOT_FOUND:
                return None
            raise


def rule_name(node: Node, device: Device) -> str:
    """Return the name that the rule of one device of one node always has."""
    plain = re.sub(r"[^a-z0-9.-]+", "-", f"forewarn-{node.name}-{device.name}".lower())
    return plain[:_NAME_CHARACTERS].strip("-.")


def _rule(found: wire_devices.DeviceTaintRule) -> Rule | None:
    """Return one rule of ours; one that names no node or no single device is nothing we wrote."""
    owners = found.metadata.owner_references or ()
    owner = next((one for one in owners if one.kind == "Node"), None)
    chosen = found.spec.device_selector
    if owner is None or chosen is None:
        return None
    return Rule(
        name=found.metadata.name,
        uid=found.metadata.uid,
        node=owner.name,
        node_uid=owner.uid,
        place=(chosen.driver, chosen.pool, chosen.device),
    )


def _body(name: str, step: TaintGpu, version: str) -> dict[str, Any]:
    device, node, mark = step.device, step.node, step.write.mark
    if mark is None or not all(device.place):
        # To the server a selector that names nothing means every device there is.
        raise CallFailed(f"{device} has no place of its own", FailureReason.BAD_CONTENT)
    return {
        "apiVersion": f"{_GROUP}/{version}",
        "kind": "DeviceTaintRule",
        "metadata": {
            "name": name,
            "labels": {"app.kubernetes.io/managed-by": FIELD_MANAGER},
            "annotations": {EPISODE_ANNOTATION: encode_mark(mark)},
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": node.uid}
            ],
        },
        "spec": {
            "deviceSelector": {
                "driver": device.driver,
                "pool": device.pool,
                "device": device.name,
            },
            # Running work is not ended by the taint: it leaves by eviction, with its budgets.
            "taint": {"key": RISK_TAINT, "value": "gpu", "effect": "NoSchedule"},
        },
    }
