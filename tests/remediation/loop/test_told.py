"""What the loop tells people: a failure once, a decision once, and again when it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remediation.policy.bounds.limits import Mode
from remediation.ports import (
    CallFailed,
    FailureReason,
)
from tests.remediation.builders import (
    a_policy,
)

if TYPE_CHECKING:
    pass
from tests.remediation.loop.test_loop import Scene


def test_the_same_failure_is_logged_once_and_counted_each_time() -> None:
    scene = Scene(nodes_fail=CallFailed("list nodes: refused", FailureReason.UNREACHABLE))
    for _ in range(4):
        scene.loop.tick()
    assert len(scene.log()) == 1
    assert scene.errors("kubernetes", "unreachable") == 4
    scene.nodes_fail = None
    scene.loop.tick()
    scene.nodes_fail = CallFailed("list nodes: refused", FailureReason.UNREACHABLE)
    scene.loop.tick()
    assert len([line for line in scene.log() if line["event"] == "call failed"]) == 2


def test_what_nobody_expected_is_counted_and_does_not_end_the_loop() -> None:
    scene = Scene(nodes_fail=RuntimeError("a bug"))
    assert not scene.loop.tick()
    assert scene.errors("loop", "unexpected") == 1
    scene.nodes_fail = None
    assert scene.loop.tick()


def test_a_decision_is_told_once_and_again_when_it_changes() -> None:
    scene = Scene(policy=a_policy(Mode.OBSERVE))
    for _ in range(3):
        scene.loop.tick()
        scene.time.pass_time(5)
    assert [line["node"] for line in scene.log()] == ["n1", "n2"]
    scene.policy = a_policy(Mode.EXCLUDE)
    scene.loop.tick()
    assert [line["decision"] for line in scene.log()[2:]] == ["exclude", "exclude"]
