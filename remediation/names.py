"""Names of nodes: which words can be one, and which of those there are may have been meant."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

NODE = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\Z")
EXPECTED = "expected the name of a node: lower-case letters, digits, '-' and '.'"

_LEADING_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")
_MOST, _LIKENESS = 3, 0.8


def near(name: str, known: Collection[str]) -> tuple[str, ...]:
    """Return the names of `known` that may be meant by `name`, at most three.

    One that differs only in leading zeros or in its domain is meant, whatever
    else looks alike: to a measure of letters gpu-17 is as close to gpu-177.
    """
    same = sorted(one for one in known if _bare(one) == _bare(name))
    return tuple(same or get_close_matches(name, known, n=_MOST, cutoff=_LIKENESS))[:_MOST]


def meant(name: str, known: Collection[str]) -> str:
    """Say which names of `known` may be meant by `name`, "" when none is near."""
    found = near(name, known)
    return f"; {' or '.join(found)} may be meant" if found else ""


def _bare(name: str) -> str:
    return _LEADING_ZEROS.sub("", name.partition(".")[0])
