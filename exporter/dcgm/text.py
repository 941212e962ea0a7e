"""The text exposition format, read so that one bad line costs one line.

Neither the classic format's nor OpenMetrics' promises are relied on: exporters
before 4.8.3 do not escape, repeat HELP and TYPE, print error texts as values
and cut bodies short.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL = re.compile(
    r'[ \t]*([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"([^"\\]*(?:\\.[^"\\]*)*)"[ \t]*(,?)'
)
_INTEGER = re.compile(r"[+-]?[0-9]{1,40}")
_DECIMAL = re.compile(
    r"[+-]?(?:[0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,4})?"
)
_SPECIAL = re.compile(r"(?:nan|[+-]?inf)", re.IGNORECASE)
_ESCAPE = re.compile(r"\\(.)")
_UNESCAPED = {"n": "\n", "\\": "\\", '"': '"'}
OPENMETRICS_END = "# EOF"


class Sample(NamedTuple):
    """One sample line; `value` is an int where the page has an integer, None where it has text."""

    name: str
    labels: dict[str, str]
    value: float | None


class Page(NamedTuple):
    """What a body held: wanted samples in order, lines that were skipped, and its last line."""

    samples: list[Sample]
    bad_lines: int
    whole: bool


def read(body: bytes, wanted: Callable[[str], bool], *, openmetrics: bool = False) -> Page:
    """Read a body, looking only at metrics that are `wanted`; never raises.

    A last line without its newline was cut, perhaps inside the number, and is
    skipped.  Trailing timestamps and exemplars are ignored.
    """
    lines = body.decode("utf-8", errors="replace").split("\n")
    cut = lines.pop()
    ended = not openmetrics or any(line.startswith(OPENMETRICS_END) for line in lines[-2:])
    samples: list[Sample] = []
    bad = 1 if cut.strip() else 0
    for line in lines:
        name = _wanted_name(line, wanted)
        if name is None:
            continue
        sample = _sample(name, line)
        if sample is None or sample.value is None:
            bad += 1
        if sample is not None:
            samples.append(sample)
    return Page(samples, bad, whole=ended and not cut.strip())


def _wanted_name(line: str, wanted: Callable[[str], bool]) -> str | None:
    match = _NAME.match(line)
    return match[0] if match and wanted(match[0]) else None


def _sample(name: str, line: str) -> Sample | None:
    """Return the sample, with value None if only the value is bad, or None if the labels are."""
    rest = line[len(name) :].lstrip(" \t")
    labels: dict[str, str] = {}
    if rest.startswith("{"):
        end = _labels(rest, labels)
        if end is None:
            return None
        rest = rest[end:]
    tokens = rest.split(None, 1)
    return Sample(name, labels, number(tokens[0]) if tokens else None)


def _labels(text: str, into: dict[str, str]) -> int | None:
    """Fill `into` from `{...}` at the start of `text`; return the index after `}`, None if bad."""
    position, more = 1, True
    while True:
        match = _LABEL.match(text, position)
        if match is None:
            break
        name, value, comma = match.groups()
        if name in into or not more:
            return None
        into[name] = _ESCAPE.sub(_unescape, value) if "\\" in value else value
        position, more = match.end(), bool(comma)
    while text[position : position + 1] in {" ", "\t"}:
        position += 1
    return position + 1 if text[position : position + 1] == "}" else None


def _unescape(match: re.Match[str]) -> str:
    return _UNESCAPED.get(match[1], match[0])


def number(text: str) -> float | None:
    """Return the number that `text` is, an int where it is written as one, or None.

    Stricter than `float()`: no underscores, no other alphabets' digits.
    """
    if _INTEGER.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text) or _SPECIAL.fullmatch(text):
        return float(text)
    return None
