"""Random interleavings of alerts, crashes, stale leaders, clocks and people."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from msgspec.structs import replace

from remediation.alert import Severity, Status
from remediation.policy.bounds.limits import Limits, Mode, ReleaseBar
from remediation.policy.orders import Verb
from tests.remediation.builders import a_policy, an_alert
from tests.remediation.policy.world import PERSON, Dark, World, settle

SIZE = 6
LIMITS = st.builds(
    Limits,
    concurrency=st.integers(1, 3),
    unavailable_nodes=st.integers(1, 6),
    unavailable_percent=st.just(100.0),
    token_burst=st.integers(1, 6),
    token_refill_seconds=st.just(600.0),
    breaker_grants=st.sampled_from([2, 100]),
    domains=st.just(()),
    predicted_percent=st.sampled_from([50.0, 100.0]),
    node_cooldown_seconds=st.sampled_from([0.0, 3600.0]),
)
NODES = st.sampled_from([f"n{number}" for number in range(SIZE)])
ALERTS = st.builds(
    lambda node, severity, cause: an_alert(node, severity=severity, cause=cause),
    NODES,
    st.sampled_from([Severity.WARNING, Severity.CRITICAL]),
    st.just("memory"),
)


class Interleavings(RuleBasedStateMachine):
    """Each rule is one thing that can happen between two others; `World` watches the promises."""

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
        self.world = World(a_policy(limits=limits, release=release), SIZE)

    @rule()
    def every_node_alerts_at_once(self) -> None:
        self.world.firing = {a.key: a for a in (an_alert(name) for name in self.world.nodes)}

    @rule(alert=ALERTS, posted=st.booleans())
    def an_alert_fires(self, alert: Any, posted: bool) -> None:
        self.world.firing[alert.key] = alert
        if posted:
            self.world.post(alert, alert)

    @rule(alert=ALERTS)
    def an_alert_ends(self, alert: Any) -> None:
        self.world.firing.pop(alert.key, None)
        self.world.post(an_alert(alert.node, severity=alert.severity, status=Status.RESOLVED))

    @rule(alert=ALERTS)
    def a_late_post_tells_of_an_alert_long_gone(self, alert: Any) -> None:
        self.world.post(alert)

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

    @rule(node=NODES)
    def a_person_cordons(self, node: str) -> None:
        # kubectl leaves a node alone that is cordoned already.
        if not self.world.nodes[node].unschedulable:
            self.world.change(node, unschedulable=True, cordoned_by=PERSON)

    @rule(node=NODES, again=st.booleans())
    def a_person_uncordons(self, node: str, again: bool) -> None:
        if self.world.nodes[node].unschedulable:
            self.world.change(node, unschedulable=False, cordoned_by=None)
            if again:
                self.world.change(node, unschedulable=True, cordoned_by=PERSON)

    @rule(node=NODES, held=st.booleans())
    def a_person_holds_a_node(self, node: str, held: bool) -> None:
        self.world.change(node, held=held)

    @rule(node=NODES, ready=st.booleans())
    def a_node_changes_its_readiness(self, node: str, ready: bool) -> None:
        boot = self.world.nodes[node].boot_id + ("" if ready else "'")
        self.world.change(node, ready=ready, ready_since=self.world.now, boot_id=boot)

    @rule(seconds=st.sampled_from([1.0, 200.0, 700.0, 4000.0, -3600.0]))
    def time_passes_or_jumps(self, seconds: float) -> None:
        self.world.pass_time(seconds)

    @rule(verb=st.sampled_from(Verb), node=NODES)
    def a_person_orders_something(self, verb: Verb, node: str) -> None:
        self.world.give(verb, node if verb.of_a_node else "")

    @rule(dark=st.sampled_from([None, *Dark]))
    def evidence_goes_dark_or_comes_back(self, dark: Dark | None) -> None:
        self.world.dark = dark

    @rule(mode=st.sampled_from([Mode.OBSERVE, Mode.EXCLUDE]))
    def somebody_reloads_another_mode(self, mode: Mode) -> None:
        self.world.policy = replace(self.world.policy, mode=mode)

    @rule()
    def another_replica_takes_over(self) -> None:
        self.world.epoch += 1

    @rule(node=NODES)
    def a_machine_is_replaced_under_its_name(self, node: str) -> None:
        self.world.replace_machine(node)

    @rule()
    def somebody_deletes_the_ledger(self) -> None:
        self.world.lose_ledger()

    def teardown(self) -> None:
        if hasattr(self, "world"):
            settle(self.world)


Interleavings.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestInterleavings = Interleavings.TestCase
