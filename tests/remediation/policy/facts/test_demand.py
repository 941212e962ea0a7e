"""Requirements and conditions, read as the scheduler and the site mean them."""

from __future__ import annotations

from typing import Any

import pytest

from remediation.policy.bounds.targets import TargetCondition
from remediation.policy.facts.demand import Requirement, any_holds


@pytest.mark.parametrize(
    ("operator", "values", "label", "holds"),
    [
        ("In", ("a",), "a", True),
        ("NotIn", ("a",), "a", False),
        ("NotIn", ("a",), None, True),
        ("Exists", (), "a", True),
        ("Exists", (), None, False),
        ("DoesNotExist", (), None, True),
        ("Gt", ("3",), "4", True),
        ("Gt", ("3",), "3", False),
        ("Lt", ("3",), "2", True),
        ("Lt", ("3",), "x", False),
        ("Lt", (), "2", False),
        ("Whatever", ("a",), "a", False),
    ],
)
def test_a_requirement_is_read_as_the_scheduler_does(
    operator: str, values: tuple[str, ...], label: str | None, holds: bool
) -> None:
    labels = {} if label is None else {"k": label}
    assert Requirement("k", operator, values).holds(labels) is holds


def test_no_term_is_anywhere_and_an_empty_list_nowhere() -> None:
    assert any_holds(None, {})
    assert not any_holds((), {})
    assert not any_holds(((),), {})


@pytest.mark.parametrize(
    ("bounds", "holds"),
    [({"most": 0.9}, True), ({"most": 0.7}, False), ({"least": 0.1, "most": 0.9}, True)],
)
def test_load_is_bounded_from_above(bounds: dict[str, float], holds: bool) -> None:
    assert TargetCondition(name="load", query="q", **bounds).holds(0.8) is holds


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"query": " ", "most": 1.0}, "query is empty"), ({"query": "q"}, "least and most")],
)
def test_a_condition_that_asks_nothing_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TargetCondition(name="x", **wrong)
