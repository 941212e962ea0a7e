"""Trouble of a whole domain is one episode: no new work, saved where it is, nothing drained."""

from __future__ import annotations

from dataclasses import replace as copy
from typing import Any

import pytest
from msgspec.structs import replace

from remediation.alert import Remedy, Severity
from remediation.policy.bounds.facility import FacilityBar
from remediation.policy.bounds.limits import DomainLimit, Mode, Rung
from remediation.policy.facts.evidence import Evidence
from remediation.policy.facts.ledger import Facility, Pause
from remediation.policy.facts.mark import MarkState
from remediation.policy.facts.refusal import Reason
from remediation.policy.facts.taint import Effect
from remediation.policy.plan import plan
from remediation.policy.steps import AskCheckpoint, Decision, EpisodeState, EvictWave, NodeWrite
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
    finding_of,
    proof,
)
from tests.remediation.policy.scene import a_wave

RACK = DomainLimit(label="rack")
LIMITS = replace(WIDE, domains=(RACK,))
ALARM = an_alert("n1", remedy=Remedy.FACILITY, name="Leak")


def racks(size: int = 4, **special: Any) -> dict[str, Any]:
    """Rack a holds n1 .. n<size>, rack b the rest of twelve nodes."""
    nodes = {
        f"n{n}": a_node(f"n{n}", labels={"rack": "a" if n <= size else "b"}) for n in range(1, 13)
    }
    return {**nodes, **special}


def in_rack_a(node: Any) -> Any:
    return copy(node, labels={"rack": "a"})


def a_scene(*alerts: Any, **changes: Any) -> Any:
    fields = {"nodes": racks(), "policy": a_policy(Mode.MIGRATE, limits=LIMITS), **changes}
    return a_suspect_snapshot(*alerts, **fields)


def an_event(**changes: Any) -> Facility:
    fields: dict[str, Any] = {
        "id": "facility.1",
        "domain": "rack=a",
        "reason": "Leak",
        "horizon": "24h",
        "began_at": NOW - 60,
        "seen_at": NOW - 5,
    }
    return Facility(**{**fields, **changes})


def during(snapshot: Any, **changes: Any) -> Any:
    held = replace(snapshot.ledger, facilities={"rack=a": an_event(**changes)})
    return copy(snapshot, ledger=held)


def heard(*ages: float) -> Any:
    """Nodes n1, n2, ... became suspect so many seconds ago."""
    alerts = [an_alert(f"n{number}") for number in range(1, len(ages) + 1)]
    ledger = a_ledger(*alerts)
    suspects = {
        key: replace(suspect, heard_at=NOW - age)
        for (key, suspect), age in zip(ledger.suspects.items(), ages, strict=True)
    }
    return a_scene(*alerts, ledger=replace(ledger, suspects=suspects))


def decisions(snapshot: Any) -> dict[str, str]:
    return {f.node: f.decision.value for f in plan(snapshot).findings}


def test_an_alarm_of_the_facility_is_one_event_of_its_domain() -> None:
    decided = plan(a_scene(ALARM))
    assert list(decided.ledger.facilities) == ["rack=a"]
    steps = [step for step in decided.steps if isinstance(step, NodeWrite)]
    assert {step.node.name for step in steps} == {"n1", "n2", "n3", "n4"}
    assert {step.effect for step in steps} == {Effect.PREFER}
    assert {step.unschedulable for step in steps} == {None}
    assert {step.mark.episode for step in steps if step.mark} == {
        decided.ledger.facilities["rack=a"].id
    }
    assert {f.state for f in decided.findings} == {EpisodeState.FACILITY}


@pytest.mark.parametrize(
    ("ages", "event"),
    [
        pytest.param((10, 20), False, id="two-are-not-many"),
        pytest.param((10, 20, 30), True, id="three-within-minutes"),
        pytest.param((10, 20, 400), False, id="three-over-a-longer-time"),
        pytest.param((0, 299, 300, 900), True, id="a-window-anywhere"),
    ],
)
def test_many_nodes_of_one_domain_within_minutes_are_one_event(
    ages: tuple[float, ...], event: bool
) -> None:
    decided = plan(heard(*ages))
    assert bool(decided.ledger.facilities) is event
    excluded = [step for step in decided.steps if step.decision is Decision.EXCLUDE]
    assert bool(excluded) is not event


def test_of_a_large_domain_it_takes_a_larger_share() -> None:
    alerts = [an_alert(f"n{n}") for n in range(1, 4)]
    assert plan(a_scene(*alerts, nodes=racks(10))).ledger.facilities
    assert not plan(a_scene(*alerts, nodes=racks(11))).ledger.facilities


def test_nodes_that_lack_the_label_share_no_facility() -> None:
    alerts = [an_alert(f"n{n}") for n in range(1, 4)]
    limits = replace(WIDE, domains=(DomainLimit(label="rack", concurrency=9),))
    policy = a_policy(Mode.MIGRATE, limits=limits)
    assert plan(a_scene(*alerts, nodes=a_pool(12), policy=policy)).ledger.facilities == {}


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"evidence": Evidence(alerts=(), polled_at=NOW, predictions={})}, id="gone"),
        pytest.param({"evidence": Evidence(predictions={})}, id="unread"),
        pytest.param(
            {"policy": a_policy(limits=LIMITS, ceilings={"memory": Mode.OBSERVE})}, id="for-record"
        ),
    ],
)
def test_a_sign_needs_evidence_like_everything_else(changes: dict[str, Any]) -> None:
    assert plan(a_scene(ALARM, **changes)).ledger.facilities == {}


def test_a_warning_of_the_facility_is_a_sign_and_no_alarm() -> None:
    warning = an_alert("n1", remedy=Remedy.FACILITY, severity=Severity.WARNING)
    assert plan(a_scene(warning)).ledger.facilities == {}


def test_what_ails_a_domain_is_no_doubt_of_the_model() -> None:
    limits = replace(LIMITS, predicted_nodes=3, predicted_percent=10)
    alerts = [an_alert(f"n{n}") for n in range(1, 5)]
    decided = plan(a_scene(*alerts, policy=a_policy(Mode.MIGRATE, limits=limits)))
    assert {f.state for f in decided.findings} == {EpisodeState.FACILITY}


def test_more_domains_than_can_be_believed_are_not_taken_for_events() -> None:
    alerts = [an_alert("n1", remedy=Remedy.FACILITY), an_alert("n9", remedy=Remedy.FACILITY)]
    policy = a_policy(Mode.MIGRATE, limits=LIMITS, facility=FacilityBar(domains=1))
    assert len(plan(a_scene(*alerts, policy=policy)).ledger.facilities) == 1


def test_a_node_of_its_own_trouble_is_not_drained_during_the_event() -> None:
    marked = in_rack_a(an_excluded_node("n1", mark=a_mark("n1", rung=Rung.MIGRATE)))
    snapshot = a_scene(an_alert("n1"), nodes=racks(n1=marked))
    pods = {**snapshot.pods, "n1": (a_pod(node="n1"),)}
    found = plan(during(copy(snapshot, pods=pods)))
    assert not [step for step in found.steps if isinstance(step, EvictWave)]
    refusal = finding_of(found, "n1").refusal
    assert refusal is not None
    assert refusal.reason is Reason.FACILITY_EVENT


def test_but_a_wave_that_began_before_is_ended() -> None:
    marked = in_rack_a(an_excluded_node("n1", mark=a_mark("n1", rung=Rung.MIGRATE)))
    snapshot = during(a_scene(an_alert("n1"), nodes=racks(n1=marked)))
    pods = {**snapshot.pods, "n1": (a_pod(node="n1"),)}
    wave = a_wave(nodes=("n1",), pods=("uid-p1",))
    ledger = replace(snapshot.ledger, waves={"uid-train": wave})
    found = plan(copy(snapshot, pods=pods, ledger=ledger))
    assert [step for step in found.steps if isinstance(step, EvictWave)]


def test_a_wave_whose_alert_ended_meanwhile_goes_no_further() -> None:
    marked = in_rack_a(an_excluded_node("n1", mark=a_mark("n1", rung=Rung.MIGRATE)))
    snapshot = during(a_scene(an_alert("n9"), nodes=racks(n1=marked)))
    pods = {**snapshot.pods, "n1": (a_pod(node="n1"),)}
    wave = a_wave(nodes=("n1",), pods=("uid-p1",))
    grants = plan(snapshot).ledger.grants
    ledger = replace(snapshot.ledger, waves={"uid-train": wave}, grants=grants)
    found = plan(copy(snapshot, pods=pods, ledger=ledger))
    refusal = finding_of(found, "n1").refusal
    assert refusal is not None
    assert not [step for step in found.steps if isinstance(step, EvictWave)]


def test_nor_does_one_under_a_lowered_mode() -> None:
    marked = in_rack_a(an_excluded_node("n1", mark=a_mark("n1", rung=Rung.MIGRATE)))
    policy = a_policy(Mode.EXCLUDE, limits=LIMITS)
    snapshot = during(a_scene(an_alert("n1"), nodes=racks(n1=marked), policy=policy))
    pods = {**snapshot.pods, "n1": (a_pod(node="n1"),)}
    waves = {"uid-train": a_wave(nodes=("n1",), pods=("uid-p1",))}
    found = plan(copy(snapshot, pods=pods, ledger=replace(snapshot.ledger, waves=waves)))
    assert not [step for step in found.steps if isinstance(step, EvictWave)]


def softened(*names: str) -> dict[str, Any]:
    """Nodes of rack a that carry the event's mark already."""
    mark = {"state": MarkState.ELEVATED, "rung": Rung.SOFTEN, "cordoned": False, "cause": ""}
    return {
        name: in_rack_a(a_node(name, mark=a_mark(name, episode="facility.1", **mark)))
        for name in names
    }


def test_jobs_there_are_asked_to_save_few_at_a_time() -> None:
    nodes = racks(**softened("n1", "n2", "n3", "n4"))
    asking = {"notes": {"forewarn.dev/checkpoint": "annotate"}}
    pods = {
        name: (a_pod(f"p-{name}", node=name, owner_uid=f"job-{name}", **asking),) for name in nodes
    }
    limits = replace(LIMITS, checkpoints=2)
    snapshot = during(
        a_scene(ALARM, nodes=nodes, pods=pods, policy=a_policy(Mode.MIGRATE, limits=limits))
    )
    asked = [step for step in plan(snapshot).steps if isinstance(step, AskCheckpoint)]
    assert len(asked) == 2
    only_excluding = a_policy(Mode.EXCLUDE, limits=limits)
    assert plan(copy(snapshot, policy=only_excluding)).steps == ()


def test_a_pause_stops_the_taints_too() -> None:
    snapshot = a_scene(ALARM)
    paused = replace(snapshot.ledger, pause=Pause(author="ana", reason="x", since=NOW))
    assert plan(copy(snapshot, ledger=paused)).steps == ()


def test_observe_says_what_it_would_do_to_each_node() -> None:
    decided = plan(a_scene(ALARM, policy=a_policy(Mode.OBSERVE, limits=LIMITS)))
    assert decided.steps == ()
    assert {f.only_observed for f in decided.findings} == {True}
    assert len(decided.findings) == 4


def test_a_node_that_somebody_cordoned_is_left_alone() -> None:
    theirs = copy(racks()["n2"], unschedulable=True, cordoned_by="kubectl")
    decided = plan(a_scene(ALARM, nodes=racks(n2=theirs)))
    assert "n2" not in {step.nodes[0].name for step in decided.steps}


@pytest.mark.parametrize(
    ("quiet", "over"), [pytest.param(1799.0, False), pytest.param(1800.0, True)]
)
def test_the_event_is_over_after_it_was_calm_for_long(quiet: float, over: bool) -> None:
    names = ("n1", "n2", "n3", "n4")
    snapshot = a_snapshot(
        nodes=racks(**softened(*names)),
        evidence=calm(*names),
        policy=a_policy(Mode.MIGRATE, limits=LIMITS),
    )
    decided = plan(during(snapshot, seen_at=NOW - quiet))
    assert bool(decided.ledger.facilities) is not over
    expected = {"verify"} if over else {"wait"}
    assert {f.decision.value for f in decided.findings} == expected


def test_not_seeing_is_not_calm() -> None:
    blind = a_snapshot(nodes=racks(), policy=a_policy(Mode.MIGRATE, limits=LIMITS))
    decided = plan(during(blind, seen_at=NOW - 1700))
    assert decided.ledger.facilities["rack=a"].seen_at == NOW


def test_other_domains_go_on_as_ever() -> None:
    alerts = (ALARM, an_alert("n9"))
    decided = decisions(a_scene(*alerts, evidence=proof(*alerts)))
    assert decided["n9"] == "exclude"
