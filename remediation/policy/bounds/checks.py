"""What every part of the policy has in common: strict fields, and bounds that say what is wrong."""

from __future__ import annotations

import msgspec


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of the policy: immutable, strict, checked when made."""


def at_least(least: int, **values: int) -> None:
    """Raise `ValueError` for a value below `least`."""
    for name, value in values.items():
        if value < least:
            raise ValueError(f"{name} is {value}, expected at least {least}")


def percent(**values: float) -> None:
    """Raise `ValueError` for a value that is no share of a whole."""
    for name, value in values.items():
        if not 0 < value <= 100:
            raise ValueError(f"{name} is {value}, expected above 0 and at most 100 percent")


def ratio(**values: float) -> None:
    """Raise `ValueError` for a value that is no probability."""
    for name, value in values.items():
        if not 0 < value < 1:
            raise ValueError(f"{name} is {value}, expected a probability between 0 and 1")


def positive(**values: float) -> None:
    """Raise `ValueError` for a duration that is none."""
    for name, value in values.items():
        if value <= 0:
            raise ValueError(f"{name} is {value}, expected more than 0 seconds")


def not_negative(**values: float) -> None:
    """Raise `ValueError` for a duration below zero; zero switches its guard off."""
    for name, value in values.items():
        if value < 0:
            raise ValueError(f"{name} is {value}, expected 0 (off) or more seconds")
