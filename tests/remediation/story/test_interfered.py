"""People, silences and the end of the alert, in every state of an episode, on the real server."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest
from kubernetes import client

from remediation.policy.facts.mark import EPISODE_ANNOTATION
from tests.controlplane.definitions import define
from tests.remediation.site import SOON_BACK, eventually
from tests.remediation.story.test_handed_over import a_repair_job
from tests.remediation.story.test_migrated import add_replicas, running_on
from tests.remediation.story.test_saved_first import add_claim, add_trainer, with_volume

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.remediation.site import Running, Site

pytestmark = pytest.mark.cluster
HELD_BACK = "example.com/hold"
NEVER = {"soak_seconds": 600, "interval_seconds": 0.1, "jitter_seconds": 0}
ON_TRIAL = {**SOON_BACK, "quiet_probation_seconds": 600}


def idle(site: Site) -> str:
    """Nothing runs; returns the node that will be sick."""
    return site.add_nodes(3)[0]


def a_pod_that_never_answers(site: Site) -> str:
    site.add_nodes(2)
    sick: str = add_trainer(site, {"forewarn.dev/checkpoint": "annotate"}).spec.node_name
    return sick


def a_pod_whose_snapshot_never_comes(site: Site) -> str:
    define(site.api, "snapshots")
    site.add_nodes(2)
    add_claim(site)
    asks = {"forewarn.dev/snapshot": "true"}
    sick: str = add_trainer(site, asks, **with_volume(site)).spec.node_name
    return sick


def a_pod_that_does_not_end(site: Site) -> str:
    sick = a_pod(site)
    (pod,) = site.core.list_namespaced_pod(site.namespace).items
    held = {"metadata": {"finalizers": [HELD_BACK]}}
    site.core.patch_namespaced_pod(pod.metadata.name, site.namespace, held)
    return sick


def a_pod_behind_a_budget(site: Site) -> str:
    sick = a_pod(site)
    selector = {"matchLabels": {"app": "serve"}}
    client.PolicyV1Api(site.api).create_namespaced_pod_disruption_budget(
        site.namespace,
        {"metadata": {"name": "stay"}, "spec": {"minAvailable": 1, "selector": selector}},
    )
    return sick


def a_pod(site: Site) -> str:
    site.add_nodes(2)
    add_replicas(site, "serve", 1)
    (sick,) = running_on(site).values()
    return sick


def of_one_domain(site: Site) -> dict[str, Any]:
    """All nodes of the story are one domain."""
    limits = {"unavailable_percent": 100, "domains": [{"label": "story"}]}
    return {"limits": limits, "facility": {"calm_seconds": 0.5}}


def with_repair(site: Site) -> dict[str, Any]:
    return {"handover": {"object": a_repair_job(site)}}


@dataclass(frozen=True)
class State:
    """How an episode comes into a state and stays there; `quiet` is how the alert stands then."""

    name: str
    prepare: Callable[[Site], str] = idle
    mode: str = "migrate"
    alert: dict[str, str] = field(default_factory=dict)
    quiet: bool = False
    release: dict[str, Any] = field(default_factory=lambda: NEVER)
    more: Callable[[Site], dict[str, Any]] = lambda _: {}

    @property
    def is_soft(self) -> bool:
        """Whether the node is only tainted softly."""
        return self.name in {"elevated", "probation", "facility"}


STATES = [
    State("elevated", alert={"severity": "warning"}),
    State("excluded", mode="exclude"),
    State("checkpointing", a_pod_that_never_answers),
    State("snapshotting", a_pod_whose_snapshot_never_comes),
    State("migrating", a_pod_that_does_not_end),
    State("blocked", a_pod_behind_a_budget),
    State("drained"),
    State("handed_over", more=with_repair),
    State("facility", alert={"remediation": "facility"}, more=of_one_domain),
    State("verifying", quiet=True),
    State("probation", quiet=True, release=ON_TRIAL),
]
HARD = [pytest.param(state, id=state.name) for state in STATES if not state.is_soft]
SOFT = [pytest.param(state, id=state.name) for state in STATES if state.is_soft]
ALERTED = [pytest.param(state, id=state.name) for state in STATES if not state.quiet]
EVERY = [*HARD, *SOFT]


class Scene:
    """An episode in one state; `before` is what ran then, by uid."""

    def __init__(self, site: Site, state: State, running: Running, sick: str) -> None:
        self.site, self.running, self.sick = site, running, sick
        running.post(site.monitoring.fire(sick, **state.alert))
        # A state is told of what was decided, and a write may have to be tried twice.
        eventually(lambda: site.mark(sick))
        if state.quiet:
            site.monitoring.quiet(sick)
        eventually(lambda: running.metric("episodes", state=state.name) >= 1)
        eventually(lambda: self.asked() == (state.name == "migrating"))
        self.before = running_on(site)
        self.evictions = self.asked()

    def asked(self) -> float:
        return self.running.metric("evictions_total", outcome="accepted")

    def some_ticks(self) -> None:
        """Let remediation look a few times more."""
        begun = self.running.metric("tick_duration_seconds_count")
        eventually(lambda: self.running.metric("tick_duration_seconds_count") > begun + 3)

    def harmed_nobody_since(self) -> bool:
        return self.asked() == self.evictions and set(self.before) <= set(running_on(self.site))

    def has_nothing_of_ours(self) -> bool:
        return self.site.mark(self.sick) is None and self.site.our_taints(self.sick) == []


def play(site: Site, state: State, then: Callable[[Scene], None]) -> None:
    """Bring an episode into `state`, and do to it what `then` does."""
    sick = state.prepare(site)
    limits = {"unavailable_percent": 100, "domains": []}
    policy = {"mode": state.mode, "limits": limits, "release": state.release, **state.more(site)}
    try:
        with site.run(policy=policy) as running:
            then(Scene(site, state, running, sick))
    finally:
        for pod in site.core.list_namespaced_pod(site.namespace).items:
            free = {"metadata": {"finalizers": None}}
            site.core.patch_namespaced_pod(pod.metadata.name, site.namespace, free)


def cordon(site: Site, node: str, *, on: bool) -> None:
    site.core.patch_node(node, {"spec": {"unschedulable": True if on else None}})


@pytest.mark.parametrize("state", HARD)
def test_who_uncordons_has_the_node_from_then_on(real_site: Site, state: State) -> None:
    def then(scene: Scene) -> None:
        cordon(scene.site, scene.sick, on=False)
        eventually(scene.has_nothing_of_ours)
        scene.some_ticks()
        assert scene.site.cordoned() == []
        assert scene.has_nothing_of_ours()
        assert scene.harmed_nobody_since()

    play(real_site, state, then)


@pytest.mark.parametrize("state", EVERY)
def test_a_cordon_of_theirs_outlives_us(real_site: Site, state: State) -> None:
    def then(scene: Scene) -> None:
        cordon(scene.site, scene.sick, on=False)
        cordon(scene.site, scene.sick, on=True)
        scene.some_ticks()
        assert scene.harmed_nobody_since()
        scene.site.monitoring.quiet(scene.sick)
        if not state.is_soft:
            eventually(scene.has_nothing_of_ours)
        scene.some_ticks()
        assert scene.site.cordoned() == [scene.sick]

    play(real_site, state, then)


@pytest.mark.parametrize("state", EVERY)
def test_who_takes_our_mark_off_is_not_overruled(real_site: Site, state: State) -> None:
    def then(scene: Scene) -> None:
        before = scene.site.cordoned()
        unmarked = {"metadata": {"annotations": {EPISODE_ANNOTATION: None}}}
        scene.site.core.patch_node(scene.sick, unmarked)
        scene.some_ticks()
        assert scene.site.mark(scene.sick) is None
        assert scene.site.cordoned() == before
        assert scene.harmed_nobody_since()

    play(real_site, state, then)


@pytest.mark.parametrize("state", ALERTED)
def test_a_silence_stops_new_steps_and_gives_nothing_back(real_site: Site, state: State) -> None:
    def then(scene: Scene) -> None:
        before = (scene.site.cordoned(), scene.site.our_taints(scene.sick))
        scene.site.monitoring.silenced.add(scene.sick)
        scene.some_ticks()
        assert (scene.site.cordoned(), scene.site.our_taints(scene.sick)) == before
        assert scene.site.mark(scene.sick) is not None
        assert scene.harmed_nobody_since()

    play(real_site, state, then)


@pytest.mark.parametrize("state", ALERTED)
def test_when_the_alert_ends_the_node_comes_back_and_no_more_work_leaves(
    real_site: Site, state: State
) -> None:
    def then(scene: Scene) -> None:
        scene.site.monitoring.quiet(scene.sick)
        eventually(scene.has_nothing_of_ours)
        assert scene.site.cordoned() == []
        assert scene.harmed_nobody_since()

    play(real_site, replace(state, release=SOON_BACK), then)
