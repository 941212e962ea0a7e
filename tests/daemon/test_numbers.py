"""Numbers on a command line are within bounds, and what they may be is said where they are not."""

from __future__ import annotations

import argparse

import pytest

from daemon import numbers


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (numbers.seed, "0", 0),
        (numbers.seed, "4294967295", 4_294_967_295),
        (numbers.whole(1), "20", 20),
        (numbers.days, "0.5", 0.5),
        (numbers.real(0.0, 5.0), "0", 0.0),
    ],
)
def test_what_lies_within_is_taken(kind, text: str, value: float) -> None:
    assert kind(text) == value


@pytest.mark.parametrize(
    ("kind", "texts", "expected"),
    [
        (numbers.seed, ["-1", "4294967296", "7.0", "x", ""], "a whole number from 0 to 4294967295"),
        (numbers.whole(1), ["0", "-4", "nan"], "a whole number from 1 to 1000000"),
        (numbers.days, ["0", "-1", "nan", "inf", "1e12", "40000"], "a number above 0 up to 3650"),
        (numbers.real(0.0, 5.0), ["-0.1", "5.1", "-inf", "none"], "a number from 0 up to 5"),
    ],
)
def test_what_does_not_is_refused_with_what_was_expected(
    kind, texts: list[str], expected: str
) -> None:
    for text in texts:
        with pytest.raises(argparse.ArgumentTypeError) as refused:
            kind(text)
        assert str(refused.value) == f"{text!r}: expected {expected}"
