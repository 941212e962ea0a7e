"""Random interleavings around one sick GPU: every taint is granted, ends, and is nobody else's."""

from __future__ import annotations

import dataclasses
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from remediation.policy.bounds.gpu import GpuBar
from remediation.policy.bounds.limits import Limits, Mode, ReleaseBar
from remediation.policy.facts.device import Device, Devices, Rule
from remediation.policy.facts.snapshot import Snapshot
from remediation.policy.plan import plan
from remediation.policy.steps import LiftGpu, NodeWrite, TaintGpu
from tests.remediation.builders import a_policy, an_alert
from tests.remediation.policy.world import World, settle

NODES = [f"n{number}" for number in range(3)]


class GpuWorld(World):
    """A world whose nodes publish two GPUs each; a taint and its mark are two writes."""

    def __init__(self) -> None:
        limits = Limits(
            concurrency=3,
            unavailable_percent=100,
            predicted_percent=100,
            token_burst=100,
            breaker_grants=1000,
            domains=(),
            node_cooldown_seconds=0,
        )
        release = ReleaseBar(
            soak_seconds=1200, interval_seconds=600, jitter_seconds=0, quiet_probation_seconds=1200
        )
        one_gpu = GpuBar(causes=("memory",))
        policy = a_policy(Mode.EXCLUDE, limits=limits, release=release, gpu=one_gpu)
        super().__init__(policy, len(NODES))
        self.rules: dict[str, Rule] = {}
        self.sick: dict[str, set[int]] = {}

    def snapshot(self) -> tuple[Snapshot, int]:
        seen, version = super().snapshot()
        predictions = {
            name: dataclasses.replace(one, gpus=self._gpus(name))
            for name, one in (seen.evidence.predictions or {}).items()
        }
        published = {name: tuple(_device(name, n) for n in (0, 1)) for name in NODES}
        devices = Devices(
            offered=True, published=published, rules=tuple(self.rules.values()), held={}
        )
        evidence = dataclasses.replace(seen.evidence, predictions=predictions)
        return dataclasses.replace(seen, devices=devices, evidence=evidence), version

    def _gpus(self, name: str) -> dict[tuple[str, str], float]:
        ill = self.sick.get(name, set())
        return {("24h", _device(name, n).uuid): 0.9 if n in ill else 0.001 for n in (0, 1)}

    def run(self, seen: Snapshot, version: int, *, writes: int) -> None:
        decided = plan(seen)
        if writes == 0 or version != self.version:
            return
        self._check_grants(decided.ledger)
        self._store(decided.ledger)
        left = writes - 1
        for step in decided.steps:
            for write in self._writes(step, seen):
                if left == 0:
                    return
                left -= 1
                if not write():
                    break

    def _writes(self, step: Any, seen: Snapshot) -> list[Any]:
        if isinstance(step, TaintGpu):
            return [lambda: self._taint(step), lambda: self._mark(step.write, seen)]
        if isinstance(step, LiftGpu):
            return [lambda: self._lift(step)]
        return [lambda: self._mark(step, seen)]

    def _mark(self, step: NodeWrite, seen: Snapshot) -> bool:
        self._apply(step, seen)
        return True

    def _taint(self, step: TaintGpu) -> bool:
        assert step.write.mark is not None
        assert step.write.mark.grant in self.recorded, "tainted without a grant"
        name = f"{step.node.name}-{step.device.name}"
        there = self.rules.get(name)
        if there is None:
            node = step.node
            self.rules[name] = Rule(
                name=name,
                uid=f"r{self.version}-{len(self.rules)}",
                node=node.name,
                node_uid=node.uid,
                place=step.device.place,
            )
        return True

    def _lift(self, step: LiftGpu) -> bool:
        mark = self.nodes[step.node.name].mark
        if mark is not None and mark.taints_gpu and mark.gpu and mark.gpu.place == step.rule.place:
            return False  # what the edge looks at again
        there = self.rules.get(step.rule.name)
        if there is not None and there.uid == step.rule.uid:
            del self.rules[step.rule.name]
        return True


def _device(node: str, number: int) -> Device:
    return Device(driver="d", pool=node, name=f"gpu-{number}", uuid=f"{node}-{number}")


class GpuInterleavings(RuleBasedStateMachine):
    """Alerts, kills between any two writes, sleepers, people, and a ledger that vanishes."""

    def __init__(self) -> None:
        super().__init__()
        self.stale: Any = None

    @initialize()
    def begin(self) -> None:
        self.world = GpuWorld()

    @rule(node=st.sampled_from(NODES), gpu=st.integers(0, 1), cause=st.sampled_from("mt"))
    def a_gpu_falls_ill(self, node: str, gpu: int, cause: str) -> None:
        alert = an_alert(node, cause={"m": "memory", "t": "thermal"}[cause])
        self.world.firing[alert.key] = alert
        self.world.sick.setdefault(node, set()).add(gpu)

    @rule(node=st.sampled_from(NODES))
    def a_node_gets_well(self, node: str) -> None:
        world = self.world
        world.firing = {key: one for key, one in world.firing.items() if one.node != node}
        world.sick.pop(node, None)

    @rule(times=st.integers(1, 4))
    def some_ticks(self, times: int) -> None:
        for _ in range(times):
            self.world.tick()

    @rule(writes=st.integers(0, 4))
    def a_tick_is_killed_after_some_writes(self, writes: int) -> None:
        self.world.run(*self.world.snapshot(), writes=writes)

    @rule()
    def a_leader_looks_and_falls_asleep(self) -> None:
        self.stale = self.world.snapshot()

    @rule()
    def the_sleeper_acts_on_what_it_saw(self) -> None:
        if self.stale is not None:
            self.world.run(*self.stale, writes=1000)

    @rule(node=st.sampled_from(NODES))
    def a_person_deletes_the_rules_of_a_node(self, node: str) -> None:
        rules = self.world.rules
        self.world.rules = {name: one for name, one in rules.items() if one.node != node}

    @rule(seconds=st.sampled_from([1.0, 400.0, 4000.0, -3600.0]))
    def time_passes_or_jumps(self, seconds: float) -> None:
        self.world.pass_time(seconds)

    @rule()
    def somebody_deletes_the_ledger(self) -> None:
        self.world.lose_ledger()

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.sick.clear()
            settle(self.world)
            assert self.world.rules == {}, "a taint was left behind"


GpuInterleavings.TestCase.settings = settings(
    max_examples=20,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestGpuInterleavings = GpuInterleavings.TestCase
