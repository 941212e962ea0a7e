"""Whose Jobs pods are of: asked once for a namespace, and only where it matters."""

from __future__ import annotations

from typing import Any

import pytest

from remediation.kube.connection import Connection
from remediation.kube.owners import Owners
from remediation.policy.facts.pod import Owner
from remediation.ports import CallFailed, FailureReason, Pods
from tests.remediation.builders import a_pod
from tests.remediation.kube.test_devices import Api

TOP = {"kind": "Training", "name": "llm", "uid": "u-top", "controller": True}
LABELS = {"batch.kubernetes.io/job-name": "j"}


@pytest.fixture
def api() -> Any:
    found = Api({})
    found.lists("jobs", a_job("u-1", TOP), a_job("u-2", {**TOP, "controller": False}))
    yield found
    found.server.close()


def a_job(uid: str, *owners: Any) -> Any:
    return {"metadata": {"name": uid, "uid": uid, "ownerReferences": list(owners)}}


def of(uid: str, name: str = "p", **changes: Any) -> Any:
    return a_pod(name, owner_uid=uid, labels=LABELS, **changes)


def owners(api: Api) -> Owners:
    connection: Connection = api.gpus._connection
    return Owners(connection)


def tops(found: Pods) -> dict[str, Owner | None]:
    return {pod.name: pod.top for pods in (*found.on.values(), found.pending) for pod in pods}


def test_siblings_on_other_nodes_and_those_that_wait_are_named_too(api: Api) -> None:
    there = {"n1": (of("u-1", "a"),), "n2": (of("u-1", "b"), of("u-2", "c"))}
    found = owners(api).named(Pods(there, (of("u-1", "d"),)), {"n1"})
    top = Owner("Training", "llm", "u-top")
    assert tops(found) == {"a": top, "b": top, "c": None, "d": top}


def test_a_namespace_is_asked_once_until_a_new_job_appears(api: Api) -> None:
    asked = owners(api)
    for _ in range(3):
        asked.named(Pods({"n1": (of("u-1"), of("u-gone"))}), {"n1"})
    assert len(api.asked) == 1
    asked.named(Pods({"n1": (of("u-new"),)}), {"n1"})
    assert len(api.asked) == 2


def test_where_no_node_is_concerned_nobody_is_asked(api: Api) -> None:
    pods = Pods({"n1": (of("u-1"),), "n2": ()})
    assert owners(api).named(pods, {"n2"}) is pods
    assert api.asked == []


def test_without_the_right_each_job_is_its_own_and_without_an_answer_the_tick_waits(
    api: Api,
) -> None:
    api.answers["GET", "jobs"] = 503, {"code": 503}
    pods = Pods({"n1": (of("u-1"),)})
    with pytest.raises(CallFailed) as caught:
        owners(api).named(pods, {"n1"})
    assert caught.value.reason is FailureReason.OVERLOADED
    api.answers["GET", "jobs"] = 403, {"code": 403}
    asked = owners(api)
    assert asked.named(pods, {"n1"}) is pods
    assert asked.named(pods, {"n1"}) is pods
    assert len(api.asked) == 2
