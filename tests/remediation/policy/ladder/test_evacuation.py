"""A domain in trouble is left node by node where the policy says so, and only within the limits."""

from __future__ import annotations

from dataclasses import replace as copy
from typing import Any

import pytest
from msgspec.structs import replace

from remediation.policy.bounds.facility import FacilityBar
from remediation.policy.bounds.limits import DomainLimit, Mode, Rung
from remediation.policy.facts.evidence import Evidence
from remediation.policy.facts.ledger import Pause
from remediation.policy.facts.mark import MarkState
from remediation.policy.facts.refusal import Reason
from remediation.policy.plan import plan
from remediation.policy.steps import AskCheckpoint, Decision, EvictWave, NodeWrite
from tests.remediation.builders import NOW, WIDE, a_mark, a_node, a_pod, a_policy, finding_of
from tests.remediation.policy.guards.test_facility import ALARM, a_scene, during, in_rack_a, racks

ONE = replace(WIDE, domains=(DomainLimit(label="rack", concurrency=1),))
EVACUATE = FacilityBar(evacuate=True)


def softened(name: str, **changes: Any) -> Any:
    fields = {"state": MarkState.ELEVATED, "rung": Rung.SOFTEN, "cordoned": False}
    return in_rack_a(
        a_node(name, mark=a_mark(name, **{**fields, "episode": "facility.1", **changes}))
    )


def a_rack(busy: tuple[str, ...] = ("n1", "n2"), **changes: Any) -> Any:
    """Rack a is in trouble and softly tainted; one pod runs on each of `busy`."""
    nodes = racks(**{f"n{number}": softened(f"n{number}") for number in range(1, 5)})
    nodes |= changes.pop("nodes", {})
    pods = {name: (a_pod(f"on-{name}", node=name, owner_uid=name),) for name in busy}
    bar, mode = changes.pop("bar", EVACUATE), changes.pop("mode", Mode.MIGRATE)
    fields = {
        "nodes": nodes,
        "pods": {**dict.fromkeys(nodes, ()), **changes.pop("pods", pods)},
        "policy": a_policy(mode, limits=changes.pop("limits", ONE), facility=bar),
    }
    return during(a_scene(ALARM, **{**fields, **changes}))


def excluded(snapshot: Any) -> list[str]:
    steps = [step for step in plan(snapshot).steps if isinstance(step, NodeWrite)]
    return [step.node.name for step in steps if step.decision is Decision.EXCLUDE]


def test_one_node_at_a_time_leaves_and_the_others_wait_for_their_turn() -> None:
    snapshot = a_rack()
    assert excluded(snapshot) == ["n1"]
    decided = plan(snapshot)
    assert decided.ledger.grants["n1"].rung is Rung.MIGRATE
    waiting = finding_of(decided, "n2").refusal
    assert waiting is not None
    assert waiting.reason is Reason.DOMAIN_CONCURRENCY


def test_as_shipped_nobody_leaves() -> None:
    assert excluded(a_rack(bar=FacilityBar())) == []


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"mode": Mode.EXCLUDE}, id="mode"),
        pytest.param({"busy": ()}, id="empty-nodes"),
        pytest.param({"evidence": Evidence()}, id="blind"),
        pytest.param(
            {"nodes": {"n1": in_rack_a(a_node("n1"))}, "busy": ("n1",)}, id="not-yet-soft"
        ),
    ],
)
def test_only_marked_nodes_with_work_leave_under_fresh_evidence(changes: dict[str, Any]) -> None:
    assert excluded(a_rack(**changes)) == []


def test_a_pause_and_a_lack_of_room_elsewhere_keep_it_where_it_is() -> None:
    snapshot = a_rack()
    pause = Pause(author="a", reason="r", since=NOW)
    assert excluded(copy(snapshot, ledger=replace(snapshot.ledger, pause=pause))) == []
    full = {name: node for name, node in snapshot.nodes.items() if node.labels["rack"] == "a"}
    pods = {name: snapshot.pods[name] for name in full}
    refusal = finding_of(plan(copy(snapshot, nodes=full, pods=pods))).refusal
    assert refusal is not None
    assert refusal.reason is Reason.NO_CAPACITY


def test_what_waits_for_its_turn_is_saved_meanwhile() -> None:
    saving = {"notes": {"forewarn.dev/checkpoint": "annotate"}}
    pods = {
        name: (a_pod(f"on-{name}", node=name, owner_uid=name, **saving),) for name in ("n1", "n2")
    }
    steps = plan(a_rack(pods=pods)).steps
    assert [step.nodes[0].name for step in steps if isinstance(step, AskCheckpoint)] == ["n2"]


def test_the_work_of_an_excluded_node_leaves_without_a_suspicion_of_its_own() -> None:
    out = softened("n2", state=MarkState.EXCLUDED, rung=Rung.MIGRATE, cordoned=True)
    snapshot = a_rack(nodes={"n2": copy(out, unschedulable=True)}, busy=("n2",))
    first = plan(snapshot)
    granted = replace(
        snapshot.ledger,
        grants={"n2": replace(first.ledger.grants["n2"], rung=Rung.MIGRATE)},
    )
    (wave,) = [s for s in plan(copy(snapshot, ledger=granted)).steps if isinstance(s, EvictWave)]
    assert [pod.name for pod in wave.pods] == ["on-n2"]
    over = copy(snapshot, ledger=granted, evidence=copy(snapshot.evidence, alerts=()))
    assert not [s for s in plan(over).steps if isinstance(s, EvictWave)]
