"""Resolved is not healthy: a node comes back after a soak, one at a time, and only if well."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from msgspec.structs import replace

from remediation.policy.bounds.limits import Mode
from remediation.policy.facts.evidence import Evidence
from remediation.policy.facts.ledger import Breaker, Pause
from remediation.policy.facts.mark import MarkState
from remediation.policy.facts.node import Risk
from remediation.policy.facts.refusal import Reason
from remediation.policy.plan import plan
from remediation.policy.steps import Decision, NodeWrite
from tests.remediation.builders import (
    NOW,
    a_ledger,
    a_mark,
    a_pod,
    a_policy,
    a_pool,
    a_prediction,
    a_snapshot,
    an_alert,
    an_excluded_node,
    calm,
    finding_of,
    proof,
)

SOAKED = a_mark(state=MarkState.VERIFYING, since=NOW - 3600)
AT_WORK = {"n1": (a_pod(created_at=NOW - 7200),)}


def a_quiet_snapshot(mark: Any = None, **changes: Any) -> Any:
    node = changes.pop("node", {})
    nodes = a_pool(10, an_excluded_node(mark=mark or a_mark(), **node))
    return a_snapshot(**{"nodes": nodes, "evidence": calm("n1"), "pods": AT_WORK, **changes})


def the_step(snapshot: Any) -> NodeWrite:
    (step,) = plan(snapshot).steps
    assert isinstance(step, NodeWrite)
    return step


def test_a_quiet_node_begins_to_soak_and_stays_excluded() -> None:
    step = the_step(a_quiet_snapshot(node={"boot_id": "boot-2"}))
    assert step.decision is Decision.VERIFY
    assert step.mark is not None
    assert (step.mark.state, step.mark.since, step.mark.boot_id) == (
        MarkState.VERIFYING,
        NOW,
        "boot-2",
    )
    assert step.unschedulable is None
    assert [taint.effect for taint in step.taints] == ["NoSchedule"]


def test_after_the_soak_taint_mark_and_cordon_go_in_one_write() -> None:
    decided = plan(a_quiet_snapshot(SOAKED))
    (step,) = decided.steps
    assert isinstance(step, NodeWrite)
    assert step.decision is Decision.RELEASE
    assert (step.mark, step.taints, step.unschedulable, step.risk) == (None, (), False, Risk.LOW)
    assert decided.ledger.grants == {}
    assert decided.ledger.released_at == NOW


@pytest.mark.parametrize(
    ("mark", "node"),
    [
        pytest.param(a_mark(state=MarkState.VERIFYING, since=NOW - 3599), {}, id="too-short"),
        pytest.param(SOAKED, {"ready_since": NOW - 10}, id="was-not-ready-in-between"),
        pytest.param(
            a_mark(state=MarkState.VERIFYING, since=NOW + 7200), {}, id="clock-jumped-back"
        ),
    ],
)
def test_the_soak_must_be_whole(mark: Any, node: dict[str, object]) -> None:
    decided = plan(a_quiet_snapshot(mark, node=node))
    assert decided.steps == ()
    refusal = finding_of(decided).refusal
    assert refusal is not None
    assert refusal.reason is Reason.SOAKING


def test_a_reboot_starts_the_soak_anew() -> None:
    step = the_step(a_quiet_snapshot(SOAKED, node={"boot_id": "boot-2"}))
    assert (step.decision, step.mark and step.mark.since) == (Decision.VERIFY, NOW)


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        pytest.param(Evidence(), Reason.ALERTS_UNREADABLE, id="no-alertmanager"),
        pytest.param(
            dataclasses.replace(calm(), predictions=None),
            Reason.PREDICTION_UNREADABLE,
            id="no-prometheus",
        ),
        pytest.param(calm(), Reason.PREDICTION_ABSENT, id="exporter-silent"),
        pytest.param(
            dataclasses.replace(calm(), predictions={"n1": a_prediction(0.001, age_seconds=999.0)}),
            Reason.PREDICTION_STALE,
            id="stale",
        ),
    ],
)
def test_without_fresh_proof_a_soaked_node_waits(evidence: Evidence, reason: Reason) -> None:
    decided = plan(a_quiet_snapshot(SOAKED, evidence=evidence))
    assert decided.steps == ()
    refusal = finding_of(decided).refusal
    assert refusal is not None
    assert refusal.reason is reason


@pytest.mark.parametrize(
    "unwell",
    [
        pytest.param(
            {"evidence": dataclasses.replace(calm(), predictions={"n1": a_prediction(0.06)})},
            id="probability-up",
        ),
        pytest.param({"node": {"ready": False}}, id="not-ready"),
        pytest.param({"evidence": proof(an_alert())}, id="alert-again"),
        pytest.param(
            {"evidence": proof(an_alert(suppressed=True, name="Another"))}, id="silenced-alert"
        ),
    ],
)
def test_a_node_that_is_not_well_relapses(unwell: dict[str, object]) -> None:
    step = the_step(a_quiet_snapshot(SOAKED, **unwell))
    assert step.decision is Decision.RELAPSE
    assert step.mark is not None
    assert (step.mark.state, step.mark.since) == (MarkState.EXCLUDED, NOW)


def test_releases_are_staggered() -> None:
    nodes = a_pool(
        10,
        an_excluded_node("n1", mark=SOAKED),
        an_excluded_node("n2", mark=a_mark("n2", state=MarkState.VERIFYING, since=NOW - 3600)),
    )
    decided = plan(a_snapshot(nodes=nodes, evidence=calm("n1", "n2")))
    assert [step.node.name for step in decided.steps] == ["n1"]
    refusal = finding_of(decided, "n2").refusal
    assert refusal is not None
    assert refusal.reason is Reason.RELEASE_INTERVAL


@pytest.mark.parametrize(
    "stopped",
    [
        pytest.param({"pause": Pause(author="ana", reason="x", since=NOW)}, id="paused"),
        pytest.param({"breaker": Breaker(tripped_at=NOW, reason="x")}, id="breaker-open"),
    ],
)
def test_recovery_goes_on_while_new_harm_is_stopped(stopped: dict[str, Any]) -> None:
    ledger = replace(a_ledger(), **stopped)
    assert the_step(a_quiet_snapshot(SOAKED, ledger=ledger)).decision is Decision.RELEASE


def test_a_node_comes_back_even_when_the_mode_was_lowered() -> None:
    snapshot = a_quiet_snapshot(SOAKED, policy=a_policy(Mode.OBSERVE))
    assert the_step(snapshot).decision is Decision.RELEASE
