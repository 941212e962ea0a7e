"""A drained node is handed over as one object, and taken back before work returns."""

from __future__ import annotations

from dataclasses import replace as copy
from typing import Any

import pytest
from msgspec.structs import replace

from remediation.policy.bounds.handover import HandoverBar
from remediation.policy.bounds.limits import Mode, Rung
from remediation.policy.facts.handed import Handed
from remediation.policy.facts.ledger import Pause, Release
from remediation.policy.facts.mark import MarkState
from remediation.policy.facts.refusal import Reason
from remediation.policy.plan import plan
from remediation.policy.steps import Decision, EpisodeState, HandOver, NodeWrite, TakeBack
from tests.remediation.builders import (
    NOW,
    a_ledger,
    a_mark,
    a_policy,
    a_pool,
    a_snapshot,
    a_suspect_snapshot,
    an_alert,
    an_excluded_node,
    calm,
    finding_of,
)

TEMPLATE = {
    "apiVersion": "repair.example.com/v1",
    "kind": "Repair",
    "metadata": {"name": "fix-{node}", "namespace": "repairs"},
    "spec": {"why": "{cause} within {horizon}", "steps": ["reboot {node}", 3]},
}
FIX = Handed(api_version="repair.example.com/v1", kind="Repair", name="fix-n1", namespace="repairs")
MADE = replace(FIX, made=True)


def drained(**changes: Any) -> Any:
    mark = a_mark("n1", **{"rung": Rung.MIGRATE, "state": MarkState.DRAINED, **changes})
    return an_excluded_node("n1", mark=mark)


def a_scene(node: Any, **changes: Any) -> Any:
    policy = a_policy(Mode.MIGRATE, handover=changes.pop("bar", HandoverBar(object=TEMPLATE)))
    return a_suspect_snapshot(
        an_alert("n1"), **{"nodes": a_pool(10, node), "policy": policy, **changes}
    )


def quiet(node: Any, **changes: Any) -> Any:
    bar = changes.pop("bar", HandoverBar(object=TEMPLATE))
    policy = a_policy(Mode.MIGRATE, handover=bar)
    fields = {"ledger": a_ledger(), "evidence": calm("n1"), "policy": policy}
    return a_snapshot(nodes=a_pool(10, node), **{**fields, **changes})


def step_of(snapshot: Any) -> Any:
    (step,) = plan(snapshot).steps
    return step


def test_the_mark_names_the_object_before_it_is_made() -> None:
    offer = step_of(a_scene(drained()))
    assert isinstance(offer, NodeWrite)
    assert offer.mark is not None
    assert (offer.decision, offer.mark.handed) == (Decision.OFFER, FIX)
    made = step_of(a_scene(drained(handed=FIX)))
    assert isinstance(made, HandOver)
    assert made.body["spec"] == {"why": "memory within 24h", "steps": ["reboot n1", 3]}
    assert made.write.mark is not None
    assert made.write.mark.handed == MADE


def test_once_handed_over_nothing_more_is_done_and_it_says_so() -> None:
    finding = finding_of(plan(a_scene(drained(handed=MADE))))
    assert finding.state is EpisodeState.HANDED_OVER
    assert finding.refusal is not None
    assert finding.refusal.reason is Reason.IN_REPAIR


def test_as_shipped_a_drained_node_waits_for_a_person() -> None:
    assert plan(a_scene(drained(), bar=HandoverBar())).steps == ()


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"ledger": {"pause": Pause(author="a", reason="r", since=NOW)}}, id="paused"),
        pytest.param({"evidence": calm("n1")}, id="no-evidence"),
        pytest.param({"mark": {"state": MarkState.EXCLUDED, "rung": Rung.EXCLUDE}}, id="not-empty"),
        pytest.param({"mode": Mode.EXCLUDE}, id="mode-lowered"),
    ],
)
def test_only_a_drained_node_with_evidence_and_every_guard_is_handed_over(
    changes: dict[str, Any],
) -> None:
    scene = a_scene(drained(**changes.get("mark", {})))
    if "mode" in changes:
        scene = copy(scene, policy=replace(scene.policy, mode=changes["mode"]))
    scene = copy(scene, ledger=replace(scene.ledger, **changes.get("ledger", {})))
    scene = copy(scene, evidence=changes.get("evidence", scene.evidence))
    steps = plan(scene).steps
    assert not [one for one in steps if one.decision in {Decision.OFFER, Decision.HAND_OVER}]


def test_the_order_is_taken_back_in_the_step_that_lets_work_return() -> None:
    soaked = drained(state=MarkState.VERIFYING, since=NOW - 7200, handed=MADE)
    step = step_of(quiet(soaked))
    assert isinstance(step, TakeBack)
    assert (step.decision, step.handed, step.episode) == (Decision.TRUST, MADE, "n1.e")
    assert step.write.mark is not None
    assert step.write.mark.handed is None
    kept = step_of(quiet(soaked, bar=HandoverBar(object=TEMPLATE, take_back=False)))
    assert isinstance(kept, NodeWrite)


def test_a_persons_release_and_a_persons_uncordon_take_it_back_too() -> None:
    order = {"n1": Release(author="ana", reason="fixed", since=NOW)}
    ledger = replace(a_ledger(), releases=order)
    step = step_of(quiet(drained(handed=MADE), ledger=ledger))
    assert (type(step), step.decision) == (TakeBack, Decision.RELEASE)
    uncordoned = copy(drained(handed=FIX), unschedulable=False)
    step = step_of(a_scene(uncordoned))
    assert (type(step), step.decision) == (TakeBack, Decision.STAND_DOWN)


def test_an_offer_under_an_old_template_is_taken_back_and_made_anew() -> None:
    old = replace(FIX, name="old-n1")
    step = step_of(a_scene(drained(handed=old)))
    assert isinstance(step, TakeBack)
    assert step.handed == old
    assert step.write.mark is not None
    assert step.write.mark.handed == FIX


@pytest.mark.parametrize(
    ("template", "complaint"),
    [
        ({**TEMPLATE, "apiVersion": "v1"}, "expected group/version"),
        ({**TEMPLATE, "kind": ""}, "the name of a kind"),
        ({**TEMPLATE, "metadata": {"name": "fix"}}, "expected {node} in it"),
        ({**TEMPLATE, "metadata": None}, "expected {node} in it"),
        ({**TEMPLATE, "metadata": {"name": "{node}", "namespace": "{node}"}}, "expected a name"),
        ({**TEMPLATE, "metadata": {"name": "{node}", "annotations": []}}, "texts by name"),
        ({**TEMPLATE, "spec": {"x": ["{nod}"]}}, "'nod'"),
    ],
)
def test_a_template_that_cannot_be_made_is_refused_at_the_start(
    template: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(ValueError, match="object") as caught:
        HandoverBar(object=template)
    assert complaint in str(caught.value)
