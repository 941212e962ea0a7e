"""An empty node has proven little: it comes back softly tainted until work has run on it."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from msgspec.structs import replace

from remediation.policy.bounds.limits import Rung
from remediation.policy.facts.ledger import Past
from remediation.policy.facts.mark import MarkState
from remediation.policy.facts.node import RISK_TAINT, Risk
from remediation.policy.facts.refusal import Reason
from remediation.policy.facts.taint import Taint
from remediation.policy.plan import plan
from remediation.policy.steps import Decision, EpisodeState, NodeWrite
from tests.remediation.builders import (
    NOW,
    a_ledger,
    a_mark,
    a_node,
    a_pod,
    a_policy,
    a_pool,
    a_prediction,
    a_snapshot,
    a_suspect_snapshot,
    an_alert,
    an_excluded_node,
    calm,
    finding_of,
    only_finding,
)

SOAKED = a_mark(state=MarkState.VERIFYING, since=NOW - 3600)
TRUSTED = a_mark(
    state=MarkState.PROBATION,
    rung=Rung.SOFTEN,
    since=NOW - 3600,
    cordoned=False,
    probation=True,
)
SOFT = (Taint(RISK_TAINT, "PreferNoSchedule"),)


def soaked(*pods: Any, **changes: Any) -> Any:
    nodes = a_pool(10, an_excluded_node(mark=SOAKED))
    return a_snapshot(nodes=nodes, evidence=calm("n1"), pods={"n1": pods}, **changes)


def trusted(*pods: Any, mark: Any = TRUSTED, **changes: Any) -> Any:
    node = {"taints": SOFT, "mark": mark, **changes.pop("node", {})}
    fields = {"nodes": a_pool(10, a_node(**node)), "evidence": calm("n1"), "pods": {"n1": pods}}
    return a_snapshot(**{**fields, **changes})


def the_step(snapshot: Any) -> NodeWrite:
    (step,) = plan(snapshot).steps
    assert isinstance(step, NodeWrite)
    return step


def test_an_empty_node_is_uncordoned_and_keeps_a_soft_taint() -> None:
    step = the_step(soaked())
    assert (step.decision, step.unschedulable, step.risk) == (Decision.TRUST, False, Risk.ELEVATED)
    assert step.taints == SOFT
    assert step.mark is not None
    assert (step.mark.state, step.mark.cordoned, step.mark.rung) == (
        MarkState.PROBATION,
        False,
        Rung.SOFTEN,
    )
    assert step.sentence == "n1 comes back on probation: it stayed well, but empty"


def test_a_node_whose_work_went_on_through_the_whole_soak_has_proven_itself() -> None:
    assert the_step(soaked(a_pod(created_at=NOW - 3601))).decision is Decision.RELEASE


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param(a_pod(created_at=NOW - 3599), id="came-during-the-soak"),
        pytest.param(a_pod(created_at=NOW - 7200, ready=False), id="not-ready"),
        pytest.param(a_pod(created_at=NOW - 7200, gpus=False), id="no-gpus"),
        pytest.param(a_pod(created_at=NOW - 7200, owner="DaemonSet"), id="daemon"),
        pytest.param(a_pod(created_at=None), id="of-unknown-age"),
    ],
)
def test_what_does_not_load_the_gpus_throughout_proves_nothing(pod: Any) -> None:
    assert the_step(soaked(pod)).decision is Decision.TRUST


def test_unknown_pods_are_no_proof() -> None:
    nodes = a_pool(10, an_excluded_node(mark=SOAKED))
    step = the_step(a_snapshot(nodes=nodes, evidence=calm("n1"), pods={}))
    assert step.decision is Decision.TRUST


def test_a_node_on_probation_is_available_again_and_its_grant_is_a_soft_one() -> None:
    excluded = plan(a_suspect_snapshot()).ledger
    nodes = a_pool(10, an_excluded_node(mark=a_mark(**fields_of(excluded))))
    decided = plan(a_snapshot(nodes=nodes, evidence=calm("n1"), ledger=excluded))
    assert decided.ledger.grants["n1"].rung is Rung.SOFTEN
    assert (decided.ledger.released_at, list(decided.ledger.past)) == (NOW, ["n1"])


def fields_of(ledger: Any) -> dict[str, Any]:
    grant = ledger.grants["n1"]
    return {
        "state": MarkState.VERIFYING,
        "since": NOW - 3600,
        "grant": grant.id,
        "episode": grant.episode,
    }


def test_work_that_ran_long_enough_with_a_low_probability_ends_it() -> None:
    step = the_step(trusted(a_pod(created_at=NOW - 1800)))
    assert (step.decision, step.mark, step.taints, step.risk) == (
        Decision.RELEASE,
        None,
        (),
        Risk.LOW,
    )
    assert step.unschedulable is None
    assert step.sentence == "n1 is released: it stayed well on probation"


@pytest.mark.parametrize(
    "pods",
    [
        pytest.param((), id="empty"),
        pytest.param((a_pod(created_at=NOW - 1799),), id="too-short"),
        pytest.param((a_pod(created_at=NOW + 900),), id="clock-jumped-back"),
    ],
)
def test_until_then_it_waits(pods: Any) -> None:
    decided = plan(trusted(*pods))
    assert decided.steps == ()
    finding = finding_of(decided)
    assert finding.state is EpisodeState.PROBATION
    assert finding.refusal is not None
    assert finding.refusal.reason is Reason.ON_PROBATION


def test_work_from_before_the_probation_counts_from_its_beginning() -> None:
    mark = a_mark(**{**as_fields(TRUSTED), "since": NOW - 1799})
    assert plan(trusted(a_pod(created_at=NOW - 9000), mark=mark)).steps == ()


def as_fields(mark: Any) -> dict[str, Any]:
    return {name: getattr(mark, name) for name in mark.__struct_fields__}


def test_a_long_quiet_probation_ends_by_itself() -> None:
    mark = a_mark(**{**as_fields(TRUSTED), "since": NOW - 86400})
    assert the_step(trusted(mark=mark)).decision is Decision.RELEASE


@pytest.mark.parametrize(
    "unwell",
    [
        pytest.param({"evidence": calm()}, id="exporter-silent"),
        pytest.param({"node": {"held": True}}, id="held-by-a-person"),
    ],
)
def test_what_cannot_be_known_holds_it(unwell: dict[str, Any]) -> None:
    assert plan(trusted(a_pod(created_at=NOW - 1800), **unwell)).steps == ()


@pytest.mark.parametrize(
    "unwell",
    [
        pytest.param({"node": {"ready": False}}, id="not-ready"),
        pytest.param(
            {"evidence": dataclasses.replace(calm(), predictions={"n1": a_prediction(0.06)})},
            id="probability-up",
        ),
    ],
)
def test_a_node_that_is_not_well_starts_over_without_a_cordon(unwell: dict[str, Any]) -> None:
    step = the_step(trusted(**unwell))
    assert (step.decision, step.unschedulable, step.taints) == (Decision.RELAPSE, None, SOFT)
    assert step.mark is not None
    assert (step.mark.state, step.mark.probation) == (MarkState.ELEVATED, True)


def test_after_a_relapse_it_soaks_and_is_on_probation_again() -> None:
    again = a_mark(**{**as_fields(TRUSTED), "state": MarkState.VERIFYING})
    step = the_step(trusted(a_pod(created_at=NOW - 9000), mark=again))
    assert (step.decision, step.unschedulable) == (Decision.TRUST, None)
    assert step.mark is not None
    assert step.mark.state is MarkState.PROBATION


def test_a_reboot_on_probation_starts_over() -> None:
    step = the_step(trusted(a_pod(created_at=NOW - 1800), node={"boot_id": "boot-2"}))
    assert (step.decision, step.mark and step.mark.boot_id) == (Decision.VERIFY, "boot-2")


def test_an_alert_on_probation_relapses_and_then_needs_a_new_grant() -> None:
    alert = an_alert()
    suspect = a_suspect_snapshot(alert)
    snapshot = trusted(ledger=suspect.ledger, evidence=suspect.evidence)
    step = the_step(snapshot)
    assert (step.decision, step.unschedulable) == (Decision.RELAPSE, None)
    back = a_node(taints=step.taints, mark=step.mark)
    decided = plan(
        a_snapshot(
            nodes=a_pool(10, back),
            ledger=plan(snapshot).ledger,
            evidence=suspect.evidence,
            policy=a_policy(),
        )
    )
    (climb,) = decided.steps
    assert climb.decision is Decision.EXCLUDE
    assert decided.ledger.grants["n1"].id != TRUSTED.grant
    assert decided.ledger.grants["n1"].episode == TRUSTED.episode


def test_a_person_who_cordons_a_node_on_probation_keeps_it_cordoned() -> None:
    node = {"unschedulable": True, "cordoned_by": "kubectl-cordon"}
    step = the_step(trusted(a_pod(created_at=NOW - 1800), node=node))
    assert (step.decision, step.unschedulable) == (Decision.RELEASE, None)


def test_a_lost_ledger_makes_a_soft_grant_of_a_node_on_probation() -> None:
    decided = plan(trusted(ledger=a_ledger()))
    assert decided.ledger.grants["n1"].rung is Rung.SOFTEN


def test_a_node_on_probation_has_not_begun_its_rest_and_may_be_excluded_again() -> None:
    """The episode goes on; only the number of returns is limited."""
    back = Past(episode="n1.e@1", ended_at=NOW - 60, rests=False)
    mark = a_mark(state=MarkState.ELEVATED, rung=Rung.SOFTEN, cordoned=False, probation=True)
    node = a_node("n1", mark=mark)
    for returns, decision in ((1, Decision.EXCLUDE), (3, Decision.WAIT)):
        past = tuple(replace(back, episode=f"n1.e@{n}") for n in range(returns))
        ledger = replace(a_ledger(an_alert()), past={"n1": past})
        snapshot = a_suspect_snapshot(nodes=a_pool(10, node), ledger=ledger)
        assert only_finding(snapshot).decision is decision
