"""Scenes of jobs on nodes at risk, for the tests of batches and waves."""

from __future__ import annotations

from dataclasses import replace as copy
from typing import Any

from msgspec.structs import replace

from remediation.policy.bounds.limits import Mode, Rung
from remediation.policy.facts.ledger import Wave
from remediation.policy.facts.refusal import Reason
from remediation.policy.plan import plan
from remediation.policy.steps import EvictWave
from tests.remediation.builders import (
    NOW,
    WIDE,
    a_mark,
    a_pod,
    a_policy,
    a_pool,
    a_suspect_snapshot,
    an_alert,
    an_excluded_node,
)

GANG = {"notes": {"forewarn.dev/group": "llm"}}
KEY = "jobs/group/llm"
SERVING = {"owner": "ReplicaSet", "owner_name": "serve", "owner_uid": "uid-serve"}
STATEFUL = {"owner": "StatefulSet", "owner_name": "db", "owner_uid": "uid-db"}


def a_gang(*nodes: str, **changes: Any) -> dict[str, tuple[Any, ...]]:
    """One pod of one gang on each node."""
    return {node: (a_pod(f"g-{node}", node=node, **{**GANG, **changes}),) for node in nodes}


def a_scene(
    pods: dict[str, tuple[Any, ...]], *, excluded: tuple[str, ...] = (), **changes: Any
) -> Any:
    """Nodes with `pods` are at risk, `excluded` of them are so under a grant to move work."""
    names = changes.pop("suspects", tuple(pods))
    limits = changes.pop("limits", WIDE)
    marked = [an_excluded_node(n, mark=a_mark(n, rung=Rung.MIGRATE)) for n in excluded]
    nodes = a_pool(20, *marked)
    fields = {
        "nodes": nodes,
        "pods": {**dict.fromkeys(nodes, ()), **pods},
        "policy": a_policy(Mode.MIGRATE, limits=limits),
        "volumes": {("jobs", claim): None for claim in ("data", "b")},
    }
    return a_suspect_snapshot(*(an_alert(name) for name in names), **{**fields, **changes})


def reasons(snapshot: Any) -> dict[str, Reason | None]:
    return {f.node: f.refusal.reason if f.refusal else None for f in plan(snapshot).findings}


def waves_of(snapshot: Any) -> list[EvictWave]:
    return [step for step in plan(snapshot).steps if isinstance(step, EvictWave)]


def a_wave(**changes: Any) -> Wave:
    fields: dict[str, Any] = {
        "job": "group jobs/llm",
        "namespace": "jobs",
        "nodes": ("n1", "n2"),
        "pods": ("uid-g-n1", "uid-g-n2"),
        "began_at": NOW - 60,
        "moved_at": NOW - 60,
    }
    return Wave(**{**fields, **changes})


def with_waves(snapshot: Any, **waves: Wave) -> Any:
    named = {KEY if key == "llm" else key: wave for key, wave in waves.items()}
    return copy(snapshot, ledger=replace(snapshot.ledger, waves=named))


def unread(snapshot: Any) -> Any:
    """The same moment, had nobody read the pods."""
    return copy(snapshot, pods={})
