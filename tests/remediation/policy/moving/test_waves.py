"""Jobs are moved whole, once per window, and what does not move keeps nobody else waiting."""

from __future__ import annotations

from dataclasses import replace as copy
from typing import Any

import pytest
from msgspec.structs import replace

from remediation.policy.bounds.limits import Mode, Rung
from remediation.policy.facts.ledger import Wave
from remediation.policy.facts.refusal import Reason, Refusal
from remediation.policy.facts.snapshot import Trial
from remediation.policy.facts.suspects import hear
from remediation.policy.plan import plan
from remediation.policy.steps import EpisodeState
from tests.remediation.builders import (
    NOW,
    WIDE,
    a_ledger,
    a_mark,
    a_pod,
    an_alert,
    an_excluded_node,
    finding_of,
)
from tests.remediation.policy.scene import (
    GANG,
    KEY,
    SERVING,
    STATEFUL,
    a_gang,
    a_scene,
    a_wave,
    reasons,
    unread,
    waves_of,
    with_waves,
)


def test_one_wave_takes_the_pods_of_all_its_nodes() -> None:
    snapshot = a_scene(a_gang("n1", "n2"), excluded=("n1", "n2"))
    (wave,) = waves_of(snapshot)
    assert [node.name for node in wave.nodes] == ["n1", "n2"]
    assert [pod.uid for pod in wave.pods] == ["uid-g-n1", "uid-g-n2"]
    recorded = plan(snapshot).ledger.waves[KEY]
    assert (recorded.nodes, recorded.ended_at) == (("n1", "n2"), None)
    assert reasons(snapshot)["n2"] is Reason.WAVE_ELSEWHERE


def test_one_wave_is_asked_for_once_whichever_of_its_nodes_comes_first() -> None:
    first = a_ledger(an_alert("n2"))
    both = hear(first, (an_alert("n1"),), now=NOW - 10, limits=WIDE)
    snapshot = a_scene(a_gang("n1", "n2"), excluded=("n1", "n2"), ledger=both)
    (wave,) = waves_of(snapshot)
    assert [pod.uid for pod in wave.pods] == ["uid-g-n1", "uid-g-n2"]
    assert reasons(snapshot) == {"n2": None, "n1": Reason.WAVE_ELSEWHERE}


def test_a_wave_waits_for_a_node_at_risk_that_is_not_excluded_yet() -> None:
    snapshot = a_scene(a_gang("n1", "n2"), excluded=("n1",), limits=replace(WIDE, concurrency=1))
    assert reasons(snapshot) == {"n1": Reason.WAVE_INCOMPLETE, "n2": Reason.CONCURRENCY}


def test_pods_of_the_gang_on_healthy_nodes_stay() -> None:
    snapshot = a_scene(a_gang("n1", "n2"), excluded=("n1",), suspects=("n1",))
    (wave,) = waves_of(snapshot)
    assert [pod.node for pod in wave.pods] == ["n1"]


def test_one_job_moves_at_a_time() -> None:
    other = (a_pod("x", node="n2", namespace="b", owner_uid="x"),)
    snapshot = a_scene(
        {**a_gang("n1"), "n2": other}, excluded=("n1", "n2"), limits=replace(WIDE, waves=1)
    )
    assert len(waves_of(snapshot)) == 1
    assert Reason.WAVES in reasons(snapshot).values()


def test_one_namespace_is_not_disturbed_twice_at_once() -> None:
    other = (a_pod("x", node="n2", owner_uid="x"),)
    limits = replace(WIDE, namespace_waves=1)
    snapshot = a_scene({**a_gang("n1"), "n2": other}, excluded=("n1", "n2"), limits=limits)
    assert len(waves_of(snapshot)) == 1
    assert Reason.NAMESPACE_WAVES in reasons(snapshot).values()


def test_progress_is_a_pod_gone_or_there_under_another_uid() -> None:
    pods = a_gang("n2")
    pods["n5"] = (a_pod("g-n1", uid="another", node="n5", **GANG),)
    snapshot = a_scene(pods, excluded=("n1", "n2"), suspects=("n1", "n2"))
    ledger = plan(with_waves(snapshot, llm=a_wave())).ledger
    wave = ledger.waves[KEY]
    assert (wave.pods, wave.moved_at, wave.ended_at) == (("uid-g-n2",), NOW, None)
    assert ledger.grants["n1"].moved_at == NOW


def test_a_wave_ends_when_all_its_pods_are_gone() -> None:
    snapshot = a_scene({}, excluded=("n1", "n2"), suspects=("n1", "n2"))
    wave = plan(with_waves(snapshot, llm=a_wave())).ledger.waves[KEY]
    assert (wave.pods, wave.ended_at) == ((), NOW)


def test_a_wave_ends_when_none_of_its_nodes_is_being_emptied_any_more() -> None:
    snapshot = a_scene(a_gang("n1", "n2"), suspects=())
    begun = a_wave(began_at=NOW - 90)
    assert plan(with_waves(snapshot, llm=begun)).ledger.waves[KEY].ended_at == NOW


def test_one_that_was_given_up_before_anything_moved_costs_its_job_no_rest() -> None:
    snapshot = a_scene(a_gang("n1", "n2"), suspects=())
    assert plan(with_waves(snapshot, llm=a_wave())).ledger.waves == {}


def test_one_that_was_given_up_while_a_pod_is_ending_has_disturbed_its_job() -> None:
    pods = a_gang("n1", "n2") | a_gang("n1", ends_at=NOW + 30)
    given_up = plan(with_waves(a_scene(pods, suspects=()), llm=a_wave())).ledger.waves[KEY]
    assert given_up.ended_at == NOW


def test_a_lowered_mode_lets_nothing_go_on() -> None:
    snapshot = a_scene(a_gang("n1"), excluded=("n1",))
    lower = replace(snapshot.policy, mode=Mode.EXCLUDE)
    begun = with_waves(copy(snapshot, policy=lower), llm=a_wave(nodes=("n1",)))
    assert waves_of(begun) == []


def test_a_wave_is_not_called_ended_while_its_pods_are_unread() -> None:
    snapshot = unread(a_scene({}, excluded=("n1", "n2"), suspects=("n1",)))
    assert plan(with_waves(snapshot, llm=a_wave())).ledger.waves[KEY] == a_wave()


@pytest.mark.parametrize(
    ("job", "ended_ago", "expected"),
    [
        pytest.param({}, 3599.0, Reason.JOB_COOLDOWN, id="gang-within-the-hour"),
        pytest.param({}, 3600.0, None, id="gang-after-it"),
        pytest.param({"notes": {}, **SERVING}, 1.0, None, id="replicas-do-not-rest"),
    ],
)
def test_a_gang_is_disturbed_once_per_window(
    job: dict[str, Any], ended_ago: float, expected: Reason | None
) -> None:
    snapshot = a_scene(a_gang("n1", **job), excluded=("n1",))
    key = "uid-serve" if job else "llm"
    ended = a_wave(nodes=("n9",), pods=(), ended_at=NOW - ended_ago)
    assert reasons(with_waves(snapshot, **{key: ended}))["n1"] is expected


def test_a_refused_wave_is_not_asked_again_before_its_time() -> None:
    no = Refusal(Reason.OWNER_MOVES, "denied")
    trial = Trial(at=NOW - 10, again_at=NOW + 20, refusal=no)
    snapshot = with_waves(
        a_scene(a_gang("n1"), excluded=("n1",), trials={KEY: trial}),
        llm=a_wave(nodes=("n1",), pods=("uid-g-n1",)),
    )
    assert waves_of(snapshot) == []
    assert finding_of(plan(snapshot)).state is EpisodeState.MIGRATING
    assert len(waves_of(copy(snapshot, now=NOW + 20))) == 1
    assert len(waves_of(copy(snapshot, now=NOW - 3600))) == 1


def a_stuck_wave(**changes: Any) -> Wave:
    return a_wave(nodes=("n1",), pods=("uid-g-n1",), moved_at=NOW - 1801, **changes)


def with_old_marks(snapshot: Any, *names: str) -> Any:
    """Those nodes were excluded long ago."""
    old = [an_excluded_node(n, mark=a_mark(n, rung=Rung.MIGRATE, since=NOW - 9000)) for n in names]
    return copy(snapshot, nodes={**snapshot.nodes, **{node.name: node for node in old}})


def test_a_wave_that_does_not_move_gives_its_places_to_others() -> None:
    limits = replace(WIDE, waves=1, concurrency=1)
    other = (a_pod("x", node="n2", namespace="b", owner_uid="x"),)
    no = Trial(at=NOW, again_at=NOW + 5, refusal=Refusal(Reason.DISRUPTION_BUDGET, "no"))
    snapshot = a_scene(
        {**a_gang("n1"), "n2": other}, excluded=("n1", "n2"), limits=limits, trials={KEY: no}
    )
    snapshot = with_old_marks(with_waves(snapshot, llm=a_stuck_wave()), "n1")
    (wave,) = waves_of(snapshot)
    assert [node.name for node in wave.nodes] == ["n2"]
    assert finding_of(plan(snapshot)).state is EpisodeState.BLOCKED


def test_and_asks_for_a_place_before_it_goes_on() -> None:
    limits = replace(WIDE, waves=1)
    moving = a_wave(job="x", nodes=("n2",), pods=("x",), moved_at=NOW)
    pods = {**a_gang("n1"), "n2": (a_pod("x", uid="x", node="n2", owner_uid="x", ends_at=NOW),)}
    snapshot = a_scene(pods, excluded=("n1", "n2"), limits=limits)
    stuck = with_old_marks(with_waves(snapshot, llm=a_stuck_wave(), x=moving), "n1")
    assert waves_of(stuck) == []
    assert reasons(stuck)["n1"] is Reason.WAVES


def test_an_owner_that_denies_for_ever_blocks_once_patience_is_over() -> None:
    denied = Trial(at=NOW, again_at=NOW + 30, refusal=Refusal(Reason.OWNER_MOVES, "denied"))
    snapshot = a_scene(a_gang("n1"), excluded=("n1",), trials={KEY: denied})
    stuck = with_old_marks(with_waves(snapshot, llm=a_stuck_wave()), "n1")
    assert finding_of(plan(stuck)).state is EpisodeState.BLOCKED


def test_a_stateful_set_goes_one_pod_at_a_time_the_last_first() -> None:
    pods = {"n1": tuple(a_pod(f"db-{n}", node="n1", **STATEFUL) for n in (0, 2, 1))}
    snapshot = a_scene(pods, excluded=("n1",))
    (wave,) = waves_of(snapshot)
    assert [pod.name for pod in wave.pods] == ["db-2"]


@pytest.mark.parametrize(
    "sibling",
    [
        pytest.param({"ready": False, "node": "n7"}, id="not-ready-elsewhere"),
        pytest.param({"ends_at": NOW + 5, "node": "n7"}, id="ending"),
    ],
)
def test_and_the_next_waits_until_the_last_one_is_ready(sibling: dict[str, Any]) -> None:
    pods = {
        "n1": (a_pod("db-1", node="n1", **STATEFUL),),
        "n7": (a_pod("db-2", **STATEFUL, **sibling),),
    }
    snapshot = a_scene(pods, excluded=("n1",), suspects=("n1",))
    assert reasons(snapshot) == {"n1": Reason.ONE_AT_A_TIME}


def test_a_pending_sibling_is_not_ready_either() -> None:
    pods = {"n1": (a_pod("db-1", node="n1", **STATEFUL),)}
    pending = (a_pod("db-2", ready=False, **STATEFUL),)
    snapshot = a_scene(pods, excluded=("n1",), pending=pending)
    assert reasons(snapshot) == {"n1": Reason.ONE_AT_A_TIME}
