"""R23: an owner that denies the eviction and moves the pod itself is waited for, not fought."""

from __future__ import annotations

import io
import json
from dataclasses import replace as copy
from typing import Any

import pytest
from kubernetes.client.exceptions import ApiException
from prometheus_client import CollectorRegistry

from daemon.logs import logger
from remediation.catalog import Catalog
from remediation.kube.eviction import classify
from remediation.moves import Moves, refused
from remediation.policy.bounds.migration import MigrationBar
from remediation.policy.facts.refusal import Reason
from remediation.policy.plan import plan
from remediation.policy.steps import EpisodeState, EvictWave
from remediation.ports import EvictionAnswer, EvictionOutcome
from remediation.report import Report
from tests.remediation.builders import finding_of
from tests.remediation.memory import HandClock
from tests.remediation.policy.scene import a_gang, a_scene

DENIAL = 'admission webhook "drain.kafka.example" denied the request: pod will be rolled'
NO_RIGHT = (
    'pods "a-0" is forbidden: User "system:serviceaccount:fw:fw" cannot create resource'
    ' "pods/eviction" in API group "" in the namespace "train"'
)


def answered(status: int, message: str) -> EvictionAnswer:
    error = ApiException(status=status)
    error.body = json.dumps({"kind": "Status", "reason": "Forbidden", "message": message})
    return classify(error)


@pytest.mark.parametrize("status", [403, 400])
def test_r23_a_webhooks_denial_is_the_owner_speaking(status: int) -> None:
    answer = answered(status, DENIAL)
    assert (answer.outcome, answer.words) == (EvictionOutcome.DENIED, DENIAL)


def test_r23_a_missing_right_is_not() -> None:
    assert answered(403, NO_RIGHT).outcome is EvictionOutcome.NOT_ALLOWED
    assert answered(400, "name in URL does not match").outcome is EvictionOutcome.FAILED


class Server:
    """A cluster that gives every eviction the same answer."""

    def __init__(self, answer: EvictionAnswer) -> None:
        self.answer = answer
        self.asked = 0
        self.time = HandClock()
        log = logger("moves", style="json", stream=io.StringIO())
        report = Report(Catalog(CollectorRegistry()), log, self.time.clock)
        # One class plays both ports, and has of each what is asked for here.
        self.moves = Moves(self, self, report, self.time.clock)  # type: ignore[arg-type]

    def evict(self, wave: EvictWave, *, may_go_on: Any) -> dict[str, EvictionAnswer]:
        self.asked += 1
        return {pod.uid: self.answer for pod in wave.pods}

    def scene(self, *nodes: str, gangs: bool = True) -> Any:
        pods = {}
        for node in nodes:
            notes = {"forewarn.dev/group": f"of-{node}"}
            pods |= a_gang(node, notes=notes, namespace=f"ns-{node}")
        return a_scene(
            pods,
            excluded=nodes,
            now=self.time.clock.wall(),
            trials=self.moves.trials,
        )

    def try_all(self, snapshot: Any) -> list[Any]:
        decided = plan(snapshot)
        found = []
        for step in decided.steps:
            assert isinstance(step, EvictWave)
            no = self.moves.evict(step, MigrationBar(), may_go_on=lambda: True)
            assert no is not None
            found.append(refused(finding_of(decided, step.nodes[0].name), step, no))
        return found


def test_r23_the_owner_is_asked_slowly_and_blocks_nobody_meanwhile() -> None:
    server = Server(answered(403, DENIAL))
    (finding,) = server.try_all(server.scene("n1"))
    assert finding.state is EpisodeState.MIGRATING
    assert finding.refusal.reason is Reason.OWNER_MOVES
    assert DENIAL in finding.sentence
    for seconds, asked in ((10, 1), (19, 1), (1, 2), (29, 2)):
        server.time.pass_time(seconds)
        server.try_all(server.scene("n1"))
        assert server.asked == asked


def test_r23_a_denial_for_ever_is_blocked_in_the_owners_words() -> None:
    server = Server(answered(403, DENIAL))
    decided = plan(server.scene("n1"))
    (step,) = decided.steps
    assert isinstance(step, EvictWave)
    overdue = copy(step, overdue=True)
    no = server.moves.evict(overdue, MigrationBar(), may_go_on=lambda: True)
    assert no is not None
    finding = refused(finding_of(decided), overdue, no)
    assert finding.state is EpisodeState.BLOCKED
    assert DENIAL in finding.sentence


def test_r23_a_missing_right_is_one_fault_of_the_service_and_no_storm() -> None:
    server = Server(answered(403, NO_RIGHT))
    server.try_all(server.scene("n1"))
    assert server.asked == 1
    others = plan(server.scene("n2", "n3"))
    assert others.steps == ()
    reasons = {f.refusal.reason for f in others.findings if f.refusal}
    assert reasons == {Reason.NOT_ALLOWED}
    words = {f.refusal.words for f in others.findings if f.refusal}
    assert words == {"this service may not evict pods: grant it create on pods/eviction"}
