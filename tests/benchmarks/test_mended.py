"""Nodes whose fault is mended: alerts before that moment and after it are told apart."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="needs the train extra")

from benchmarks.mended import AFTER_HOURS, NEVER, Mended, judged, row
from model import runtime
from model.cli import BUNDLED

pytestmark = pytest.mark.training


def node(before: bool, last_hours: float) -> Mended:
    said = ("critical", "kept back")
    return Mended("any", 0.5, dict.fromkeys(said, before), dict.fromkeys(said, last_hours))


def test_a_warm_gpu_is_alerted_on_before_it_is_mended_and_not_for_long_after() -> None:
    one = judged(runtime.load(BUNDLED), "thermal-interface", 70_000, 0.9)
    assert one.before["critical"]
    assert NEVER < one.last_hours["critical"] <= one.last_hours["kept back"] < AFTER_HOURS


def test_a_line_counts_nodes_and_takes_hours_from_those_that_were_still_told_of() -> None:
    found = [node(True, 1.0), node(True, 30.0), node(False, NEVER), node(True, 2.0)]
    assert row("half", found) == "| half | 4 | 3 | 1 | 2.0 / 30.0 | 3 | 1 | 2.0 / 30.0 |"


def test_a_line_of_nodes_that_were_never_told_of_has_no_hours() -> None:
    assert row("none", [node(False, NEVER)]) == "| none | 1 | 0 | 0 | - | 0 | 0 | - |"
