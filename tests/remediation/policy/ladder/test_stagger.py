"""One node at a time, one domain at a time, and not on the beat: a herd is ours to prevent."""

from __future__ import annotations

from typing import Any

from remediation.policy.bounds.limits import DomainLimit, Limits, ReleaseBar
from remediation.policy.facts.evidence import Evidence
from remediation.policy.facts.mark import MarkState
from remediation.policy.facts.refusal import Reason
from remediation.policy.plan import plan
from tests.remediation.builders import (
    NOW,
    a_ledger,
    a_mark,
    a_policy,
    a_pool,
    a_snapshot,
    an_excluded_node,
    calm,
    finding_of,
)

RACK = "topology.kubernetes.io/rack"
LIMITS = Limits(domains=(DomainLimit(label=RACK),))


def in_rack(name: str, rack: str, **changes: Any) -> Any:
    mark = a_mark(name, state=MarkState.VERIFYING, since=NOW - 3600)
    labels = {RACK: rack} if rack else {}
    return an_excluded_node(name, mark=mark, labels=labels, **changes)


def released(*nodes: Any, evidence: Evidence | None = None, **ledger: Any) -> tuple[Any, list[str]]:
    decided = plan(
        a_snapshot(
            nodes=a_pool(10, *nodes),
            evidence=evidence or calm(*(node.name for node in nodes)),
            ledger=a_ledger(**{"released_at": NOW - 600, **ledger}),
            policy=a_policy(limits=LIMITS, release=ReleaseBar(jitter_seconds=0)),
        )
    )
    return decided, [step.nodes[0].name for step in decided.steps]


def test_the_rest_of_a_rack_comes_back_before_the_next_one() -> None:
    nodes = (in_rack("n1", "r1"), in_rack("n2", "r2"), in_rack("n3", "r2"))
    decided, names = released(*nodes, released_in=f"{RACK}=r2")
    assert names == ["n2"]
    assert decided.ledger.released_in == f"{RACK}=r2"
    refusal = finding_of(decided, "n1").refusal
    assert refusal is not None
    assert refusal.reason is Reason.RELEASE_DOMAIN
    assert refusal.words == f"the other nodes of {RACK}=r2 come back first"


def test_a_rack_that_is_done_lets_the_next_one_begin() -> None:
    decided, names = released(in_rack("n1", "r1"), released_in=f"{RACK}=r2")
    assert names == ["n1"]
    assert decided.ledger.released_in == f"{RACK}=r1"


def test_a_node_that_cannot_come_back_now_holds_no_other_rack_up() -> None:
    held = in_rack("n2", "r2", held=True)
    unwell = in_rack("n3", "r2", ready=False)
    silent = in_rack("n4", "r2")
    nodes = (in_rack("n1", "r1"), held, unwell, silent)
    _, names = released(*nodes, evidence=calm("n1", "n2", "n3"), released_in=f"{RACK}=r2")
    assert "n1" in names


def test_a_node_without_a_rack_waits_its_turn_and_begins_none() -> None:
    decided, names = released(in_rack("n1", ""), released_in=f"{RACK}=r2")
    assert names == ["n1"]
    assert decided.ledger.released_in == ""


def test_each_node_waits_a_little_more_than_the_interval_and_always_as_much() -> None:
    policy = a_policy(limits=LIMITS, release=ReleaseBar(jitter_seconds=120))

    def waits(name: str) -> int:
        node = in_rack(name, "")
        for extra in range(130):
            snapshot = a_snapshot(
                now=NOW + extra,
                nodes=a_pool(10, node),
                evidence=calm(name),
                ledger=a_ledger(released_at=NOW - 600),
                policy=policy,
            )
            if plan(snapshot).steps:
                return extra
        raise AssertionError(name)

    drawn = {name: waits(name) for name in ("n1", "n2", "n3", "n4")}
    assert drawn == {name: waits(name) for name in drawn}
    assert all(0 <= extra <= 121 for extra in drawn.values())
    assert len(set(drawn.values())) > 1
