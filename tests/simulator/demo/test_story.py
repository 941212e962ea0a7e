"""The demo fails when the story did not happen, and says which part."""

from __future__ import annotations

from dataclasses import replace

from simulator.demo.story import Beat, Observation, Story

QUIET = Observation(
    at_seconds=0.0,
    states={"a": "ok", "b": "ok"},
    probability=0.01,
    cause="",
    signals=(),
    alerts=(),
    cordoned=(),
    reason="",
    pods_on_failing=2,
    pods_running=4,
    failed=False,
)


def story() -> Story:
    return Story(failing="b", nodes=("a", "b"), pods=4)


def happy_end() -> list[Observation]:
    climbing = replace(QUIET, at_seconds=60, probability=0.6, cause="thermal")
    alerted = replace(climbing, at_seconds=120, alerts=("ForewarnNodeFailureLikely",))
    excluded = replace(alerted, at_seconds=180, cordoned=("b",), reason="Cordoned: high.")
    moved = replace(excluded, at_seconds=240, pods_on_failing=0)
    return [QUIET, climbing, alerted, excluded, moved, replace(moved, at_seconds=900, failed=True)]


def test_a_happy_end_has_no_faults_and_a_lead() -> None:
    tale = story()
    sentences = [sentence for look in happy_end() for sentence in tale.follow(look)]
    assert tale.faults() == []
    assert tale.lead_seconds() == 660
    assert any("60%, cause thermal" in sentence for sentence in sentences)


def test_each_beat_is_told_once() -> None:
    tale = story()
    for look in happy_end():
        tale.follow(look)
    assert [line for look in happy_end() for line in tale.follow(look)] == []


def test_a_climb_over_several_levels_is_one_sentence() -> None:
    told = story().follow(replace(QUIET, probability=0.8))
    assert len([line for line in told if "probability" in line]) == 1


def test_work_that_never_moved_is_a_fault() -> None:
    tale = story()
    for look in happy_end():
        tale.follow(replace(look, pods_on_failing=2))
    assert f"never seen: {Beat.MOVED}" in tale.faults()
    assert tale.lead_seconds() is None


def test_work_that_moved_after_the_failure_is_a_fault() -> None:
    tale = story()
    quiet, climbing, alerted, excluded, moved, failed = happy_end()
    for look in (quiet, climbing, alerted, excluded):
        tale.follow(look)
    tale.follow(replace(failed, at_seconds=200, pods_on_failing=2))
    tale.follow(replace(moved, at_seconds=300))
    assert "beats came out of order" in tale.faults()


def test_where_remediation_only_observes_it_says_so_and_nothing_may_be_touched() -> None:
    tale, would = story(), "would act: b is cordoned; the mode is observe"
    quiet, climbing, alerted, excluded, *_ = happy_end()
    judged = replace(alerted, would=would)
    for look in (quiet, climbing, alerted):
        tale.follow(look)
    assert "remediation never said what it would do" in tale.faults_observed()
    assert tale.follow(judged) == [f"b: remediation {would}."]
    assert tale.follow(judged) == []
    assert tale.follow(replace(judged, would="would act: worse")) == [
        "b: remediation would act: worse."
    ]
    tale.follow(replace(judged, failed=True))
    assert tale.faults_observed() == []
    tale.follow(excluded)
    assert tale.faults_observed() == ["b was cordoned, in mode observe"]


def test_a_cordon_of_a_healthy_node_is_a_fault() -> None:
    tale = story()
    for look in happy_end():
        tale.follow(replace(look, cordoned=(*look.cordoned, "a")))
    assert "a was healthy and was cordoned" in tale.faults()


def test_a_missing_prediction_never_counts_as_watching() -> None:
    tale = story()
    tale.follow(replace(QUIET, states={"a": "ok", "b": "warming_up"}))
    assert Beat.WATCHING not in tale.seen
