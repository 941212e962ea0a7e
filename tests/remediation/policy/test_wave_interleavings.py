"""Random interleavings of alerts, waves, stuck pods, crashes and clocks, with jobs that move."""

from __future__ import annotations

from dataclasses import replace as copy
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from remediation.policy.bounds.limits import DomainLimit, Limits, Mode, ReleaseBar, Rung
from remediation.policy.facts.mark import MarkState
from remediation.policy.facts.snapshot import Snapshot
from remediation.policy.plan import plan
from remediation.policy.steps import EvictWave, NodeWrite
from tests.remediation.builders import a_node, a_pod, a_policy, an_alert
from tests.remediation.policy.world import Dark, World

SIZE = 6
NODES = st.sampled_from([f"n{number}" for number in range(SIZE)])
GANGS = ("a", "b", "c")
LIMITS = st.builds(
    Limits,
    concurrency=st.integers(1, 6),
    domains=st.sampled_from([(), (DomainLimit(label="rack", concurrency=3),)]),
    waves=st.integers(1, 2),
    namespace_waves=st.just(2),
    wave_nodes=st.sampled_from([0, 4]),
    unavailable_nodes=st.integers(3, 6),
    unavailable_percent=st.just(100.0),
    predicted_percent=st.just(100.0),
    token_burst=st.integers(3, 6),
    token_refill_seconds=st.just(60.0),
    breaker_grants=st.just(100),
    node_cooldown_seconds=st.just(0.0),
    flap_episodes=st.just(1000),
)


class JobWorld(World):
    """A world with gangs on pairs of nodes; an evicted pod ends, and comes back where it may."""

    def __init__(self, policy: Any) -> None:
        super().__init__(policy, SIZE)
        self.nodes = {
            name: a_node(name, labels={"rack": f"r{number % 3}"})
            for number, name in enumerate(self.nodes)
        }
        self.stuck: set[str] = set()
        self.guarded: set[str] = set()
        self.disturbed: dict[str, float] = {}
        self.born = 0
        self.live: dict[str, Any] = {}
        for number, name in enumerate(self.nodes):
            self._bear(GANGS[number // 2], name)

    def snapshot(self) -> tuple[Snapshot, int]:
        seen, version = super().snapshot()
        on = {
            name: tuple(pod for pod in self.live.values() if pod.node == name)
            for name in self.nodes
        }
        return copy(seen, pods=on), version

    def run(self, seen: Snapshot, version: int, *, writes: int) -> None:
        decided = plan(seen)
        self._check_said(seen, decided)
        if writes == 0 or version != self.version:
            return
        self._check_harm(seen, decided)
        self._check_grants(decided.ledger)
        self._check_batches(decided.ledger)
        self._store(decided.ledger)
        for step in decided.steps[: writes - 1]:
            if isinstance(step, NodeWrite):
                self._apply(step, seen)
            elif isinstance(step, EvictWave):
                self._evict(step)

    def end_some(self) -> None:
        """What was evicted is gone, and is made again on a node that takes it."""
        for uid, pod in list(self.live.items()):
            if pod.ends_at is not None and uid not in self.stuck:
                del self.live[uid]
                free = [name for name, node in self.nodes.items() if not node.unavailable]
                if free:
                    self._bear(pod.notes["forewarn.dev/group"], free[0])

    def _bear(self, gang: str, node: str) -> None:
        self.born += 1
        pod = a_pod(f"p{self.born}", node=node, notes={"forewarn.dev/group": gang})
        self.live[pod.uid] = pod

    def _evict(self, step: EvictWave) -> None:
        ledger, limits = self.ledger, self.policy.limits
        wave = ledger.waves[step.job]
        assert wave.ended_at is None, "evicted without a wave"
        moving = [w for w in ledger.waves.values() if w.ended_at is None]
        fresh = [w for w in moving if self.now - w.moved_at <= limits.patience_seconds]
        assert len(fresh) <= limits.waves, "more waves than allowed"
        if any(pod.uid in self.live and pod.uid not in self.guarded for pod in step.pods):
            last = self.disturbed.get(step.job)
            again = last is not None and last != wave.began_at
            assert not again or self.now - last >= limits.job_cooldown_seconds, "twice in a window"
            self.disturbed[step.job] = wave.began_at
        for pod in step.pods:
            node = self.nodes[pod.node]
            grant = ledger.grants.get(pod.node)
            assert pod.uid in wave.pods, "a pod that is not of the wave"
            assert node.mark is not None, "evicted from a node that is not marked"
            assert node.mark.state is MarkState.EXCLUDED
            assert grant is not None, "evicted without a grant"
            assert (grant.id, grant.rung) == (node.mark.grant, Rung.MIGRATE)
            there = self.live.get(pod.uid)
            assert there is None or there.ends_at is None, "evicted again while it ends"
            if there is not None and pod.uid not in self.guarded:
                self.live[pod.uid] = copy(there, ends_at=self.now + 30)

    def _check_batches(self, after: Any) -> None:
        """Grants of one batch are recorded in one write: no other write adds to it."""
        before = {grant.batch for grant in self.ledger.grants.values()}
        for name, grant in after.grants.items():
            if name not in self.ledger.grants and not grant.applied:
                assert grant.batch not in before, "a batch grew"


class Waves(RuleBasedStateMachine):
    """Each rule is one thing that can happen between two others."""

    def __init__(self) -> None:
        super().__init__()
        self.stale: Any = None

    @initialize(limits=LIMITS)
    def a_site_sets_its_limits(self, limits: Limits) -> None:
        release = ReleaseBar(
            soak_seconds=1200,
            interval_seconds=600,
            jitter_seconds=60,
            quiet_probation_seconds=1200,
        )
        self.world = JobWorld(a_policy(Mode.MIGRATE, limits=limits, release=release))
        self.world.now += limits.job_cooldown_seconds

    @rule(node=NODES)
    def an_alert_fires(self, node: str) -> None:
        alert = an_alert(node)
        self.world.firing[alert.key] = alert

    @rule(nodes=st.sets(NODES, min_size=2, max_size=4))
    def several_alerts_fire_and_are_acted_on(self, nodes: set[str]) -> None:
        self.world.firing |= {alert.key: alert for alert in map(an_alert, sorted(nodes))}
        self.some_ticks(3)

    @rule(node=NODES)
    def an_alert_ends(self, node: str) -> None:
        self.world.firing.pop(an_alert(node).key, None)

    @rule(times=st.integers(1, 4))
    def a_few_ticks(self, times: int) -> None:
        self.some_ticks(times)

    def some_ticks(self, times: int) -> None:
        for _ in range(times):
            self.world.tick()
            self.world.pass_time(1.0)

    @rule(writes=st.integers(0, 5))
    def a_tick_is_killed_after_some_writes(self, writes: int) -> None:
        self.world.run(*self.world.snapshot(), writes=writes)

    @rule()
    def a_leader_looks_and_falls_asleep(self) -> None:
        self.stale = self.world.snapshot()

    @rule()
    def the_sleeper_acts_on_what_it_saw(self) -> None:
        if self.stale is not None:
            self.world.run(*self.stale, writes=1000)

    @rule()
    def pods_end(self) -> None:
        self.world.end_some()

    @rule(data=st.data())
    def a_pod_cannot_end(self, data: st.DataObject) -> None:
        if self.world.live:
            self.world.stuck.add(data.draw(st.sampled_from(sorted(self.world.live))))

    @rule(data=st.data())
    def a_disruption_budget_guards_a_pod(self, data: st.DataObject) -> None:
        if self.world.live:
            self.world.guarded.add(data.draw(st.sampled_from(sorted(self.world.live))))

    @rule()
    def stuck_and_guarded_pods_come_loose(self) -> None:
        self.world.stuck.clear()
        self.world.guarded.clear()

    @rule(dark=st.sampled_from([None, Dark.ALERTS, Dark.PREDICTIONS, Dark.OLD]))
    def evidence_goes_dark_or_comes_back(self, dark: Dark | None) -> None:
        self.world.dark = dark

    @rule(node=NODES, held=st.booleans())
    def a_person_holds_a_node(self, node: str, held: bool) -> None:
        self.world.change(node, held=held)

    @rule(node=NODES, ready=st.booleans())
    def a_node_changes_its_readiness(self, node: str, ready: bool) -> None:
        self.world.change(node, ready=ready, ready_since=self.world.now)

    @rule(seconds=st.sampled_from([10.0, 700.0, 2000.0, 4000.0]))
    def time_passes(self, seconds: float) -> None:
        self.world.pass_time(seconds)

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self._everything_ends()

    def _everything_ends(self) -> None:
        """Once nothing is wrong any more, every episode and every wave comes to its end."""
        world = self.world
        world.stuck.clear()
        world.guarded.clear()
        world.firing.clear()
        world.dark = None
        for name in world.nodes:
            world.change(name, ready=True, held=False)
        for _ in range(20 * SIZE):
            world.tick()
            world.end_some()
            world.pass_time(world.policy.release.soak_seconds / 2)
        assert not [name for name, node in world.nodes.items() if node.mark]
        assert not [wave for wave in world.ledger.waves.values() if wave.ended_at is None]


Waves.TestCase.settings = settings(
    max_examples=100,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestWaves = Waves.TestCase
