"""The floor: nodes that can take work, what is free on each, and who is there already."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remediation.policy.demand import any_holds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remediation.policy.demand import Company, Demand
    from remediation.policy.snapshot import Node, Pod, Snapshot

# How the name of a node is spelled in the fields that a pod may choose by.
NAME_FIELD = "metadata.name"
_PODS = "pods"
_EPSILON = 1e-6


@dataclass(slots=True)
class _Spot:
    """One node: what is free there, and its pods."""

    node: Node
    free: dict[str, float]
    pods: list[Pod] = field(default_factory=list)

    def copy(self) -> _Spot:
        return _Spot(self.node, dict(self.free), list(self.pods))

    def add(self, pod: Pod) -> None:
        for key, asked in pod.demand.requests.items():
            self.free[key] = self.free.get(key, 0.0) - asked
        if _PODS in self.free:
            self.free[_PODS] -= 1
        self.pods.append(pod)

    def has_room(self, demand: Demand) -> bool:
        if self.free.get(_PODS, 1.0) < 1 - _EPSILON:
            return False
        # How much of a node its claims of devices take is not known: all of it, to be safe.
        if demand.devices and any(pod.gpus for pod in self.pods):
            return False
        asked = demand.requests.items()
        return all(self.free.get(key, 0.0) + _EPSILON >= amount for key, amount in asked)


class Floor:
    """What can take work in `snapshot`; placing a pod takes its room."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._volumes = snapshot.volumes
        self._spots: dict[str, _Spot] = {}
        avoided = {suspect.node for suspect in snapshot.ledger.suspects.values()}
        avoided |= set(snapshot.ledger.grants)
        for name, node in snapshot.nodes.items():
            at_risk = node.mark is not None or node.mark_fault is not None or name in avoided
            if at_risk or node.unavailable or name not in snapshot.pods:
                continue
            spot = _Spot(node, dict(node.allocatable))
            for pod in snapshot.pods[name]:
                if not pod.finished:
                    spot.add(pod)
            self._spots[name] = spot

    def within(self, domain: tuple[str, str] | None) -> Floor:
        """Return a copy that holds only the nodes with that label and value."""
        copy = object.__new__(Floor)
        copy._volumes = self._volumes
        copy._spots = {
            name: spot.copy()
            for name, spot in self._spots.items()
            if domain is None or spot.node.labels.get(domain[0]) == domain[1]
        }
        return copy

    def after(self, part: Floor) -> Floor:
        """Return the whole floor with what was placed on `part` of it."""
        copy = object.__new__(Floor)
        copy._volumes = self._volumes
        copy._spots = {**self._spots, **part._spots}
        return copy

    def place(self, pod: Pod) -> bool:
        """Take the room of `pod` on the node where it fits most tightly; False when on none."""
        fitting = [spot for spot in self._spots.values() if self._fits(pod, spot)]
        if not fitting:
            return False
        min(fitting, key=lambda spot: (_left(pod, spot), spot.node.name)).add(pod)
        return True

    def _fits(self, pod: Pod, spot: _Spot) -> bool:
        demand, labels = pod.demand, spot.node.labels
        if any(labels.get(key) != value for key, value in pod.node_selector.items()):
            return False
        if not spot.has_room(demand) or not demand.tolerates(spot.node.taints):
            return False
        named = {**labels, NAME_FIELD: spot.node.name}
        volumes = (self._volumes.get((pod.namespace, claim)) for claim in pod.claims)
        if not all(any_holds(terms, named) for terms in (demand.terms, *volumes)):
            return False
        return self._welcome(pod, spot.node)

    def _welcome(self, pod: Pod, node: Node) -> bool:
        """Return whether the company there is what the pod demands, and it what they demand."""
        demand = pod.demand
        if any(one.elsewhere for one in (*demand.near, *demand.apart)):
            return False
        if not all(self._is_near(pod, node, company) for company in demand.near):
            return False
        if any(self._found(pod, node, company) for company in demand.apart):
            return False
        return not any(
            _shares(spot.node, node, company) and company.selects(pod)
            for spot in self._spots.values()
            for resident in spot.pods
            if resident.namespace == pod.namespace
            for company in resident.demand.apart
        )

    def _is_near(self, pod: Pod, node: Node, company: Company) -> bool:
        if self._found(pod, node, company):
            return True
        # The first of a group that wants its own company has none to find.
        first = company.selects(pod) and not any(
            company.selects(one)
            for spot in self._spots.values()
            for one in spot.pods
            if one.namespace == pod.namespace
        )
        return first and company.topology in node.labels

    def _found(self, pod: Pod, node: Node, company: Company) -> bool:
        return any(
            company.selects(one)
            for spot in self._spots.values()
            if _shares(spot.node, node, company)
            for one in spot.pods
            if one.namespace == pod.namespace
        )


def largest_first(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """Return `pods` by how many devices they ask for, the largest first."""

    def size(pod: Pod) -> tuple[float, str]:
        return -sum(_devices(pod).values()), pod.uid

    return tuple(sorted(pods, key=size))


def _left(pod: Pod, spot: _Spot) -> float:
    return sum(spot.free.get(key, 0.0) - asked for key, asked in _devices(pod).items())


def _devices(pod: Pod) -> Mapping[str, float]:
    """Return what the pod asks for by names with a domain: devices, as against memory and CPU."""
    return {key: asked for key, asked in pod.demand.requests.items() if "/" in key}


def _shares(one: Node, other: Node, company: Company) -> bool:
    place = one.labels.get(company.topology)
    return place is not None and place == other.labels.get(company.topology)
