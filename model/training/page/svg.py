"""Axes, lines and marks as SVG text.  Colours are CSS variables of the page, dark and light."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

WIDTH, HEIGHT = 460, 280
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 14, 40


@dataclass(frozen=True, slots=True)
class Axis:
    """From data to pixels: `low` to `high`, in logarithms if `log`; `ticks` with their labels."""

    low: float
    high: float
    ticks: tuple[float, ...]
    label: str
    log: bool = False

    def share(self, value: float) -> float:
        """Return where on the axis `value` lies, 0 to 1, held within."""
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            place = (math.log(max(value, self.low)) - low) / (high - low)
        else:
            place = (value - self.low) / ((self.high - self.low) or 1.0)
        return min(1.0, max(0.0, place))


class Plot:
    """One drawing with two axes; parts are added in the order in which they are painted."""

    def __init__(self, x: Axis, y: Axis, title: str, height: int = HEIGHT) -> None:
        self._x, self._y, self._title, self._height = x, y, title, height
        self._parts: list[str] = []

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the pixel of a point."""
        across = LEFT + self._x.share(x) * (WIDTH - LEFT - RIGHT)
        down = self._height - BOTTOM - self._y.share(y) * (self._height - TOP - BOTTOM)
        return round(across, 1), round(down, 1)

    def line(
        self, points: Iterable[tuple[float, float]], colour: int, *, dashed: bool = False
    ) -> None:
        """Join points; `colour` counts the page's palette."""
        path = " ".join(f"{x},{y}" for x, y in (self.at(*point) for point in points))
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self._parts.append(f'<polyline class="l c{colour}" points="{path}"{dash}/>')

    def stairs(self, points: Sequence[tuple[float, float]], colour: int) -> None:
        """Join points as a step function that holds its value to the right."""
        steps: list[tuple[float, float]] = []
        for before, after in pairwise(points):
            steps += [before, (after[0], before[1])]
        self.line([*steps, *points[-1:]], colour)

    def dot(self, x: float, y: float, colour: int, tip: str = "", radius: float = 3.5) -> None:
        """Mark a point; `tip` shows on hover."""
        across, down = self.at(x, y)
        self._parts.append(
            f'<circle class="d c{colour}" cx="{across}" cy="{down}" r="{radius}">'
            f"<title>{escape(tip)}</title></circle>"
        )

    def upright(self, x: float, text: str, colour: int) -> None:
        """Draw a line over the whole height at `x`, named at its top."""
        across, _ = self.at(x, self._y.low)
        self._parts.append(
            f'<line class="l c{colour}" x1="{across}" x2="{across}" y1="{TOP}" '
            f'y2="{self._height - BOTTOM}" stroke-dasharray="2 3"/>'
            f'<text class="n" x="{across + 3}" y="{TOP + 9}">{escape(text)}</text>'
        )

    def box(self, x: float, quartiles: tuple[float, ...], half: float, colour: int) -> None:
        """Draw a quartile box around `x`, `half` pixels to either side."""
        across, low = self.at(x, quartiles[0])
        _, middle = self.at(x, quartiles[1])
        _, high = self.at(x, quartiles[2])
        self._parts.append(
            f'<rect class="b c{colour}" x="{across - half}" y="{high}" width="{2 * half}" '
            f'height="{max(1.0, low - high)}"/><line class="l c{colour}" x1="{across - half}" '
            f'x2="{across + half}" y1="{middle}" y2="{middle}"/>'
        )

    def render(self) -> str:
        """Return the SVG element."""
        return (
            f'<svg viewBox="0 0 {WIDTH} {self._height}" role="img" '
            f'aria-label="{escape(self._title)}">{self._frame()}{"".join(self._parts)}</svg>'
        )

    def _frame(self) -> str:
        bottom, right = self._height - BOTTOM, WIDTH - RIGHT
        parts = []
        for value in self._x.ticks:
            across, _ = self.at(value, self._y.low)
            parts.append(
                f'<line class="g" x1="{across}" x2="{across}" y1="{TOP}" y2="{bottom}"/>'
                f'<text class="t" text-anchor="middle" x="{across}" y="{bottom + 14}">'
                f"{number(value)}</text>"
            )
        for value in self._y.ticks:
            _, down = self.at(self._x.low, value)
            parts.append(
                f'<line class="g" x1="{LEFT}" x2="{right}" y1="{down}" y2="{down}"/>'
                f'<text class="t" text-anchor="end" x="{LEFT - 5}" y="{down + 3.5}">'
                f"{number(value)}</text>"
            )
        middle = (LEFT + right) / 2
        parts.append(
            f'<text class="n" text-anchor="middle" x="{middle}" y="{self._height - 6}">'
            f"{escape(self._x.label)}</text>"
            f'<text class="n" text-anchor="middle" transform="translate(12 '
            f'{(TOP + bottom) / 2}) rotate(-90)">{escape(self._y.label)}</text>'
        )
        return "".join(parts)


def number(value: float) -> str:
    """Return a short label: 0.003, 24, 1e-05."""
    return f"{value:g}"


def ticks(low: float, high: float, count: int = 5) -> tuple[float, ...]:
    """Return round numbers between `low` and `high`."""
    if high <= low:
        return (low,)
    rough = (high - low) / count
    unit = 10.0 ** math.floor(math.log10(rough))
    step = min((unit * k for k in (1, 2, 5, 10)), key=lambda size: abs(size - rough))
    first = math.ceil(low / step)
    return tuple(round(k * step, 10) for k in range(first, math.floor(high / step + 1e-9) + 1))


def legend(names: Sequence[str], colour_of: Callable[[int], int]) -> str:
    """Return the names with their colours, below a drawing."""
    rows = (
        f'<span><i class="s c{colour_of(place)}"></i>{escape(name)}</span>'
        for place, name in enumerate(names)
    )
    return f'<p class="legend">{"".join(rows)}</p>'
