"""One sick GPU is tainted instead of its node, where a policy asks for it and the cluster can."""

from __future__ import annotations

from dataclasses import replace as copy
from typing import Any

import pytest
from msgspec.structs import replace

from remediation.policy.bounds.gpu import GpuBar
from remediation.policy.bounds.limits import Mode, Rung
from remediation.policy.facts.demand import Demand
from remediation.policy.facts.device import Device, Devices, Rule
from remediation.policy.facts.evidence import Prediction
from remediation.policy.facts.ledger import Grant
from remediation.policy.facts.mark import MarkState
from remediation.policy.facts.refusal import Reason
from remediation.policy.facts.taint import Effect
from remediation.policy.plan import plan
from remediation.policy.steps import Decision, EvictWave, LiftGpu, NodeWrite, TaintGpu
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
    an_alert,
    calm,
    finding_of,
    proof,
)

SICK = Device(driver="gpu.nvidia.com", pool="n1", name="gpu-3", uuid="GPU-3")
WELL = Device(driver="gpu.nvidia.com", pool="n1", name="gpu-4", uuid="GPU-4")
RULE = Rule(name="forewarn-n1-gpu-3", uid="r1", node="n1", node_uid="uid-n1", place=SICK.place)
CAUSES = GpuBar(causes=("memory", "device"))


def on_gpus(**probabilities: float) -> Prediction:
    """A prediction of n1; keys are uuids with _ for -."""
    gpus = {("24h", uuid.replace("_", "-")): value for uuid, value in probabilities.items()}
    return a_prediction(gpus=gpus)


def a_holder(name: str, *devices: Device, **changes: Any) -> tuple[Any, dict[str, frozenset[Any]]]:
    pod = a_pod(name, node="n1", demand=Demand(devices=True), **changes)
    return pod, {pod.uid: frozenset(one.place for one in devices)}


def a_scene(*alerts: Any, mode: Mode = Mode.MIGRATE, **changes: Any) -> Any:
    """n1 has two published GPUs, of which GPU-3 looks ill; p3 holds it and p4 the other."""
    alerts = alerts or (an_alert("n1"),)
    p3, three = a_holder("p3", SICK)
    p4, four = a_holder("p4", WELL, owner_uid="other", owner_name="other")
    nodes = a_pool(10, changes.pop("node", a_node("n1")))
    devices = {
        "offered": True,
        "published": {"n1": (SICK, WELL, copy_of(WELL, "gpu-5"))},
        "rules": (),
        "held": three | four,
    }
    fields: dict[str, Any] = {
        "nodes": nodes,
        "pods": {**dict.fromkeys(nodes, ()), "n1": (p3, p4)},
        "ledger": a_ledger(*alerts),
        "evidence": proof(*alerts, n1=on_gpus(GPU_3=0.9, GPU_4=0.001)),
        "policy": a_policy(mode, gpu=changes.pop("bar", CAUSES)),
        "devices": Devices(**{**devices, **changes.pop("devices", {})}),
    }
    return a_snapshot(**{**fields, **changes})


def copy_of(device: Device, name: str) -> Device:
    return replace(device, name=name, uuid=name.upper())


def a_tainted_node(**changes: Any) -> Any:
    """n1 with its GPU tainted to move the work on it."""
    fields = {"gpu": SICK, "cordoned": False, "rung": Rung.MIGRATE}
    return a_node("n1", mark=a_mark("n1", **{**fields, **changes}))


def step_of(snapshot: Any) -> Any:
    (step,) = plan(snapshot).steps
    return step


def test_the_gpu_is_tainted_and_the_node_stays_in_service() -> None:
    step = step_of(a_scene())
    assert isinstance(step, TaintGpu)
    assert step.device == SICK
    write = step.write
    assert (write.effect, write.unschedulable) == (None, None)
    assert write.mark is not None
    assert (write.mark.gpu, write.mark.cordoned, write.mark.rung) == (SICK, False, Rung.MIGRATE)
    assert "GPU GPU-3 (gpu-3) of n1 is tainted" in step.sentence


def test_its_grant_is_recorded_first_and_counts_as_a_node() -> None:
    decided = plan(a_scene())
    assert decided.ledger.grants["n1"].gpu == SICK
    assert len(decided.ledger.breaker.window) == 1


def test_as_shipped_the_node_is_taken_whole() -> None:
    step = step_of(a_scene(bar=GpuBar()))
    assert isinstance(step, NodeWrite)
    assert step.decision is Decision.EXCLUDE


def test_a_cause_that_is_not_listed_concerns_the_node_and_takes_the_others_along() -> None:
    alerts = an_alert("n1"), an_alert("n1", cause="thermal", name="Hot")
    probabilities = {("24h", "memory"): 0.9, ("24h", "thermal"): 0.9}
    seen = copy(on_gpus(GPU_3=0.9, GPU_4=0.001), probabilities=probabilities)
    step = step_of(a_scene(*alerts, evidence=proof(*alerts, n1=seen)))
    assert step.decision is Decision.EXCLUDE


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"devices": {"offered": False}}, Reason.NO_DEVICE_TAINTS),
        ({"devices": {"published": {"n1": (WELL,)}}}, Reason.GPU_UNPUBLISHED),
        ({"devices": {"parts": frozenset({"GPU-3"})}}, Reason.GPU_UNPUBLISHED),
        ({"pods": {"n1": (a_pod("plain", node="n1"),)}}, Reason.GPU_UNPUBLISHED),
        ({"gpus": {"GPU_3": 0.9, "GPU_4": 0.8}}, Reason.NO_SINGLE_GPU),
        ({"gpus": {"GPU_3": 0.9, "GPU_4": 0.1}}, Reason.NO_SINGLE_GPU),
        ({"gpus": {"GPU_3": 0.09, "GPU_4": 0.001}}, Reason.NO_SINGLE_GPU),
        ({"gpus": {}}, Reason.NO_SINGLE_GPU),
    ],
)
def test_where_a_gpu_cannot_be_tainted_the_node_is_excluded_keeps_its_work_and_says_why(
    changes: dict[str, Any], reason: Reason
) -> None:
    if "gpus" in changes:
        changes = {"evidence": proof(an_alert("n1"), n1=on_gpus(**changes["gpus"]))}
    if "pods" in changes:
        changes = {"pods": {**dict.fromkeys(a_pool(10), ()), **changes["pods"]}}
    snapshot = a_scene(**changes)
    decided = plan(snapshot)
    (step,) = decided.steps
    assert isinstance(step, NodeWrite)
    assert step.mark is not None
    assert (step.mark.rung, step.mark.cordoned) == (Rung.EXCLUDE, True)
    finding = finding_of(decided)
    assert finding.refusal is not None
    assert finding.refusal.reason is reason
    assert "not its GPU alone" in step.mark.reason
    node = copy(snapshot.nodes["n1"], mark=step.mark, unschedulable=True, taints=step.taints)
    after = plan(copy(snapshot, nodes={**snapshot.nodes, "n1": node}, ledger=decided.ledger))
    assert after.steps == ()
    assert finding_of(after).refusal == finding.refusal


def test_not_being_able_to_look_is_no_reason_to_take_the_whole_node() -> None:
    for unread in ({"offered": None}, {"published": {}}, {"rules": None}, {"held": {}}):
        decided = plan(a_scene(devices=unread))
        assert decided.steps == ()
        refusal = finding_of(decided).refusal
        assert refusal is not None
        assert refusal.reason is Reason.DEVICES_UNREADABLE


def test_an_alert_that_names_its_gpu_is_believed_only_with_its_probability() -> None:
    named = an_alert("n1", uuid="GPU-3")
    for value, sick in ((0.9, True), (0.09, False)):
        gpus = on_gpus(GPU_3=value, GPU_4=0.07)
        step = step_of(a_scene(named, evidence=proof(named, n1=gpus)))
        assert isinstance(step, TaintGpu) is sick


def test_only_the_work_on_that_gpu_moves_and_other_gpus_of_the_node_are_room_for_it() -> None:
    node = a_tainted_node()
    grant = a_grant()
    ledger = replace(a_ledger(an_alert("n1")), grants={"n1": grant})
    scene = a_scene(node=node, ledger=ledger, devices={"rules": (RULE,)})
    elsewhere = {name: (a_pod(f"on-{name}", node=name),) for name in a_pool(10) if name != "n1"}
    scene = copy(scene, pods={**scene.pods, **elsewhere})
    wave = step_of(scene)
    assert isinstance(wave, EvictWave)
    assert [pod.name for pod in wave.pods] == ["p3"]
    published = {"n1": (SICK, WELL)}
    full = copy(scene, devices=copy(scene.devices, published=published))
    refusal = finding_of(plan(full)).refusal
    assert refusal is not None
    assert refusal.reason is Reason.NO_CAPACITY


def a_grant(**changes: Any) -> Grant:
    fields: dict[str, Any] = {
        "id": "n1.g",
        "episode": "n1.e",
        "node_uid": "uid-n1",
        "rung": Rung.MIGRATE,
        "taken_at": NOW - 60,
        "expires_at": NOW + 60,
        "epoch": 1,
        "applied": True,
        "gpu": SICK,
    }
    return Grant(**{**fields, **changes})


def test_once_nothing_holds_the_gpu_the_episode_is_drained_whatever_else_runs_there() -> None:
    p4, four = a_holder("p4", WELL)
    pods = {**dict.fromkeys(a_pool(10), ()), "n1": (p4,)}
    ledger = replace(a_ledger(an_alert("n1")), grants={"n1": a_grant()})
    devices = {"rules": (RULE,), "held": four}
    step = step_of(a_scene(node=a_tainted_node(), ledger=ledger, pods=pods, devices=devices))
    assert (step.decision, step.effect) == (Decision.SETTLE, None)
    assert step.mark.state is MarkState.DRAINED


def test_a_second_sick_gpu_takes_the_whole_node() -> None:
    evidence = proof(an_alert("n1"), n1=on_gpus(GPU_3=0.9, GPU_4=0.9))
    ledger = replace(a_ledger(an_alert("n1")), grants={"n1": a_grant()})
    scene = a_scene(
        node=a_tainted_node(), ledger=ledger, evidence=evidence, devices={"rules": (RULE,)}
    )
    decided = plan(scene)
    (step,) = decided.steps
    assert (step.decision, step.unschedulable) == (Decision.EXCLUDE, True)
    assert step.mark is not None
    assert step.mark.gpu is None
    node = copy(scene.nodes["n1"], mark=step.mark, unschedulable=True, taints=step.taints)
    after = copy(scene, nodes={**scene.nodes, "n1": node}, ledger=decided.ledger)
    assert isinstance(step_of(after), LiftGpu)


def test_a_person_who_takes_our_taint_off_the_gpu_takes_the_node_over() -> None:
    decided = plan(a_scene(node=a_tainted_node(), devices={"rules": ()}))
    (step,) = decided.steps
    assert (step.decision, step.mark) == (Decision.STAND_DOWN, None)
    assert "n1" in decided.ledger.holds
    unread = plan(a_scene(node=a_tainted_node(), devices={"rules": None}))
    assert unread.ledger.holds == {}


def test_a_taint_that_nothing_speaks_for_is_lifted_also_while_paused() -> None:
    quiet = {"ledger": a_ledger(), "evidence": calm("n1"), "devices": {"rules": (RULE,)}}
    step = step_of(a_scene(mode=Mode.OBSERVE, **quiet))
    assert isinstance(step, LiftGpu)
    assert step.rule == RULE


def test_a_taint_is_spoken_for_by_the_mark_by_a_pending_grant_and_by_a_mark_that_is_unread() -> (
    None
):
    pending = replace(a_ledger(an_alert("n1")), grants={"n1": a_grant(applied=False)})
    with_rule = {"devices": {"rules": (RULE,)}}
    assert isinstance(step_of(a_scene(ledger=pending, **with_rule)), TaintGpu)
    unread = a_node("n1", mark_fault="garbage")
    assert plan(a_scene(node=unread, **with_rule)).steps == ()
    elsewhere = {"rules": (copy(RULE, node="not-ours"),)}
    quiet = a_scene(ledger=a_ledger(), evidence=calm("n1"), devices=elsewhere)
    assert plan(quiet).steps == ()


def test_a_gpu_comes_back_on_probation_and_is_proven_by_work_on_it_alone() -> None:
    mark = a_tainted_node(state=MarkState.VERIFYING, since=NOW - 7200).mark
    grants = {"n1": a_grant()}
    ledger = replace(a_ledger(), grants=grants)
    fields = {"ledger": ledger, "evidence": calm("n1"), "devices": {"rules": (RULE,)}}
    step = step_of(a_scene(node=a_node("n1", mark=mark), **fields))
    assert (step.decision, step.effect) == (Decision.TRUST, Effect.PREFER)
    trusted = replace(step.mark, since=NOW - 3600)
    node = a_node("n1", mark=trusted)
    assert isinstance(step_of(a_scene(node=node, **fields)), LiftGpu)
    fields["devices"] = {"rules": ()}
    p3, three = a_holder("p3", SICK, created_at=NOW - 3000)
    p4, four = a_holder("p4", WELL, created_at=NOW - 9000)
    for pods, proven in (((p4,), False), ((p3, p4), True)):
        here = {**dict.fromkeys(a_pool(10), ()), "n1": pods}
        scene = a_scene(node=node, pods=here, **fields)
        scene = copy(scene, devices=copy(scene.devices, held=three | four))
        assert [s.decision for s in plan(scene).steps] == [Decision.RELEASE] * proven


def test_in_observe_mode_it_says_what_would_be_done_and_to_which_gpu() -> None:
    decided = plan(a_scene(mode=Mode.OBSERVE))
    assert decided.steps == ()
    assert decided.ledger.grants == {}
    finding = finding_of(decided)
    assert finding.only_observed
    assert "would act: GPU GPU-3 (gpu-3) of n1 is tainted" in finding.sentence


def test_once_more_is_allowed_the_same_gpu_is_emptied_under_a_grant_of_its_own() -> None:
    node = a_tainted_node(rung=Rung.EXCLUDE)
    ledger = replace(a_ledger(an_alert("n1")), grants={"n1": a_grant(rung=Rung.EXCLUDE)})
    scene = {"node": node, "ledger": ledger, "devices": {"rules": (RULE,)}}
    assert plan(a_scene(mode=Mode.EXCLUDE, **scene)).steps == ()
    step = step_of(a_scene(node=node, ledger=ledger, devices={"rules": (RULE,)}))
    assert isinstance(step, TaintGpu)
    assert step.write.mark is not None
    assert (step.write.mark.rung, step.write.mark.episode) == (Rung.MIGRATE, "n1.e")
