"""Nodes that a gang ties together are granted together or not at all."""

from __future__ import annotations

from dataclasses import replace as copy

import pytest
from msgspec.structs import replace

from remediation.policy.bounds.limits import DomainLimit, Limits, Rung
from remediation.policy.facts.ledger import Bucket, Grant
from remediation.policy.facts.refusal import Reason
from remediation.policy.plan import plan
from remediation.policy.steps import Decision, EpisodeState
from tests.remediation.builders import NOW, WIDE, a_ledger, a_pod, an_alert, finding_of
from tests.remediation.policy.scene import SERVING, a_gang, a_scene, reasons, unread


def test_the_nodes_of_a_gang_are_granted_together() -> None:
    decided = plan(a_scene(a_gang("n1", "n2", "n3")))
    assert [step.decision for step in decided.steps] == [Decision.EXCLUDE] * 3
    batches = {grant.batch for grant in decided.ledger.grants.values()}
    assert len(batches) == 1
    assert len(decided.ledger.breaker.window) == 3


def test_or_not_at_all() -> None:
    limits = replace(WIDE, token_burst=5)
    snapshot = a_scene(a_gang("n1", "n2", "n3"), limits=limits)
    poor = replace(snapshot.ledger, bucket=Bucket(tokens=2, refilled_at=NOW))
    decided = plan(copy(snapshot, ledger=poor))
    assert decided.steps == ()
    assert decided.ledger.grants == {}
    assert {f.refusal.reason for f in decided.findings if f.refusal} == {Reason.NO_TOKEN}


def test_gangs_that_share_a_node_are_tied_through_it() -> None:
    other = a_pod("h", node="n2", notes={"forewarn.dev/group": "other"})
    pods = {**a_gang("n1", "n2"), "n3": (copy(other, name="h3", uid="h3", node="n3"),)}
    pods["n2"] = (*pods["n2"], other)
    decided = plan(a_scene(pods))
    assert len({grant.batch for grant in decided.ledger.grants.values()}) == 1


def test_replicas_tie_no_nodes_together() -> None:
    decided = plan(a_scene(a_gang("n1", "n2", notes={}, **SERVING)))
    assert len({grant.batch for grant in decided.ledger.grants.values()}) == 2


@pytest.mark.parametrize(
    "limits",
    [
        pytest.param(replace(WIDE, concurrency=2), id="concurrency"),
        pytest.param(replace(WIDE, token_burst=2), id="tokens"),
        pytest.param(replace(WIDE, domains=(DomainLimit(label="rack"),)), id="domain"),
        pytest.param(replace(WIDE, unavailable_nodes=2), id="pool-share"),
        pytest.param(replace(WIDE, breaker_grants=2, breaker_percent=1), id="breaker"),
    ],
)
def test_a_wave_that_never_fits_is_blocked_and_says_so(limits: Limits) -> None:
    decided = plan(a_scene(a_gang("n1", "n2", "n3"), limits=limits))
    assert decided.steps == ()
    finding = finding_of(decided)
    assert finding.state is EpisodeState.BLOCKED
    assert finding.refusal is not None
    assert finding.refusal.reason is Reason.WAVE_TOO_LARGE
    assert "its work spans 3 nodes at risk" in finding.refusal.words
    assert decided.ledger.breaker.tripped_at is None


def test_a_limit_per_wave_lets_one_through_alone_and_it_pays_for_all_its_nodes() -> None:
    tight = replace(WIDE, concurrency=2, token_burst=2, wave_nodes=3)
    snapshot = a_scene(a_gang("n1", "n2", "n3"), limits=tight)
    full = replace(snapshot.ledger, bucket=Bucket(tokens=2, refilled_at=NOW))
    decided = plan(copy(snapshot, ledger=full))
    assert len(decided.steps) == 3
    assert decided.ledger.bucket is not None
    assert decided.ledger.bucket.tokens == -1
    late = a_scene({**a_gang("n1", "n2", "n3"), "n9": ()}, limits=tight, ledger=decided.ledger)
    alerts = (*(an_alert(n) for n in ("n1", "n2", "n3")), an_alert("n9"))
    heard = replace(a_ledger(*alerts), grants=decided.ledger.grants)
    assert reasons(copy(late, ledger=heard))["n9"] is Reason.CONCURRENCY


def test_a_large_wave_waits_until_nothing_else_is_in_flight() -> None:
    tight = replace(WIDE, concurrency=2, wave_nodes=3)
    pods = {**a_gang("n1", "n2", "n3"), "n9": (a_pod("x", node="n9", owner_uid="x"),)}
    snapshot = a_scene(pods, excluded=("n9",), limits=tight)
    assert reasons(snapshot)["n1"] is Reason.CONCURRENCY


def test_without_its_pods_read_no_node_is_granted_for_moving() -> None:
    assert reasons(unread(a_scene({}, suspects=("n1",)))) == {"n1": Reason.PODS_UNREADABLE}


def test_a_mate_that_rests_keeps_the_others_waiting() -> None:
    from remediation.policy.facts.ledger import Past

    snapshot = a_scene(a_gang("n1", "n2"))
    rested = replace(snapshot.ledger, past={"n2": (Past(episode="e", ended_at=NOW - 60),)})
    found = plan(copy(snapshot, ledger=rested))
    assert {f.refusal.reason for f in found.findings if f.refusal} == {Reason.NODE_COOLDOWN}
    assert found.steps == ()


def test_a_batch_under_way_is_carried_out_whole_after_a_crash() -> None:
    grants = {
        name: Grant(
            id=f"{name}.x",
            episode=f"{name}.x",
            node_uid=f"uid-{name}",
            rung=Rung.MIGRATE,
            taken_at=NOW - 5,
            expires_at=NOW + 100,
            epoch=1,
            batch="n1.x",
        )
        for name in ("n1", "n2")
    }
    snapshot = a_scene(a_gang("n1", "n2"), limits=replace(WIDE, concurrency=2))
    decided = plan(copy(snapshot, ledger=replace(snapshot.ledger, grants=grants)))
    assert [step.decision for step in decided.steps] == [Decision.EXCLUDE] * 2
    assert decided.ledger.breaker.window == ()
