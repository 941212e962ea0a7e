"""Before work leaves it is saved: asked once, awaited, bounded, and no excuse for moving late."""

from __future__ import annotations

from dataclasses import replace as copy
from typing import Any

import pytest
from msgspec.structs import replace

from remediation.policy.bounds.migration import MigrationBar, Snapshots
from remediation.policy.facts.ledger import Ending, Preparation
from remediation.policy.facts.refusal import Reason
from remediation.policy.facts.snapshot import Part
from remediation.policy.plan import plan
from remediation.policy.steps import AskCheckpoint, Decision, EpisodeState, EvictWave, TakeSnapshots
from tests.remediation.builders import NOW, WIDE, a_pod, an_alert, finding_of
from tests.remediation.policy.scene import GANG, KEY, a_gang, a_scene, reasons

ASKS = {"notes": {**GANG["notes"], "forewarn.dev/checkpoint": "annotate"}}
HTTP = {"notes": {**GANG["notes"], "forewarn.dev/checkpoint": "http"}}
VOLUMES = {"notes": {**GANG["notes"], "forewarn.dev/snapshot": "true"}, "claims": ("data",)}


def a_job(*nodes: str, **changes: Any) -> Any:
    """A gang on `nodes`, all of which are being emptied."""
    scene = {k: changes.pop(k) for k in ("limits", "answers", "suspects") if k in changes}
    fields = {**ASKS, **changes}
    return a_scene(a_gang(*nodes, **fields), excluded=nodes, **scene)


def asked(snapshot: Any, kind: str = "checkpoints", **changes: Any) -> Any:
    """The same moment with a preparation recorded for the gang."""
    parts = tuple(pod.uid for pods in snapshot.pods.values() for pod in pods)
    fields = {"id": "c1", "parts": parts, "asked_at": NOW - 10, **changes}
    return copy(snapshot, ledger=replace(snapshot.ledger, **{kind: {KEY: Preparation(**fields)}}))


def the_step(snapshot: Any) -> Any:
    (step,) = plan(snapshot).steps
    return step


def test_all_ranks_that_ask_for_it_are_asked_before_any_leaves() -> None:
    pods = a_gang("n1", **ASKS) | a_gang("n7", **ASKS) | a_gang("n8")
    decided = plan(a_scene(pods, excluded=("n1",), suspects=("n1",)))
    (step,) = decided.steps
    assert isinstance(step, AskCheckpoint)
    assert {pod.node for pod in step.pods} == {"n1", "n7"}
    assert step.first
    assert decided.ledger.checkpoints[KEY].id == step.id
    assert decided.ledger.waves == {}
    assert finding_of(decided).state is EpisodeState.CHECKPOINTING


def test_a_job_that_asks_for_nothing_is_moved_at_once() -> None:
    assert isinstance(the_step(a_job("n1", notes=GANG["notes"])), EvictWave)


def test_an_unknown_way_to_be_asked_is_no_way() -> None:
    notes = {**GANG["notes"], "forewarn.dev/checkpoint": "carrier-pigeon"}
    assert isinstance(the_step(a_job("n1", notes=notes)), EvictWave)


def test_replicas_that_stay_are_not_asked() -> None:
    serving = {"owner": "ReplicaSet", "owner_name": "s", "owner_uid": "s"}
    notes = {"forewarn.dev/checkpoint": "annotate"}
    pods = a_gang("n1", "n7", notes=notes, **serving)
    step = the_step(a_scene(pods, excluded=("n1",), suspects=("n1",)))
    assert isinstance(step, AskCheckpoint)
    assert [pod.node for pod in step.pods] == ["n1"]


def test_a_pod_that_noted_the_request_is_waited_for() -> None:
    notes = {**ASKS["notes"], "forewarn.dev/checkpoint-requested": "c1"}
    snapshot = asked(a_job("n1", notes=notes))
    assert plan(snapshot).steps == ()
    assert reasons(snapshot) == {"n1": Reason.CHECKPOINT_PENDING}
    assert finding_of(plan(snapshot)).state is EpisodeState.CHECKPOINTING


def test_a_request_that_a_crash_swallowed_is_made_again_under_its_name() -> None:
    step = the_step(asked(a_job("n1")))
    assert isinstance(step, AskCheckpoint)
    assert (step.id, step.first) == ("c1", False)


@pytest.mark.parametrize(
    ("answer", "ended"),
    [
        (Part.DONE, True),
        (Part.UNSUPPORTED, True),
        (Part.WORKING, False),
        (Part.FAILED, False),
    ],
)
def test_a_pod_asked_over_http_is_asked_until_it_has_saved(answer: Part, ended: bool) -> None:
    snapshot = asked(a_job("n1", answers={"c1/uid-g-n1": answer}, **HTTP))
    assert isinstance(the_step(snapshot), EvictWave if ended else AskCheckpoint)


@pytest.mark.parametrize("value", ["c1", "c0"])
def test_only_the_answer_to_this_request_counts(value: str) -> None:
    notes = {
        **ASKS["notes"],
        "forewarn.dev/checkpoint-requested": "c1",
        "forewarn.dev/checkpoint-done": value,
    }
    decided = plan(asked(a_job("n1", notes=notes)))
    assert bool(decided.steps) is (value == "c1")
    ending = decided.ledger.checkpoints[KEY].ending
    assert ending is (Ending.GOOD if value == "c1" else None)


def test_a_pod_that_is_gone_has_nothing_left_to_save() -> None:
    snapshot = asked(a_job("n1"), parts=("uid-long-gone",))
    assert isinstance(the_step(snapshot), EvictWave)


def test_a_checkpoint_that_takes_too_long_stops_the_move_while_there_is_time() -> None:
    snapshot = asked(a_job("n1"), asked_at=NOW - 600)
    decided = plan(snapshot)
    assert decided.ledger.checkpoints[KEY].ending is Ending.TIMEOUT
    assert reasons(snapshot) == {"n1": Reason.CHECKPOINT_FAILED}
    assert finding_of(decided).state is EpisodeState.BLOCKED


def test_and_is_tried_again_later() -> None:
    ended = {"ended_at": NOW - 1800, "ending": Ending.TIMEOUT}
    step = the_step(asked(a_job("n1"), **ended))
    assert isinstance(step, AskCheckpoint)
    assert (step.id == "c1", step.first) == (False, True)


def test_when_the_failure_is_near_work_leaves_without() -> None:
    alert = an_alert("n1", horizon="6h")
    scene = a_scene(a_gang("n1", **ASKS), excluded=("n1",), suspects=("n1",))
    from tests.remediation.builders import a_ledger, a_prediction, proof

    near = copy(
        scene,
        ledger=a_ledger(alert),
        evidence=proof(alert, n1=a_prediction(probabilities={("6h", "memory"): 0.9})),
    )
    grants = plan(near).ledger.grants
    near = copy(near, ledger=replace(near.ledger, grants=grants))
    late = asked(near, ended_at=NOW - 60, ending=Ending.TIMEOUT)
    assert isinstance(the_step(late), EvictWave)


def test_a_checkpoint_that_grew_old_is_made_again() -> None:
    good = {"ended_at": NOW - 900, "ending": Ending.GOOD}
    assert isinstance(the_step(asked(a_job("n1"), **good)), AskCheckpoint)
    fresh = {"ended_at": NOW - 899, "ending": Ending.GOOD}
    assert isinstance(the_step(asked(a_job("n1"), **fresh)), EvictWave)


def test_few_jobs_save_at_once() -> None:
    limits = replace(WIDE, checkpoints=1)
    other = {"notes": {**ASKS["notes"], "forewarn.dev/group": "other"}}
    pods = a_gang("n1", **ASKS) | a_gang("n2", **other)
    snapshot = a_scene(pods, excluded=("n1", "n2"), limits=limits)
    assert len(plan(snapshot).steps) == 1
    assert Reason.CHECKPOINTS in reasons(snapshot).values()


def test_volumes_are_snapshotted_before_the_wave_and_after_the_checkpoint() -> None:
    both = {"notes": {**ASKS["notes"], **VOLUMES["notes"]}, "claims": ("data",)}
    first = the_step(a_job("n1", **both))
    assert first.decision is Decision.CHECKPOINT
    saved = asked(a_job("n1", **both), ended_at=NOW - 1, ending=Ending.GOOD)
    second = the_step(saved)
    assert isinstance(second, TakeSnapshots)
    assert (second.namespace, second.claims) == ("jobs", ("data",))
    assert plan(saved).ledger.restore_points[KEY].parts == ("claim/data",)
    assert finding_of(plan(saved)).state is EpisodeState.SNAPSHOTTING


@pytest.mark.parametrize(
    ("wish", "notes", "taken"),
    [
        (Snapshots.ANNOTATED, VOLUMES["notes"], True),
        (Snapshots.ANNOTATED, GANG["notes"], False),
        (Snapshots.ALWAYS, GANG["notes"], True),
        (Snapshots.NEVER, VOLUMES["notes"], False),
    ],
)
def test_whose_volumes_is_the_policys_choice(
    wish: Snapshots, notes: dict[str, str], taken: bool
) -> None:
    snapshot = a_job("n1", notes=notes, claims=("data",))
    policy = replace(snapshot.policy, migrate=MigrationBar(volume_snapshots=wish))
    assert isinstance(the_step(copy(snapshot, policy=policy)), TakeSnapshots) is taken


@pytest.mark.parametrize(
    ("answer", "step"),
    [
        (Part.WORKING, TakeSnapshots),
        (Part.FAILED, TakeSnapshots),
        (Part.DONE, EvictWave),
        (Part.UNSUPPORTED, EvictWave),
    ],
)
def test_work_stays_until_its_snapshots_are_ready(answer: Part, step: type) -> None:
    snapshot = a_job("n1", answers={"c1/claim/data": answer}, **VOLUMES)
    held = asked(snapshot, "restore_points", parts=("claim/data",))
    assert isinstance(the_step(held), step)


def test_a_snapshot_that_never_gets_ready_is_given_up_in_time() -> None:
    held = asked(a_job("n1", **VOLUMES), "restore_points", asked_at=NOW - 1200, parts=("claim/x",))
    assert reasons(held) == {"n1": Reason.SNAPSHOT_FAILED}


def test_few_snapshots_are_taken_at_once_apart_from_checkpoints() -> None:
    limits = replace(WIDE, snapshots=1, checkpoints=1)
    other = {"notes": {**VOLUMES["notes"], "forewarn.dev/group": "other"}, "claims": ("b",)}
    third = {"notes": {**ASKS["notes"], "forewarn.dev/group": "third"}}
    pods = a_gang("n1", **VOLUMES) | a_gang("n2", **other) | a_gang("n3", **third)
    snapshot = a_scene(pods, excluded=("n1", "n2", "n3"), limits=limits)
    decided = plan(snapshot)
    assert sorted(step.decision for step in decided.steps) == ["checkpoint", "snapshot"]
    assert Reason.SNAPSHOTS in reasons(snapshot).values()


def test_nothing_is_asked_for_a_job_that_may_not_move_anyway() -> None:
    pods = {"n1": (a_pod("x", node="n1", empty_dir=True, **ASKS),)}
    assert reasons(a_scene(pods, excluded=("n1",))) == {"n1": Reason.POD_HAS_LOCAL_DATA}


def test_a_clock_that_jumped_back_ends_no_wait_and_starts_none_for_ever() -> None:
    ahead = asked(a_job("n1"), asked_at=NOW + 3600)
    assert plan(ahead).ledger.checkpoints[KEY].ending is Ending.TIMEOUT
