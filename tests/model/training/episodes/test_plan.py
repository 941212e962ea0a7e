"""Splits share nothing, and what is left out leaves the rest as it was."""

from __future__ import annotations

import pytest

from model import cli
from model.training.episodes.plan import BUNDLED, TINY, Split, plan, quiet_plan
from simulator.faults import STORIES


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
