"""A wave of evictions: what the answers of the server, and their absence, are taken for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import urllib3.exceptions
from kubernetes.client.exceptions import ApiException

from remediation.kube.eviction import evict_wave
from remediation.ports import EvictionOutcome
from tests.remediation.builders import a_pod


@dataclass
class Asked:
    """A connection that notes what it was asked, and raises what it is told to for each kind."""

    dry: Exception | None = None
    real: Exception | None = None
    raw: dict[str, Any] = field(default_factory=dict)
    calls: list[tuple[str, bool, str]] = field(default_factory=list)

    @property
    def core(self) -> Asked:
        return self

    def create_namespaced_pod_eviction(self, *, name: str, body: Any, **options: Any) -> Asked:
        dry = options.get("dry_run") == "All"
        uid = body["deleteOptions"]["preconditions"]["uid"]
        self.calls.append((name, dry, uid))
        failure = self.dry if dry else self.real
        if failure is not None:
            raise failure
        return self

    def drain_conn(self) -> None:
        pass


def evicted(asked: Any, *names: str) -> dict[str, Any]:
    pods = tuple(a_pod(name) for name in names)
    return dict(evict_wave(asked, pods, may_go_on=lambda: True))


def test_all_are_tried_dry_before_the_first_is_asked_by_its_uid() -> None:
    asked = Asked()
    found = evicted(asked, "a", "b")
    assert [(name, dry) for name, dry, _ in asked.calls] == [
        ("a", True),
        ("b", True),
        ("a", False),
        ("b", False),
    ]
    assert {uid for *_, uid in asked.calls} == {"uid-a", "uid-b"}
    assert {one.outcome for one in found.values()} == {EvictionOutcome.ACCEPTED}


def test_one_that_is_refused_dry_keeps_all_where_they_are() -> None:
    asked = Asked(dry=ApiException(status=429))
    found = evicted(asked, "a", "b")
    assert all(dry for _, dry, _ in asked.calls)
    assert {one.outcome for one in found.values()} == {EvictionOutcome.OVERLOADED}


def test_one_whose_answer_was_lost_may_have_been_done_unless_it_was_dry() -> None:
    lost = urllib3.exceptions.ProtocolError("closed")
    (real,) = evicted(Asked(real=lost), "a").values()
    assert (real.outcome, real.may_have_happened) == (EvictionOutcome.FAILED, True)
    (dry,) = evicted(Asked(dry=lost), "a").values()
    assert (dry.outcome, dry.may_have_happened) == (EvictionOutcome.FAILED, False)
    (refused,) = evicted(Asked(real=ApiException(status=500, reason="x")), "a").values()
    assert not refused.may_have_happened
