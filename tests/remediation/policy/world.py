"""A cluster in memory with people in it: versions, compare-and-swap, crashes between writes."""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from typing import Any

from msgspec.structs import replace

from remediation.alert import Alert
from remediation.policy.bounds.limits import Limits, Mode, Policy, Rung
from remediation.policy.facts.evidence import Evidence
from remediation.policy.facts.ledger import Ledger, decode, encode
from remediation.policy.facts.node import FIELD_MANAGER, Node
from remediation.policy.facts.snapshot import Snapshot
from remediation.policy.facts.suspects import hear
from remediation.policy.facts.taint import Effect
from remediation.policy.guards import domains, use
from remediation.policy.orders import Order, Verb, give
from remediation.policy.plan import plan
from remediation.policy.steps import Decision, NodeWrite, Plan
from tests.remediation.builders import NOW, a_node, a_prediction

PERSON = "kubectl-cordon"
HARM = frozenset({Decision.SOFTEN, Decision.EXCLUDE, Decision.EVICT})


class Dark(StrEnum):
    """What of the evidence cannot be had, or cannot be believed."""

    ALERTS = "Alertmanager does not answer"
    PREDICTIONS = "Prometheus does not answer"
    EMPTY = "Prometheus holds nothing"
    OLD = "predictions are of yesterday"
    FUTURE = "predictions are of tomorrow"
    DISTRESS = "nobody knows whether the cluster is well"


def darkness(evidence: Evidence) -> Dark | None:
    """What a decider lacked when it looked: a sleeper is judged by what it saw, not by today."""
    if evidence.alerts is None:
        return Dark.ALERTS
    if not evidence.predictions:
        return Dark.PREDICTIONS if evidence.predictions is None else Dark.EMPTY
    if evidence.distress is None:
        return Dark.DISTRESS
    age = next(iter(evidence.predictions.values())).age_seconds
    return None if abs(age) < 3600.0 else Dark.OLD if age > 0 else Dark.FUTURE


class World:
    """What is true, and what our writes may do to it.  Every broken promise is an assertion."""

    def __init__(self, policy: Policy, size: int) -> None:
        self.policy = policy
        self.now = NOW
        self.nodes = {f"n{number}": a_node(f"n{number}") for number in range(size)}
        self.firing: dict[str, Alert] = {}
        self.stored = encode(Ledger())
        self.version = 1
        self.epoch = 1
        self.recorded: set[str] = set()
        self.allowance = float(policy.limits.token_burst)
        self.spent = 0
        self.dark: Dark | None = None

    @property
    def ledger(self) -> Ledger:
        return decode(self.stored)

    def snapshot(self) -> tuple[Snapshot, int]:
        """What a leader sees now, and the version of the ledger it saw."""
        evidence = self._evidence()
        seen = Snapshot(
            now=self.now,
            epoch=self.epoch,
            nodes=dict(self.nodes),
            pods=dict.fromkeys(self.nodes, ()),
            ledger=self.ledger,
            evidence=evidence,
            policy=self.policy,
        )
        return seen, self.version

    def run(self, seen: Snapshot, version: int, *, writes: int) -> None:
        """Decide on what was seen and do the first `writes` writes; then the process is killed."""
        decided = plan(seen)
        self._check_said(seen, decided)
        if writes == 0 or version != self.version:
            return
        self._check_harm(seen, decided)
        self._check_grants(decided.ledger)
        self._store(decided.ledger)
        for step in decided.steps[: writes - 1]:
            assert isinstance(step, NodeWrite)
            self._apply(step, seen)

    def tick(self) -> None:
        self.run(*self.snapshot(), writes=1000)

    def post(self, *alerts: Alert) -> None:
        """A webhook on any replica."""
        self._store(hear(self.ledger, alerts, now=self.now, limits=Limits()))

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.allowance += max(0.0, seconds) / self.policy.limits.token_refill_seconds

    def lose_ledger(self) -> None:
        if not any(node.mark for node in self.nodes.values()):
            self.allowance += self.policy.limits.token_burst
        self._store(Ledger())

    def change(self, name: str, **changes: Any) -> None:
        """Somebody else writes the node."""
        node = self.nodes[name]
        version = str(int(node.resource_version) + 1)
        self.nodes[name] = dataclasses.replace(node, resource_version=version, **changes)

    def give(self, verb: Verb, node: str = "") -> None:
        """A person orders something of any replica."""
        order = Order(author="ana", reason="x")
        self._store(give(self.ledger, verb, order, node=node, now=self.now))

    def replace_machine(self, name: str) -> None:
        """Another machine joins under the name of one that is gone."""
        version = str(int(self.nodes[name].resource_version) + 1)
        self.nodes[name] = a_node(name, uid=f"uid-{name}-{version}", resource_version=version)

    def _evidence(self) -> Evidence:
        dark = self.dark
        age = {Dark.OLD: 86400.0, Dark.FUTURE: -86400.0}.get(dark, 10.0) if dark else 10.0
        held = {
            name: a_prediction(0.9 if self._suspected(name) else 0.001, age_seconds=age)
            for name in self.nodes
        }
        return Evidence(
            alerts=None if dark is Dark.ALERTS else tuple(self.firing.values()),
            polled_at=self.now,
            predictions=None if dark is Dark.PREDICTIONS else {} if dark is Dark.EMPTY else held,
            distress=None if dark is Dark.DISTRESS else frozenset(),
        )

    def _suspected(self, name: str) -> bool:
        return any(alert.node == name for alert in self.firing.values())

    def _store(self, ledger: Ledger) -> None:
        self.stored = encode(ledger)
        self.version += 1

    def _check_said(self, seen: Snapshot, decided: Plan) -> None:
        """Nothing is forgotten: whoever is suspect or marked is decided, or waits for a reason."""
        told = {finding.node: finding for finding in decided.findings}
        marked = {name for name, node in seen.nodes.items() if node.mark is not None}
        heard = {suspect.node for suspect in decided.ledger.suspects.values()}
        assert marked | heard <= told.keys(), "somebody was forgotten"
        for finding in told.values():
            assert finding.sentence
            waits = finding.decision is Decision.WAIT
            assert not waits or finding.refusal is not None, "deferred without a reason"

    def _check_harm(self, seen: Snapshot, decided: Plan) -> None:
        """What may not be known, or was forbidden, hurts nobody."""
        hurt = {node.name for step in decided.steps if step.decision in HARM for node in step.nodes}
        held = {name for name in hurt if seen.nodes[name].held or name in seen.ledger.holds}
        assert not held, "touched in spite of a hold"
        assert not hurt or seen.policy.mode is not Mode.OBSERVE, "harm in observe mode"
        fresh = {
            step.node.name
            for step in decided.steps
            if step.decision is Decision.EXCLUDE and isinstance(step, NodeWrite)
        } - seen.ledger.grants.keys()
        dark = darkness(seen.evidence)
        assert not fresh or dark is None, f"granted although {dark}"
        back = [
            step for step in decided.steps if step.decision in {Decision.RELEASE, Decision.TRUST}
        ]
        ordered = {node.name for step in back for node in step.nodes} - seen.ledger.releases.keys()
        assert not ordered or dark in {None, Dark.DISTRESS}, f"came back although {dark}"

    def _check_grants(self, after: Ledger) -> None:
        before = self.ledger
        fresh = {
            name: grant
            for name, grant in after.grants.items()
            if grant.id not in self.recorded and not grant.applied
        }
        for name, grant in fresh.items():
            held = before.grants.get(name)
            doubled = (
                held is not None
                and not held.applied
                and held.rung >= grant.rung
                and self.now < held.expires_at
            )
            assert not doubled, f"{name} was granted twice"
            self.recorded.add(grant.id)
        hard = [name for name, grant in fresh.items() if grant.rung > Rung.SOFTEN]
        self.spent += len(hard)
        limits = self.policy.limits
        # A wave that is let through alone may leave a debt of at most its own size.
        assert self.spent <= self.allowance + limits.wave_nodes + 1e-9, "more grants than tokens"
        if hard:
            idle = self.now - limits.patience_seconds
            flying = use.in_flight(self.nodes, after, idle_before=idle)
            alone = 1 < len(hard) <= limits.wave_nodes and flying == set(hard)
            assert alone or len(flying) <= limits.concurrency
            assert alone or domains.crowded(flying, self.nodes, limits) is None
            assert before.breaker.tripped_at is None
            assert before.pause is None

    def _apply(self, step: NodeWrite, seen: Snapshot) -> None:
        node = self.nodes[step.node.name]
        if node.resource_version != step.node.resource_version:
            return
        foreign = node.unschedulable and node.cordoned_by == PERSON
        after = self._written(node, step)
        if step.decision in {Decision.EXCLUDE, Decision.SOFTEN}:
            assert step.mark is not None
            assert step.mark.grant in self.recorded, "acted without a grant"
        if step.decision is Decision.EXCLUDE and not node.unavailable:
            self._check_share(node.name, seen)
        assert not (foreign and not after.unschedulable), "lifted somebody else's cordon"
        self.nodes[node.name] = after

    def _written(self, node: Node, step: NodeWrite) -> Node:
        changed: dict[str, Any] = {"mark": step.mark, "taints": step.taints}
        if step.unschedulable is not None and step.unschedulable != node.unschedulable:
            owner = FIELD_MANAGER if step.unschedulable else None
            changed |= {"unschedulable": step.unschedulable, "cordoned_by": owner}
        version = str(int(node.resource_version) + 1)
        return dataclasses.replace(node, resource_version=version, **changed)

    def _check_share(self, name: str, seen: Snapshot) -> None:
        """Others may take nodes away after we looked; our own cordons never add up to too many."""
        limits = self.policy.limits
        allowed = use.share(limits.unavailable_nodes, limits.unavailable_percent, len(self.nodes))
        ours = {n for n, node in self.nodes.items() if node.mark and node.mark.cordoned}
        gone = {n for n, node in seen.nodes.items() if node.unavailable} | ours | {name}
        assert len(gone) <= allowed, f"{len(gone)} nodes unavailable, {allowed} allowed"


def settle(world: World) -> None:
    """Everything is well and everybody leaves: whatever goes on must come to its end."""
    world.firing.clear()
    world.dark = None
    for name in world.nodes:
        world.change(name, ready=True, held=False)
    world._store(replace(world.ledger, pause=None, holds={}))
    for _ in range(20 * len(world.nodes)):
        world.tick()
        world.pass_time(world.policy.release.soak_seconds / 2)
    marked = [name for name, node in world.nodes.items() if node.mark]
    assert not marked, f"{marked} never came back"
    ours = [
        n.name for n in world.nodes.values() if any(t.effect == Effect.FORBID for t in n.taints)
    ]
    assert not ours, f"{ours} kept our taint"
    assert world.ledger.grants == {}
