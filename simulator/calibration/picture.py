"""Cumulative distributions as one SVG: recordings drawn through, the simulation dashed."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.calibration.recorded import Sample

WIDTH, HEIGHT = 640, 340
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 40, 48
COLOURS = ("#1f77b4", "#2ca02c", "#9467bd", "#8c564b")
OURS = "#d62728"
POINTS = np.linspace(0.0, 1.0, 101)
EDGES = (0.002, 0.998)
"""Probabilities that the horizontal axis reaches to."""
TICKS = 5
GREY = "#555555"


def draw(title: str, unit: str, recorded: Sequence[Sample], simulated: Sample) -> str:
    """Return the picture of one quantity."""
    ends = np.array([np.quantile(one.values, EDGES) for one in (*recorded, simulated)])
    low, high = float(ends[:, 0].min()), float(ends[:, 1].max())
    high = high if high > low else low + 1.0
    colours = [*COLOURS[: len(recorded)], OURS]
    body = [*_frame(title, unit, low, high)]
    for row, (sample, colour) in enumerate(zip((*recorded, simulated), colours, strict=True)):
        dashed = colour == OURS
        body.append(_line(sample, low, high, colour, dashed=dashed))
        body.extend(_legend(row, sample.source, colour, dashed=dashed))
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'font-family="sans-serif" font-size="12" role="img" aria-label="{escape(title)}">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            *body,
            "</svg>",
            "",
        )
    )


def _across(value: float, low: float, high: float) -> float:
    share = min(1.0, max(0.0, (value - low) / (high - low)))
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _up(probability: float) -> float:
    return HEIGHT - BOTTOM - probability * (HEIGHT - TOP - BOTTOM)


def _line(sample: Sample, low: float, high: float, colour: str, *, dashed: bool) -> str:
    quantiles = np.quantile(sample.values, POINTS)
    points = " ".join(
        f"{_across(float(value), low, high):.1f},{_up(float(share)):.1f}"
        for value, share in zip(quantiles, POINTS, strict=True)
    )
    dash = ' stroke-dasharray="6 4"' if dashed else ""
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'


def _legend(row: int, source: str, colour: str, *, dashed: bool) -> tuple[str, str]:
    # Cumulative distributions leave the lower right corner free.
    x, y = WIDTH - RIGHT - 190, HEIGHT - BOTTOM - 62 + 16 * row
    dash = ' stroke-dasharray="6 4"' if dashed else ""
    return (
        f'<line x1="{x}" y1="{y}" x2="{x + 24}" y2="{y}" stroke="{colour}" '
        f'stroke-width="2"{dash}/>',
        f'<text x="{x + 30}" y="{y + 4}" fill="{GREY}">{escape(source)}</text>',
    )


def _frame(title: str, unit: str, low: float, high: float) -> list[str]:
    right, foot = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = [f'<text x="{LEFT}" y="24" font-size="15">{escape(title)}</text>']
    for share in np.linspace(0.0, 1.0, TICKS):
        value = low + float(share) * (high - low)
        x, y = _across(value, low, high), _up(float(share))
        parts += [
            f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#dddddd"/>',
            f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="{GREY}">'
            f"{share:.2f}</text>",
            f'<text x="{x:.1f}" y="{foot + 18}" text-anchor="middle" fill="{GREY}">'
            f"{value:.3g}</text>",
        ]
    parts.append(
        f'<text x="{right}" y="{foot + 36}" text-anchor="end" fill="{GREY}">{escape(unit)}</text>'
    )
    return parts
