"""The guards that look at the whole scene: each refuses in words, and nothing else happens."""

from __future__ import annotations

from dataclasses import replace as copy
from typing import Any

import pytest
from msgspec.structs import replace

from remediation.alert import Remedy, Severity
from remediation.policy.bounds.distress import DistressBar
from remediation.policy.bounds.limits import DomainLimit, Limits, Policy
from remediation.policy.bounds.windows import Window
from remediation.policy.facts.ledger import Past
from remediation.policy.facts.mark import MarkState
from remediation.policy.facts.refusal import Reason
from remediation.policy.facts.taint import Taint
from remediation.policy.plan import plan
from remediation.policy.steps import Decision
from tests.remediation.builders import (
    NOW,
    WIDE,
    a_ledger,
    a_mark,
    a_node,
    a_pod,
    a_policy,
    a_pool,
    a_snapshot,
    a_suspect_snapshot,
    an_alert,
    an_excluded_node,
    calm,
    only_finding,
    proof,
)

RACK = "topology.kubernetes.io/rack"
WARNING = an_alert(severity=Severity.WARNING)


def limited(**changes: Any) -> Policy:
    return a_policy(limits=replace(WIDE, **changes))


def reason(snapshot: Any) -> Reason | None:
    refusal = only_finding(snapshot).refusal
    return refusal.reason if refusal is not None else None


def reasons(snapshot: Any) -> list[Reason | None]:
    return [f.refusal.reason if f.refusal else None for f in plan(snapshot).findings]


def in_racks(*racks: str | None) -> dict[str, Any]:
    """Nodes n1, n2, ... in these racks; None has no rack label."""
    return {
        f"n{number}": a_node(f"n{number}", labels={} if rack is None else {RACK: rack})
        for number, rack in enumerate(racks, 1)
    }


@pytest.mark.parametrize(
    ("racks", "expected"),
    [
        pytest.param(("a", "b"), [None, None], id="two-racks"),
        pytest.param(("a", "a"), [None, Reason.DOMAIN_CONCURRENCY], id="one-rack"),
        pytest.param((None, None), [None, Reason.DOMAIN_CONCURRENCY], id="no-label-is-one-domain"),
        pytest.param(("a", None), [None, None], id="known-and-unknown-are-apart"),
        pytest.param(("", None), [None, Reason.DOMAIN_CONCURRENCY], id="empty-label-is-no-label"),
    ],
)
def test_nodes_of_one_domain_do_not_leave_together(
    racks: tuple[str | None, ...], expected: list[Reason | None]
) -> None:
    nodes = {**a_pool(10), **in_racks(*racks)}
    alerts = (an_alert("n1"), an_alert("n2"))
    policy = limited(domains=(DomainLimit(label=RACK),))
    assert reasons(a_suspect_snapshot(*alerts, nodes=nodes, policy=policy)) == expected


def test_nodes_without_the_label_are_held_to_the_strictest_limit_of_the_list() -> None:
    domains = (DomainLimit(label="zone", concurrency=3), DomainLimit(label="cdu", concurrency=1))
    nodes = {n: a_node(n, labels={"cdu": n}) for n in ("n1", "n2")}
    alerts = (an_alert("n1"), an_alert("n2"))
    snapshot = a_suspect_snapshot(
        *alerts, nodes={**a_pool(10), **nodes}, policy=limited(domains=domains)
    )
    assert reasons(snapshot) == [None, Reason.DOMAIN_CONCURRENCY]
    refusal = plan(snapshot).findings[1].refusal
    assert refusal is not None
    assert refusal.words == "nodes without the label zone: at most 1 in flight"


def test_too_many_nodes_predicted_at_once_are_a_fault_of_the_model() -> None:
    alerts = tuple(an_alert(f"n{number}") for number in range(1, 5))
    policy = limited(predicted_nodes=3, predicted_percent=20)
    decided = plan(a_suspect_snapshot(*alerts, policy=policy))
    assert decided.steps == ()
    assert reasons(a_suspect_snapshot(*alerts, policy=policy)) == [Reason.MODEL_FAULT] * 4
    assert reasons(a_suspect_snapshot(*alerts[:3], policy=policy)) == [None] * 3


def test_a_doubted_model_does_not_even_taint_softly() -> None:
    alerts = tuple(an_alert(f"n{n}", severity=Severity.WARNING) for n in range(1, 5))
    policy = limited(predicted_nodes=3, predicted_percent=20)
    assert set(reasons(a_suspect_snapshot(*alerts, policy=policy))) == {Reason.MODEL_FAULT}


def test_alerts_for_the_record_cast_no_doubt_on_the_model() -> None:
    records = tuple(an_alert(f"n{n}", severity=Severity.INFO) for n in range(2, 9))
    alerts = (an_alert("n1"), *records, an_alert("n9", remedy=Remedy.FACILITY))
    found = reasons(a_suspect_snapshot(*alerts, policy=limited(predicted_percent=20)))
    assert found.count(None) == 1


def waiting(count: int, **changes: Any) -> tuple[Any, ...]:
    fields = {"created_at": NOW - 1000, "ready": False, **changes}
    return tuple(a_pod(f"w{number}", **fields) for number in range(count))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param({"pending": waiting(11)}, "more than 10 pods wait for GPUs", id="pending"),
        pytest.param(
            {"nodes": a_pool(10, *(a_node(f"n{n}", ready=False) for n in range(5, 9)))},
            "more than 3 nodes are not ready",
            id="not-ready",
        ),
        pytest.param(
            {"evidence": copy(proof(an_alert()), distress=frozenset({"KubeAPIDown"}))},
            "KubeAPIDown fires",
            id="alert",
        ),
        pytest.param(
            {"evidence": copy(proof(an_alert()), distress=None)},
            "its alerts could not be read",
            id="unreadable",
        ),
    ],
)
def test_a_cluster_in_distress_loses_nothing_more(changes: dict[str, Any], words: str) -> None:
    snapshot = a_suspect_snapshot(**changes)
    refusal = only_finding(snapshot).refusal
    assert refusal is not None
    assert refusal.reason is Reason.DISTRESS
    assert refusal.words == f"the cluster is in distress: {words}"
    assert plan(snapshot).steps == ()


@pytest.mark.parametrize(
    "pending",
    [
        pytest.param(waiting(10), id="few"),
        pytest.param(waiting(50, created_at=NOW - 10), id="just-made"),
        pytest.param(waiting(50, gated=True), id="held-back-by-a-queue"),
        pytest.param(waiting(50, ends_at=NOW), id="being-deleted"),
        pytest.param(waiting(50, created_at=None), id="of-unknown-age"),
    ],
)
def test_an_ordinary_queue_is_no_distress(pending: Any) -> None:
    assert reason(a_suspect_snapshot(pending=pending)) is None


def test_the_policy_may_choose_other_alerts_or_none() -> None:
    evidence = copy(proof(an_alert()), distress=frozenset({"Mine"}))
    policy = a_policy(distress=DistressBar(alerts=("Mine",)))
    assert reason(a_suspect_snapshot(evidence=evidence, policy=policy)) is Reason.DISTRESS
    nothing = a_policy(distress=DistressBar(alerts=()))
    unread = copy(proof(an_alert()), distress=None)
    assert reason(a_suspect_snapshot(evidence=unread, policy=nothing)) is None


def test_a_soft_taint_takes_nothing_away_and_is_put_in_distress_too() -> None:
    snapshot = a_suspect_snapshot(WARNING, pending=waiting(11))
    assert only_finding(snapshot).decision is Decision.SOFTEN


def test_outside_the_maintenance_windows_nothing_is_taken_away() -> None:
    # NOW is Friday, 15 January 2027, 08:00 UTC.
    night = a_policy(maintenance_windows=(Window(opens="22:00", closes="05:00"),))
    day = a_policy(maintenance_windows=(Window(opens="06:00", closes="18:00"),))
    assert reason(a_suspect_snapshot(policy=night)) is Reason.WINDOW_CLOSED
    assert reason(a_suspect_snapshot(policy=day)) is None
    assert reason(a_suspect_snapshot(WARNING, policy=night)) is None


def after(*seconds_ago: float, **changes: Any) -> Any:
    """A snapshot of a suspect node whose episodes ended so long ago."""
    past = tuple(Past(episode=f"e{s}", ended_at=NOW - s) for s in seconds_ago)
    ledger = replace(a_ledger(an_alert()), past={"n1": past})
    return a_suspect_snapshot(ledger=ledger, **changes)


@pytest.mark.parametrize(
    ("ago", "expected"),
    [
        pytest.param((21_599.0,), Reason.NODE_COOLDOWN, id="within-six-hours"),
        pytest.param((21_600.0,), None, id="after-six-hours"),
        pytest.param((80_000.0, 60_000.0, 30_000.0), Reason.FLAPPING, id="three-in-a-day"),
        pytest.param((90_000.0, 60_000.0, 30_000.0), None, id="two-in-a-day"),
        pytest.param((-3_600.0,), Reason.NODE_COOLDOWN, id="clock-jumped-back"),
    ],
)
def test_a_node_that_came_back_rests(ago: tuple[float, ...], expected: Reason | None) -> None:
    assert reason(after(*ago)) is expected


def test_a_release_begins_the_rest_and_telling_it_twice_is_once() -> None:
    mark = a_mark(state=MarkState.VERIFYING, since=NOW - 100_000)
    nodes = a_pool(10, an_excluded_node(mark=mark))
    first = plan(a_snapshot(nodes=nodes, evidence=calm("n1"))).ledger
    assert [past.ended_at for past in first.past["n1"]] == [NOW]
    later = plan(a_snapshot(nodes=nodes, evidence=calm("n1"), ledger=first, now=NOW + 601)).ledger
    assert [past.ended_at for past in later.past["n1"]] == [NOW + 601]


def test_what_no_guard_asks_for_is_forgotten() -> None:
    old = replace(a_ledger(), past={"n1": (Past(episode="e", ended_at=NOW - 90_000),)})
    assert plan(a_snapshot(ledger=old)).ledger.past == {}


def test_the_defaults_are_those_that_are_promised() -> None:
    limits, policy = Limits(), Policy()
    assert (limits.token_burst, limits.token_refill_seconds) == (2, 600)
    assert (limits.concurrency, limits.waves, limits.domains) == (
        2,
        1,
        (DomainLimit(label=RACK, concurrency=1),),
    )
    assert (limits.unavailable_nodes, limits.unavailable_percent) == (5, 10)
    assert (limits.breaker_grants, limits.breaker_percent) == (3, 10)
    assert limits.breaker_window_seconds == 3600
    assert (limits.checkpoints, limits.snapshots) == (2, 2)
    assert (limits.node_cooldown_seconds, limits.job_cooldown_seconds) == (6 * 3600, 3600)
    assert policy.mode == "observe"


def test_another_owners_drain_is_seen_even_before_its_cordon() -> None:
    node = a_node("n2", taints=(Taint("karpenter.sh/disrupted", "NoSchedule"),))
    policy = limited(unavailable_nodes=1)
    assert reason(a_suspect_snapshot(nodes=a_pool(10, node), policy=policy)) is Reason.POOL_SHARE
