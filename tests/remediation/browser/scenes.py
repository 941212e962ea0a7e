"""What a status page may have to show."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from remediation.policy.bounds.limits import Limits, Mode, Rung
from remediation.policy.facts.ledger import Bucket, Pause
from remediation.policy.facts.mark import MarkState
from remediation.policy.facts.suspects import hear
from tests.remediation.builders import (
    NOW,
    a_ledger,
    a_mark,
    a_node,
    a_pod,
    a_policy,
    a_pool,
    an_alert,
    an_excluded_node,
    calm,
    proof,
)

if TYPE_CHECKING:
    from tests.remediation.replica import Replica

ROOM = {"nvidia.com/gpu": 8.0, "cpu": 128.0, "memory": 2e12, "pods": 110.0}
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=alert(1)>" + "W" * 120


def nothing(replica: Replica) -> None:
    replica.face.tick(said="", ledger=a_ledger(), evidence=calm())


def one(replica: Replica) -> None:
    replica.face.tick(said="")


def many(replica: Replica) -> None:
    """500 suspects: the budget moves two, the rest is deferred."""
    alerts = tuple(an_alert(f"gpu-{number:04d}") for number in range(500))
    limits = Limits(predicted_percent=100, domains=(), breaker_grants=50)
    ledger = hear(a_ledger(), alerts, now=NOW - 30, limits=Limits(suspects=1000))
    replica.face.tick(
        said="",
        nodes={alert.node: a_node(alert.node) for alert in alerts},
        ledger=ledger,
        evidence=proof(*alerts),
        policy=a_policy(limits=limits),
    )


def hostile(replica: Replica) -> None:
    """Free text of people, and a mark of somebody who means no good."""
    mark = a_mark(reason=HOSTILE)
    replica.face.tick(
        said="",
        nodes=a_pool(10, an_excluded_node(mark=mark), a_node("n" * 253)),
        ledger=a_ledger(
            an_alert(),
            an_alert("n" * 253),
            pause=Pause(author=HOSTILE, reason=HOSTILE, since=NOW),
        ),
    )


def a_working_day(replica: Replica) -> None:
    """Some of everything: the scene of the picture in the documentation."""
    alerts = [an_alert(f"gpu-{number:03d}") for number in (17, 21, 33, 48, 52, 60)]
    special: list[Any] = [
        an_excluded_node("gpu-017", mark=a_mark("gpu-017", rung=Rung.MIGRATE, grant="gpu-017.g")),
        an_excluded_node(
            "gpu-021",
            mark=a_mark("gpu-021", state=MarkState.DRAINED, rung=Rung.MIGRATE, grant="gpu-021.g"),
        ),
        an_excluded_node(
            "gpu-005", mark=a_mark("gpu-005", state=MarkState.VERIFYING, since=NOW - 900)
        ),
        a_node(
            "gpu-009",
            mark=a_mark(
                "gpu-009",
                state=MarkState.PROBATION,
                rung=Rung.SOFTEN,
                cordoned=False,
                probation=True,
                since=NOW - 600,
            ),
        ),
        a_node("gpu-033", held=True),
    ]
    names = [f"gpu-{number:03d}" for number in range(1, 65)]
    nodes = {name: a_node(name) for name in names} | {node.name: node for node in special}
    nodes = {name: dataclasses.replace(node, allocatable=ROOM) for name, node in nodes.items()}
    work = {name: (a_pod(f"train-{name}", node=name, ends_at=NOW + 20),) for name in ("gpu-017",)}
    quiet = calm("gpu-005", "gpu-009").predictions or {}
    replica.face.tick(
        said="",
        nodes=nodes,
        ledger=replace(a_ledger(*alerts), bucket=Bucket(tokens=0.0, refilled_at=NOW - 60)),
        evidence=proof(*alerts, **quiet),
        pods=dict.fromkeys(nodes, ()) | work,
        policy=a_policy(Mode.MIGRATE, limits=Limits(domains=())),
    )
