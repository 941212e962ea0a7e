"""A site's own list of incidents: a CSV file, read strictly.

Columns by name, in any order: `node`, `start` (or `time`), `cause`, and, where
known, `gpu` (UUID or index), `end`, `note`.  Times are seconds since the epoch
or ISO 8601 with an offset or Z: local time names one hour of autumn twice.  An
empty `end` is an open one.  `planned` work and what an `application` did to
itself are listed too: the one is left out of training, the other stays quiet.
"""

from __future__ import annotations

import csv
import difflib
import io
import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from model.history.refused import Refused
from model.schema import Cause

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

PLANNED, APPLICATION, UNKNOWN = "planned", "application", "unknown"
CAUSES = (*(str(cause) for cause in Cause), PLANNED, APPLICATION, UNKNOWN)
COLUMNS = {"node", "gpu", "start", "end", "cause", "note"}
RENAMED = {"time": "start"}
DELIMITERS = ",;\t"
EARLIEST, LATEST = 946_684_800.0, 4_102_444_800.0
"""2000 to 2100: seconds outside it are milliseconds, or no time at all."""
NUMERAL = re.compile(r"\d{1,12}(?:\.\d{1,9})?", re.ASCII)
BRIEF = 60
EXPECTED_TIME = "expected an offset or Z, as in 2026-10-25T02:30:00+01:00, or seconds since 1970"


@dataclass(frozen=True, slots=True)
class Incident:
    """One row; wall-clock seconds, `end` None where it is open, `gpu` empty for the node."""

    line: int
    node: str
    gpu: str
    start: float
    end: float | None
    cause: str


class IncidentsRefused(Refused):
    """A list with mistakes: `problems` has one line for each, and nothing of the list is used."""

    def __init__(self, origin: str, problems: list[str]) -> None:
        rows = "row" if len(problems) == 1 else "rows"
        head = f"{origin}: {len(problems)} {rows} cannot be used, so none is:"
        super().__init__("\n".join([head, *(f"  {problem}" for problem in problems)]))
        self.problems = problems


def parse(content: bytes, origin: str) -> list[Incident]:
    """Read the list; raises `IncidentsRefused` with every mistake of the whole file."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise IncidentsRefused(origin, [f"not UTF-8 at byte {error.start}"]) from error
    first = text.partition("\n")[0]
    delimiter = max(DELIMITERS, key=first.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        names = _columns(next(rows, []))
        problems: list[str] = []
        found = list(_rows(rows, names, problems))
    except (ValueError, csv.Error) as error:
        raise IncidentsRefused(origin, [f"line {rows.line_num}: {error}"]) from error
    if problems:
        raise IncidentsRefused(origin, problems)
    return found


def unknown(incidents: Sequence[Incident], nodes: Collection[str]) -> list[str]:
    """Return a line for each incident on a node that no series knows."""
    lines = []
    for one in incidents:
        if one.node in nodes:
            continue
        near = difflib.get_close_matches(one.node.lower(), [node.lower() for node in nodes], 1)
        known = {node.lower(): node for node in nodes}
        meant = f"; is it {known[near[0]]!r}?" if near else ""
        lines.append(f"line {one.line}: node {_brief(one.node)}: no series knows it{meant}")
    return lines


def _columns(header: list[str]) -> list[str]:
    names = [RENAMED.get(name.strip().lower(), name.strip().lower()) for name in header]
    twice = {name for name in names if names.count(name) > 1}
    strange = [name for name in names if name not in COLUMNS]
    lacking = [name for name in ("node", "start", "cause") if name not in names]
    if lacking or twice or strange:
        raise ValueError(
            f"expected a header with node, start (or time) and cause, and where known gpu, end "
            f"and note; found {_brief(', '.join(header))}"
        )
    return names


def _rows(rows: Iterator[list[str]], names: list[str], problems: list[str]) -> Iterator[Incident]:
    for line, raw in enumerate(rows, 2):
        cells = [cell.strip() for cell in raw]
        if not any(cells):
            continue
        if len(cells) != len(names):
            problems.append(f"line {line}: {len(cells)} cells, expected {len(names)}")
            continue
        try:
            yield _incident(line, dict(zip(names, cells, strict=True)))
        except ValueError as error:
            problems.append(f"line {line}: {error}")


def _incident(line: int, row: dict[str, str]) -> Incident:
    if not row["node"]:
        raise ValueError("node is empty, expected the name of one node")
    cause = row["cause"].lower()
    if cause not in CAUSES:
        raise ValueError(f"cause {_brief(row['cause'])}: expected one of {', '.join(CAUSES)}")
    start = moment("start", row["start"])
    end = moment("end", row["end"]) if row.get("end") else None
    if end is not None and end < start:
        raise ValueError(f"end {row['end']} is before start {row['start']}")
    if cause == PLANNED and end is None:
        raise ValueError("planned work needs an end")
    return Incident(line, row["node"], row.get("gpu", ""), start, end, cause)


def moment(name: str, text: str) -> float:
    """Return wall-clock seconds; raises `ValueError` with what was expected of `name`."""
    if NUMERAL.fullmatch(text):
        seconds = float(text)
    else:
        try:
            when = datetime.fromisoformat(text)
        except ValueError:
            raise ValueError(f"{name} {_brief(text)}: {EXPECTED_TIME}") from None
        if when.tzinfo is None:
            raise ValueError(f"{name} {_brief(text)}: {EXPECTED_TIME}")
        seconds = when.timestamp()
    if not EARLIEST <= seconds <= LATEST:
        raise ValueError(f"{name} {_brief(text)}: expected a time between 2000 and 2100")
    return seconds


def _brief(text: str) -> str:
    return repr(text if len(text) <= BRIEF else f"{text[:BRIEF]}...")
