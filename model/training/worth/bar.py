"""One bar: what is asked, what came of it, and whether that reaches it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from model.training.judging.report import CalibrationLine

NEAR_ONE = (0.8, 1.25)


class Mark(StrEnum):
    """What became of a bar: `LISTED` is what it allows in place of more, `SHOWN` has no number."""

    REACHED = "reached"
    MISSED = "missed"
    LISTED = "listed"
    SHOWN = "shown"


class Bar(NamedTuple):
    """One row; `where` a bar was missed, if not everywhere."""

    what: str
    asked: str
    value: str
    mark: Mark
    where: str = ""


def reached(yes: bool) -> Mark:
    """Return the mark of an answer."""
    return Mark.REACHED if yes else Mark.MISSED


def table(bars: Iterable[Bar]) -> str:
    """Return bars as rows of a page."""
    rows = (
        f"| {bar.what} | {bar.asked} | {bar.value} | "
        f"{bar.mark}{f' at {bar.where}' if bar.where else ''} |"
        for bar in bars
    )
    return "\n".join(("| what | bar | value | |", "| --- | --- | --- | --- |", *rows))


def share(part: int, whole: int, interval: tuple[float, float]) -> str:
    """Say a share with its interval and what it is of."""
    told = f"{part / whole:.3f}" if whole else "-"
    return f"{told} ({interval[0]:.3f} to {interval[1]:.3f}), {part} of {whole}"


def hours(quartiles: Sequence[float]) -> str:
    """Say the quartiles of leads."""
    return f"{' / '.join(f'{one:.1f}' for one in quartiles)} h" if quartiles else "none"


def calibration(lines: Sequence[CalibrationLine], data: str) -> Bar:
    """Hold the slope and the top tenth of every horizon to `NEAR_ONE`."""
    low, high = NEAR_ONE
    off = [
        one.horizon
        for one in lines
        if any(x is None or not low <= x <= high for x in (one.slope, one.observed_over_expected))
    ]

    def each(values: Iterable[str]) -> str:
        return ", ".join(f"{one.horizon} {x}" for one, x in zip(lines, values, strict=True))

    return Bar(
        f"calibration, {data}",
        "slope, and observed over expected in the top tenth, within "
        f"{low:g} to {high:g} at each horizon",
        f"slopes {each(_number(one.slope) for one in lines)}; observed over expected "
        f"{each(_number(one.observed_over_expected) for one in lines)}; expected calibration "
        f"error {each(f'{one.expected_error:.2g}' for one in lines)}, where "
        f"{each(f'{one.failing_ratio:.2g}' for one in lines)} fail",
        reached(not off),
        ", ".join(off),
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
