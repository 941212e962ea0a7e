"""The drawings of an evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from model.training.page.svg import Axis, Plot, legend, ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model.training.judging.report import CalibrationLine, Curve, Example, KindLine, Report

PALETTE = 9
RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
LEADS = (0.05, 0.1, 0.3, 1.0, 3.0, 6.0, 12.0, 24.0, 48.0, 72.0)
PROBABILITIES = (0.0001, 0.001, 0.01, 0.1, 1.0)
ROW = 26


def colour(place: int) -> int:
    """Return the palette's colour of the n-th thing in a drawing."""
    return place % PALETTE


def recall_against_budget(report: Report) -> str:
    """Draw recall over false alerts per node-week, one line per score."""
    plot = Plot(
        Axis(RATES[0], RATES[-1], RATES,
             "false alerts per node-week (none: at the left)", log=True),
        Axis(0.0, 1.0, ticks(0.0, 1.0), "recall"),
        "Recall against false alerts per node-week",
        340,
    )  # fmt: skip
    for place, curve in enumerate(report.curves):
        plot.stairs(_envelope(curve), colour(place))
    return plot.render() + legend([curve.name for curve in report.curves], colour)


def _envelope(curve: Curve) -> list[tuple[float, float]]:
    """Return the best recall at or below each rate, from nothing at all on."""
    best, path = 0.0, [(RATES[0], 0.0)]
    for rate, recall in sorted(curve.points):
        if recall > best:
            best = recall
            path.append((max(rate, RATES[0]), best))
    return [*path, (RATES[-1], best)]


def leads(kinds: Sequence[KindLine]) -> str:
    """Draw each detection's lead as a dot and the quartiles as a box, one column per fault."""
    faults = [kind for kind in kinds if kind.cause]
    rows = max(1, len(faults))
    plot = Plot(
        Axis(0.0, float(rows), (), "fault, in the order of the legend"),
        Axis(LEADS[0], LEADS[-1], LEADS, "lead, hours", log=True),
        "Lead time of every detected failure, by kind of fault",
        340,
    )  # fmt: skip
    for place, kind in enumerate(faults):
        spread = np.linspace(-0.28, 0.28, max(1, len(kind.lead_hours)))
        for offset, lead in zip(spread, sorted(kind.lead_hours), strict=False):
            plot.dot(
                place + 0.5 + float(offset), lead, colour(place), f"{kind.kind}: {lead:.1f} h", 2
            )
        if kind.lead_hours_quartiles:
            plot.box(place + 0.5, kind.lead_hours_quartiles, 150.0 / rows, colour(place))
    names = [kind.kind for kind in faults]
    return plot.render() + legend(names, colour)


def reliability(lines: Sequence[CalibrationLine]) -> str:
    """Draw observed shares over predicted probabilities; the dashed diagonal is perfect."""
    axes = [Axis(PROBABILITIES[0], 1.0, PROBABILITIES, name, log=True)
            for name in ("predicted", "observed, weighed to the field")]  # fmt: skip
    plot = Plot(axes[0], axes[1], "Reliability of the probability of each horizon", 340)
    plot.line([(PROBABILITIES[0], PROBABILITIES[0]), (1.0, 1.0)], PALETTE - 1, dashed=True)
    for place, one in enumerate(lines):
        points = [(said, came) for said, came, _ in one.reliability]
        plot.line(points, colour(place))
        for said, came, moments in one.reliability:
            tip = f"{one.horizon}: said {said:.4f}, came {came:.4f}, {moments} moments"
            plot.dot(said, came, colour(place), tip)
    return plot.render() + legend([one.horizon for one in lines], colour)


def timeline(example: Example, horizons: Sequence[str], threshold: float) -> str:
    """Draw the probabilities of one story, with its onset, alert and failure."""
    first, last = example.hours[0], example.hours[-1]
    plot = Plot(
        Axis(first, last, ticks(first, last, 6), "hours of the record"),
        Axis(0.0, 1.0, ticks(0.0, 1.0), "probability"),
        f"Probabilities of {example.kind} on {example.node}",
        220,
    )
    plot.line([(first, threshold), (last, threshold)], PALETTE - 1, dashed=True)
    for place in range(len(horizons)):
        plot.line(
            [
                (at, row[place])
                for at, row in zip(example.hours, example.probabilities, strict=True)
            ],
            colour(place),
        )
    marks = (("onset", example.onset_hours), ("alert", example.alert_hours),
             ("failure", example.failure_hours))  # fmt: skip
    for name, hours in marks:
        if hours is not None:
            plot.upright(hours, name, PALETTE - 1)
    return plot.render()


def score_line(example: Example) -> str:
    """Draw the anomaly score of one story; 1 is typical."""
    first, last = example.hours[0], example.hours[-1]
    top = max(10.0, *example.score)
    plot = Plot(
        Axis(first, last, ticks(first, last, 6), "hours of the record"),
        Axis(0.3, top, tuple(t for t in (0.3, 1, 3, 10, 30, 100, 300, 1000) if t <= top),
             "anomaly score", log=True),
        f"Anomaly score of {example.kind} on {example.node}",
        160,
    )  # fmt: skip
    plot.line(list(zip(example.hours, example.score, strict=True)), 0)
    return plot.render()


def contributions(example: Example) -> str:
    """Draw the largest contributions as bars."""
    rows = []
    for place, (channel, share) in enumerate(example.contributions):
        down = place * ROW
        rows.append(
            f'<rect class="f c0" x="0" y="{down + 14}" width="{round(share * 440, 1)}" height="7"/>'
            f'<text class="t" x="0" y="{down + 11}">{channel} {share:.0%}</text>'
        )
    height = ROW * len(example.contributions)
    return (
        f'<svg viewBox="0 0 460 {height}" role="img" aria-label="Contributions">'
        f"{''.join(rows)}</svg>"
    )
