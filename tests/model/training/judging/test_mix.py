"""Recall with each kind as frequent as in the field."""

from __future__ import annotations

import numpy as np
import pytest

from model.schema import Cause
from model.training.episodes.labels import Outcome
from model.training.judging import mix
from model.training.judging.course import Course, Verdict
from model.training.judging.lines import of_mix
from simulator.mix import shares

SEEN, MISSED = Verdict(5.0, 3, 0), Verdict(None, None, 0)


def failed(kind: str) -> Course:
    return Course("n", kind, Outcome(100.0, 0, Cause.THERMAL, kind), None, 168.0, np.arange(168.0))


COURSES = [failed(kind) for kind in shares() for _ in range(2)]


def test_a_kind_weighs_as_much_as_the_field_has_of_it() -> None:
    found = mix.recall(COURSES, [MISSED if c.kind == "lemon" else SEEN for c in COURSES])
    assert found.value == pytest.approx(1 - shares()["lemon"])
    assert 0 < found.interval[0] < found.value < found.interval[1] < 1


def test_all_foretold_is_a_recall_of_one_with_a_bound_below_it() -> None:
    found = mix.recall(COURSES, [SEEN] * len(COURSES))
    assert found.value == found.interval[1] == pytest.approx(1.0)
    assert found.interval[0] < 0.9
    beside = of_mix(found, 0.03, 0.01, 0.06)
    assert beside.precision == pytest.approx(0.75)
    assert beside.precision_lower == pytest.approx(1 / 3)


def test_failures_of_a_site_have_no_mix_of_kinds() -> None:
    assert mix.recall([failed("site")], [SEEN]) is None
    assert mix.recall(COURSES[2:], [SEEN] * len(COURSES[2:])) is None
