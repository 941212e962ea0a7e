"""Moving work: whole waves, only what may move, and only the pod being gone is progress."""

from __future__ import annotations

from dataclasses import replace as replace_pod
from typing import Any

import pytest
from msgspec.structs import replace

from remediation.policy.bounds.limits import Mode, Rung
from remediation.policy.bounds.migration import MigrationBar
from remediation.policy.facts.ledger import Pause
from remediation.policy.facts.mark import MarkState
from remediation.policy.facts.refusal import Reason
from remediation.policy.plan import plan, pods_wanted
from remediation.policy.steps import Decision, EpisodeState, EvictWave, NodeWrite
from tests.remediation.builders import (
    NOW,
    a_ledger,
    a_mark,
    a_pod,
    a_policy,
    a_pool,
    a_prediction,
    a_suspect_snapshot,
    an_alert,
    an_excluded_node,
    finding_of,
    only_finding,
    proof,
)

MIGRATING = a_mark(rung=Rung.MIGRATE)


def a_migration(*pods: Any, **changes: Any) -> Any:
    node = changes.pop("node", {})
    nodes = a_pool(10, an_excluded_node(mark=changes.pop("mark", MIGRATING), **node))
    fields = {
        "nodes": nodes,
        "pods": {**dict.fromkeys(nodes, ()), "n1": pods},
        "policy": a_policy(Mode.MIGRATE),
    }
    return a_suspect_snapshot(**{**fields, **changes})


def test_all_pods_on_the_gpus_go_in_one_wave() -> None:
    decided = plan(a_migration(a_pod("p1"), a_pod("p2")))
    (wave,) = decided.steps
    assert isinstance(wave, EvictWave)
    assert [pod.name for pod in wave.pods] == ["p1", "p2"]
    assert decided.ledger.waves[wave.job].pods == ("uid-p1", "uid-p2")


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param(a_pod(gpus=False), id="uses-no-gpu"),
        pytest.param(a_pod(owner="DaemonSet"), id="daemon-set"),
        pytest.param(a_pod(mirror=True), id="mirror"),
        pytest.param(a_pod(finished=True), id="finished"),
        pytest.param(a_pod(namespace="kube-system"), id="protected-namespace"),
    ],
)
def test_a_node_with_nothing_to_move_is_drained(pod: Any) -> None:
    (step,) = plan(a_migration(pod)).steps
    assert isinstance(step, NodeWrite)
    assert step.decision is Decision.SETTLE
    assert step.mark is not None
    assert step.mark.state is MarkState.DRAINED
    assert step.unschedulable is None


@pytest.mark.parametrize(
    ("pod", "reason"),
    [
        pytest.param(a_pod(owner=None), Reason.POD_UNMANAGED, id="unmanaged"),
        pytest.param(a_pod(empty_dir=True), Reason.POD_HAS_LOCAL_DATA, id="empty-dir"),
        pytest.param(a_pod(wish="never"), Reason.POD_ASKS_TO_STAY, id="never"),
        pytest.param(a_pod(wish="wait"), Reason.POD_ASKS_TO_STAY, id="wait"),
    ],
)
def test_one_pod_that_must_stay_blocks_the_whole_wave(pod: Any, reason: Reason) -> None:
    together = {"notes": {"forewarn.dev/group": "g"}}
    snapshot = a_migration(replace_pod(pod, **together), a_pod("p2", **together))
    finding = only_finding(snapshot)
    assert finding.state is EpisodeState.BLOCKED
    assert finding.refusal is not None
    assert finding.refusal.reason is reason
    assert plan(snapshot).steps == ()


def test_policy_may_allow_what_is_refused_by_default() -> None:
    bar = MigrationBar(allow_empty_dir=True, allow_unmanaged=True)
    pod = a_pod(owner=None, empty_dir=True)
    assert plan(a_migration(pod, policy=a_policy(Mode.MIGRATE, migrate=bar))).steps


def test_a_pod_that_is_ending_is_waited_for_and_not_evicted_again() -> None:
    finding = only_finding(a_migration(a_pod(ends_at=NOW + 20)))
    assert finding.decision is Decision.WAIT
    assert finding.refusal is not None
    assert finding.refusal.reason is Reason.PODS_ENDING


def test_a_pod_that_should_have_ended_is_called_stuck_and_never_moved() -> None:
    finding = only_finding(a_migration(a_pod(ends_at=NOW - 121)))
    assert finding.refusal is not None
    assert finding.refusal.reason is Reason.POD_STUCK


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({"node": {"ready": False}}, Reason.NODE_LOST, id="node-lost"),
        pytest.param({"pods": {}}, Reason.PODS_UNREADABLE, id="pods-unreadable"),
        pytest.param(
            {"evidence": proof(an_alert(), n1=a_prediction(0.01))},
            Reason.PROBABILITY_LOW,
            id="no-longer-probable",
        ),
    ],
)
def test_a_wave_needs_what_a_grant_needs(changes: dict[str, Any], reason: Reason) -> None:
    finding = only_finding(a_migration(a_pod(), **changes))
    assert finding.refusal is not None
    assert finding.refusal.reason is reason


def test_a_pause_stops_the_next_wave() -> None:
    snapshot = a_migration(a_pod())
    paused = replace(snapshot.ledger, pause=Pause(author="ana", reason="x", since=NOW))
    assert plan(a_migration(a_pod(), ledger=paused)).steps == ()


def test_a_node_excluded_under_a_lower_mode_needs_a_new_grant_to_move_its_work() -> None:
    first = plan(a_migration(a_pod(), mark=a_mark(rung=Rung.EXCLUDE)))
    (step,) = first.steps
    assert isinstance(step, NodeWrite)
    assert step.mark is not None
    assert (step.decision, step.mark.rung) == (Decision.EXCLUDE, Rung.MIGRATE)
    assert step.mark.grant != "n1.g"
    assert len(first.ledger.breaker.window) == 1


def test_a_node_being_emptied_holds_its_place_in_the_concurrency() -> None:
    from tests.remediation.builders import WIDE

    policy = a_policy(Mode.MIGRATE, limits=replace(WIDE, concurrency=1))
    snapshot = a_migration(a_pod(), policy=policy)
    alerts = (an_alert(), an_alert("n2"))
    both = a_suspect_snapshot(*alerts, nodes=snapshot.nodes, pods=snapshot.pods, policy=policy)
    refusal = finding_of(plan(both), "n2").refusal
    assert refusal is not None
    assert refusal.reason is Reason.CONCURRENCY


def test_pods_are_read_while_anybody_is_suspect_or_marked() -> None:
    assert pods_wanted(a_pool(2, an_excluded_node()), a_ledger(), proof())
    assert pods_wanted(a_pool(2), a_ledger(an_alert()), proof())
    assert pods_wanted(a_pool(2), a_ledger(), proof(an_alert()))
    assert not pods_wanted(a_pool(2), a_ledger(), proof())
