"""The loop and GPUs as devices: it asks when it matters, and goes on when it cannot know."""

from __future__ import annotations

from typing import Any

from remediation.policy.bounds.gpu import GpuBar
from remediation.policy.bounds.limits import Mode
from remediation.policy.facts.demand import Demand
from remediation.policy.facts.device import Devices
from remediation.ports import CallFailed, EvidenceReading, FailureReason, Pods
from tests.remediation.builders import a_pod, a_policy, an_alert, proof
from tests.remediation.loop.test_loop import Scene
from tests.remediation.policy.ladder.test_one_gpu import RULE, SICK, on_gpus

ONE_GPU = GpuBar(causes=("memory",))


class GpuScene(Scene):
    """n1 has one published GPU, which looks ill, and a pod on it."""

    def pods(self) -> Pods:
        pod = a_pod("p1", node="n1", demand=Demand(devices=True))
        return Pods({**dict.fromkeys(self.pool, ()), "n1": (pod,)})

    def read(self, *asked: Any) -> Any:
        if not asked:
            return super().read()
        return EvidenceReading(proof(an_alert(), n1=on_gpus(GPU_3=0.9)), {})


def a_scene(**changes: Any) -> GpuScene:
    policy = a_policy(Mode.EXCLUDE, gpu=ONE_GPU)
    known = Devices(
        offered=True, published={"n1": (SICK,)}, rules=(), held={"uid-p1": frozenset({SICK.place})}
    )
    return GpuScene(**{"policy": policy, "gpus": known, **changes})


def test_the_grant_is_written_then_the_gpu_is_tainted_then_people_are_told() -> None:
    scene = a_scene()
    scene.loop.tick()
    assert scene.order == ["ledger", "taint gpu-3 of n1", "event"]
    assert scene.asked_devices == [(["n1"], True)]


def test_a_taint_left_behind_is_lifted() -> None:
    scene = a_scene(alerts=(), gpus=Devices(offered=True, rules=(RULE,)))
    scene.loop.tick()
    assert scene.order[-2:] == [f"lift {RULE.name}", "event"]


def test_devices_that_cannot_be_read_hold_their_node_and_nothing_else() -> None:
    failure = CallFailed("list resource slices: 403", FailureReason.FORBIDDEN)
    scene = a_scene(devices_fail=failure, alerts=(an_alert(), an_alert("n2")))
    scene.policy = a_policy(Mode.EXCLUDE, gpu=ONE_GPU)
    scene.loop.tick()
    status = scene.report.status
    assert status is not None
    reasons = {one.node: one.refusal.reason for one in status.findings if one.refusal}
    assert reasons["n1"] == "devices_unreadable"
    assert scene.loop is not None
    name, labels = "forewarn_remediation_errors_total", {"source": "kubernetes"}
    assert scene.registry.get_sample_value(name, {**labels, "reason": "forbidden"}) == 1


def test_who_asks_for_no_gpu_is_not_in_use() -> None:
    scene = Scene()
    scene.loop.tick()
    assert scene.asked_devices == [([], False)]
