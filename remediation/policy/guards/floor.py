"""The floor: nodes that can take work, what is free on each, and who is there already.

Made once for a tick; what is placed on trial is taken back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remediation.policy.bounds.targets import is_target
from remediation.policy.facts.demand import any_holds
from remediation.policy.guards.facility import concerned
from remediation.policy.guards.spread import NAME_FIELD, open_domains

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from remediation.policy.facts.demand import Company, Demand
    from remediation.policy.facts.node import Node
    from remediation.policy.facts.pod import Pod
    from remediation.policy.facts.snapshot import Snapshot

# Where more than this wait for a node already, nobody needs to be told that there is no room.
_QUEUE = 100
_PODS = "pods"
_EPSILON = 1e-6
Domain = tuple[str, str] | None
"""A label and its value that nodes must have; None is anywhere."""


@dataclass(slots=True)
class _Spot:
    """One node: what is free there, and its pods."""

    node: Node
    free: dict[str, float]
    pods: list[Pod] = field(default_factory=list)

    def add(self, pod: Pod) -> None:
        self._take(pod, 1.0)
        self.pods.append(pod)

    def remove_last(self) -> None:
        self._take(self.pods.pop(), -1.0)

    def has_room(self, demand: Demand) -> bool:
        free = self.free
        for key, amount in demand.requests.items():
            if free.get(key, 0.0) + _EPSILON < amount:
                return False
        if free.get(_PODS, 1.0) < 1 - _EPSILON:
            return False
        # How much of a node its claims of devices take is not known: all of it, to be safe.
        return not (demand.devices and any(pod.gpus for pod in self.pods))

    def without(self, pods: Iterable[Pod]) -> _Spot:
        """Return what the node would be without some of its pods."""
        gone = {pod.uid for pod in pods}
        left = _Spot(self.node, dict(self.free), list(self.pods))
        for pod in self.pods:
            if pod.uid in gone:
                left._take(pod, -1.0)
                left.pods.remove(pod)
        return left

    def _take(self, pod: Pod, sign: float) -> None:
        for key, amount in pod.demand.requests.items():
            self.free[key] = self.free.get(key, 0.0) - sign * amount
        if _PODS in self.free:
            self.free[_PODS] -= sign


class Floor:
    """What can take work in `snapshot`, once those who wait already have been placed.

    `home` names, by uid, pods that other GPUs of their own node can take.
    """

    def __init__(self, snapshot: Snapshot, home: Mapping[str, Node] | None = None) -> None:
        self._home = home or {}
        self._nodes, self._pods = snapshot.nodes, snapshot.pods
        self._volumes = snapshot.volumes
        self._spots = tuple(_spots(snapshot))
        # The few who mind what company they get; everybody else is not asked.
        self._shy = [(s, pod) for s in self._spots for pod in s.pods if pod.demand.apart]
        self._by_name = {spot.node.name: spot for spot in self._spots}
        self._gone: frozenset[str] = frozenset()
        self._placed: list[_Spot] = []
        waiting = [pod for pod in snapshot.pending if not pod.gated and pod.ends_at is None]
        self.is_queued_for = len(waiting) > _QUEUE
        first = () if self.is_queued_for else _in_queue(waiting)
        self._thwarted = tuple(pod for pod in first if not self.place(pod))

    @property
    def placed(self) -> int:
        """How many pods were placed so far: a point to take back to."""
        return len(self._placed)

    def without(self, uids: frozenset[str]) -> None:
        """Count the pods `uids` as gone from where they are, until told otherwise."""
        self._gone = uids

    def take_back(self, to: int) -> None:
        """Free what was placed after that point."""
        while len(self._placed) > to:
            spot = self._placed.pop()
            if self._shy and self._shy[-1][1] is spot.pods[-1]:
                self._shy.pop()
            spot.remove_last()

    def place(self, pod: Pod, *, avoid: Container[str] = (), domain: Domain = None) -> bool:
        """Take the room of `pod` on the node where it fits most tightly; False when on none."""
        home = self._home.get(pod.uid)
        if home is not None and (domain is None or home.labels.get(domain[0]) == domain[1]):
            return True
        allowed = open_domains(pod, self._nodes, self._on) if pod.demand.spread else ()
        fitting = [
            spot
            for spot in self._within(domain, avoid)
            if all(spot.node.labels.get(label) in places for label, places in allowed)
            and self._fits(pod, spot)
        ]
        if not fitting:
            return False
        best = min(fitting, key=lambda spot: (_left(pod, spot), spot.node.name))
        best.add(pod)
        self._placed.append(best)
        if pod.demand.apart:
            self._shy.append((best, pod))
        return True

    def victim_of(
        self, pod: Pod, *, avoid: Container[str] = (), domain: Domain = None
    ) -> Pod | None:
        """Return somebody whose room `pod` would be given by its priority, or None."""
        rank = pod.demand.priority
        for spot in self._within(domain, avoid) if pod.demand.preempts else ():
            lower = [one for one in spot.pods if one.demand.priority < rank]
            if lower and spot.without(lower).has_room(pod.demand) and self._suits(pod, spot.node):
                return min(lower, key=lambda one: (one.demand.priority, str(one)))
        return None

    def rival_of(self, pod: Pod) -> Pod | None:
        """Return who waits, fits nowhere, and by its priority may end whoever has lower than it."""
        above = (one for one in self._thwarted if one.demand.priority > pod.demand.priority)
        return next((one for one in above if self.victim_of(one) is not None), None)

    def _on(self, name: str) -> Iterator[Pod]:
        """Return what is on a node of the pool, with what is placed and without what goes."""
        spot = self._by_name.get(name)
        if spot is not None:
            return iter(spot.pods)  # nothing leaves a healthy node, and what is placed is new
        return (pod for pod in self._pods.get(name, ()) if pod.uid not in self._gone)

    def _within(self, domain: Domain, avoid: Container[str]) -> Iterator[_Spot]:
        for spot in self._spots:
            if spot.node.name in avoid:
                continue
            if domain is None or spot.node.labels.get(domain[0]) == domain[1]:
                yield spot

    def _fits(self, pod: Pod, spot: _Spot) -> bool:
        return spot.has_room(pod.demand) and self._suits(pod, spot.node)

    def _suits(self, pod: Pod, node: Node) -> bool:
        """Return whether the pod may run there, were there room."""
        demand, labels = pod.demand, node.labels
        if not demand.tolerates(node.taints):
            return False
        if any(labels.get(key) != value for key, value in pod.node_selector.items()):
            return False
        if demand.terms is not None or pod.claims:
            named = {**labels, NAME_FIELD: node.name}
            volumes = (self._volumes.get((pod.namespace, claim)) for claim in pod.claims)
            if not all(any_holds(terms, named) for terms in (demand.terms, *volumes)):
                return False
        return self._welcome(pod, node)

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
            _shares(spot.node, node, company) and company.selects(pod.labels)
            for spot, resident in self._shy
            if resident.namespace == pod.namespace
            for company in resident.demand.apart
        )

    def _is_near(self, pod: Pod, node: Node, company: Company) -> bool:
        if self._found(pod, node, company):
            return True
        # The first of a group that wants its own company has none to find.
        first = company.selects(pod.labels) and not any(
            company.selects(one.labels)
            for spot in self._spots
            for one in spot.pods
            if one.namespace == pod.namespace
        )
        return first and company.topology in node.labels

    def _found(self, pod: Pod, node: Node, company: Company) -> bool:
        return any(
            company.selects(one.labels)
            for spot in self._spots
            if _shares(spot.node, node, company)
            for one in spot.pods
            if one.namespace == pod.namespace
        )


def largest_first(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """Return `pods` by how many devices they ask for, the largest first."""

    def size(pod: Pod) -> tuple[float, str]:
        return -sum(_devices(pod).values()), pod.uid

    return tuple(sorted(pods, key=size))


def _in_queue(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """Return pods that wait as the scheduler takes them, and the largest first among equals."""
    return tuple(sorted(largest_first(pods), key=lambda pod: -pod.demand.priority))


def _spots(snapshot: Snapshot) -> Iterator[_Spot]:
    suspects = {suspect.node for suspect in snapshot.ledger.suspects.values()}
    suspects |= concerned(snapshot.nodes, snapshot.ledger, snapshot.policy.limits)
    conditions, measured = snapshot.policy.targets, snapshot.evidence.targets
    for name, node in snapshot.nodes.items():
        at_risk = node.mark is not None or node.mark_fault is not None or name in suspects
        if at_risk or node.unavailable or name not in snapshot.pods:
            continue
        if not is_target(name, conditions, measured):
            continue
        spot = _Spot(node, dict(node.allocatable))
        for pod in snapshot.pods[name]:
            if not pod.finished:
                spot.add(pod)
        yield spot


def _left(pod: Pod, spot: _Spot) -> float:
    return sum(spot.free.get(key, 0.0) - asked for key, asked in _devices(pod).items())


def _devices(pod: Pod) -> Mapping[str, float]:
    """Return what the pod asks for by names with a domain: devices, as against memory and CPU."""
    return {key: asked for key, asked in pod.demand.requests.items() if "/" in key}


def _shares(one: Node, other: Node, company: Company) -> bool:
    place = one.labels.get(company.topology)
    return place is not None and place == other.labels.get(company.topology)
