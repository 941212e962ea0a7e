"""Splits share nothing, and what is left out leaves the rest as it was."""

from __future__ import annotations

from collections import Counter

import pytest

from model import cli
from model.training.episodes.plan import (
    BUNDLED,
    LEARNED,
    TINY,
    Planned,
    Split,
    plan,
    quiet_plan,
)
from simulator.faults import STORIES
from simulator.mix import LOOKALIKES_PER_NODE_DAY


def drawn(split: Split, left_out: frozenset[str] = frozenset()) -> list[object]:
    return list(plan(split, TINY[split], seed=7, step_seconds=60, left_out=left_out))


def test_a_kind_left_out_changes_no_other_record() -> None:
    whole = drawn(Split.FIT)
    without = drawn(Split.FIT, frozenset({"memory-storm"}))
    assert [one for one in whole if one.kind != "memory-storm"] == without  # type: ignore[attr-defined]
    assert len(without) == len(whole) - 1


def test_the_quiet_split_shares_no_node_and_no_seed_with_the_others() -> None:
    quiet = quiet_plan(40, seed=7, step_seconds=60)
    for split, amounts in BUNDLED.items():
        others = plan(split, amounts, seed=7, step_seconds=60)
        for part in ("node", "seed"):
            mine, theirs = (
                {getattr(one.recording, part) for one in side} for side in (quiet, others)
            )
            assert not mine & theirs


def test_the_quiet_split_holds_no_failure_and_every_look_alike() -> None:
    planned = quiet_plan(2 * len(STORIES) + 2, seed=7, step_seconds=60)
    kinds = {one.kind for one in planned}
    assert kinds == {kind for kind, story in STORIES.items() if story.cause is None}
    for one in planned:
        assert one.steps == 7 * 24 * 60
        assert one.recording.scenario.onset_seconds < 7 * 86_400  # type: ignore[union-attr]


def lookalikes(split: Split) -> list[Planned]:
    planned = plan(split, BUNDLED[split], seed=7, step_seconds=60)
    return [one for one in planned if STORIES[one.kind].lookalike]


@pytest.mark.parametrize("split", LEARNED)
def test_a_look_alike_is_learned_with_the_days_around_it(split: Split) -> None:
    learned = lookalikes(split)
    assert {one.steps for one in learned} == {7 * 24 * 60}
    onsets = [one.recording.scenario.onset_seconds / 86_400 for one in learned]  # type: ignore[union-attr]
    assert min(onsets) < 1.0
    assert max(onsets) > 5.0


def test_a_look_alike_is_learned_beside_every_kind_of_work_alike() -> None:
    for kind in {one.kind for one in lookalikes(Split.FIT)}:
        works = Counter(
            one.recording.scenario.workload  # type: ignore[union-attr]
            for one in lookalikes(Split.FIT)
            if one.kind == kind
        )
        assert len(works) == 4


def test_look_alikes_are_learned_about_as_often_as_the_field_is_said_to_have_them() -> None:
    for split in LEARNED:
        planned = plan(split, BUNDLED[split], seed=7, step_seconds=60)
        quiet = sum(one.steps for one in planned if STORIES[one.kind].cause is None)
        days = quiet / (24 * 60)
        assert len(lookalikes(split)) / days == pytest.approx(LOOKALIKES_PER_NODE_DAY, rel=0.05)


@pytest.mark.parametrize("asked", [1, 500])
def test_the_quiet_split_is_watched_for_as_long_as_was_asked(asked: int) -> None:
    week, first_look = 7 * 24 * 60, 70 - 1
    planned = quiet_plan(asked, seed=7, step_seconds=60)
    watched = sum((one.steps - 1 - first_look) / week for one in planned)
    assert asked <= watched < asked + 1


def test_an_unknown_kind_to_leave_out_is_one_clear_line(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["train", "--simulate", "tiny", "--out", "x.onnx", "--leave-out", "gremlins"]
    assert cli.main(arguments) == 2
    assert "--leave-out 'gremlins': expected one of healthy" in capsys.readouterr().err
