"""Lists of node names as clusters write them: `gpu-[001-016,020]`."""

from __future__ import annotations

import re

_RANGE = re.compile(r"^([^\[\]]*)\[([^\[\]]+)\]([^\[\]]*)$")
LIMIT = 100_000


def expand(text: str) -> list[str]:
    """Return the names that `text` stands for; a plain name is itself.

    Raises `ValueError` for brackets that are not one list of numbers and ranges.
    """
    if "[" not in text and "]" not in text:
        return [text]
    match = _RANGE.match(text)
    if match is None:
        raise ValueError(f"expected {text!r} as a name with one bracket, gpu-[001-016,020]")
    before, inside, after = match.groups()
    return [
        before + number + after for part in inside.split(",") for number in _numbers(part, text)
    ]


def _numbers(part: str, text: str) -> list[str]:
    """Return a range's numbers, as wide as its first: leading zeros are part of a name."""
    first, _, last = part.strip().partition("-")
    last = last or first
    if not (first.isascii() and first.isdigit() and last.isascii() and last.isdigit()):
        raise ValueError(f"expected numbers or ranges in the bracket of {text!r}, not {part!r}")
    low, high = int(first), int(last)
    if high >= low + LIMIT:
        raise ValueError(f"expected at most {LIMIT} names in a range of {text!r}, not {part!r}")
    if low > high:
        raise ValueError(f"expected an ascending range in {text!r}, not {part!r}")
    return [str(number).zfill(len(first)) for number in range(low, high + 1)]
