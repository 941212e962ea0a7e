"""False alerts on many node-weeks in which nothing fails: what a few weeks cannot bound.

Half of the nodes are healthy for their whole week, on each of the others one
look-alike happens, which is how often `simulator.mix` holds that one does (0.1
a day).  A record is first looked at sparsely; one that comes within reach of a
threshold is replayed as densely as everywhere else.

Beside nodes that fail, so many quiet ones also tell whether a probability means
what it says: the few of the test split would each stand for two hundred.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from model.training.judging import calibration, table
from model.training.judging.budget import verdicts
from model.training.judging.course import highest
from model.training.judging.evaluate import calibrated, usual_rate
from model.training.judging.lines import HEADLINE
from model.training.judging.rates import poisson_lower, poisson_upper
from model.training.judging.replay import replay
from model.training.judging.report import CalibrationLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from model.runtime import Predictor
    from model.training.episodes.dataset import Episode
    from model.training.judging.replay import Replay

SPARSE_STEPS = 10
WITHIN_REACH = 0.25
"""Of the threshold: a probability that was seen lower than this did not cross it in between."""

LEVELS = (("1h", 0.3), ("6h", 0.3), ("24h", 0.2), HEADLINE, ("24h", 0.5), ("72h", 0.5))
"""Horizons and thresholds that the shipped alerts use, and the longest horizon."""

CONFIDENCE_EACH_SIDE = 0.975


class QuietLine(msgspec.Struct, frozen=True):
    """False alerts at one level: `nodes` had any; the interval is exact (Poisson), two-sided 95 %,

    `upper` the one-sided bound of 95 %; all rates are per node-week.
    """

    horizon: str
    threshold: float
    false_alerts: int
    nodes: int
    rate: float
    interval: tuple[float, float]
    upper: float


class QuietKind(msgspec.Struct, frozen=True):
    """One kind of story: how high the 24 h probability came, and false alerts at the headline."""

    kind: str
    node_weeks: float
    false_alerts: int
    highest_median: float
    highest_worst: float


class QuietReport(msgspec.Struct, frozen=True):
    """The whole run."""

    data: str
    nodes: int
    node_weeks: float
    replayed_densely: int
    lines: tuple[QuietLine, ...]
    kinds: tuple[QuietKind, ...]
    failing_nodes: int
    failures_per_node_week: float
    calibration: tuple[CalibrationLine, ...]
    """Of the quiet nodes and of `failing_nodes` beside them; none without those."""


def watch(
    predictor: Predictor, episodes: Iterable[Episode], data: str, failing: Iterable[Episode] = ()
) -> QuietReport:
    """Replay nodes that do not fail and count what is raised on them; `failing` ones do."""
    horizons = predictor.info.horizons
    replays: list[Replay] = []
    dense = 0
    for episode in episodes:
        one = replay(predictor, episode, SPARSE_STEPS)
        if _near(one, horizons):
            dense += 1
            one = replay(predictor, episode)
        replays.append(one)
    struck = [replay(predictor, episode) for episode in failing]
    rate = usual_rate(predictor.info)
    weeks = sum(one.course.weeks for one in replays)
    return QuietReport(
        data=data,
        nodes=len(replays),
        node_weeks=weeks,
        replayed_densely=dense,
        lines=tuple(_line(replays, horizons, *level, weeks) for level in LEVELS),
        kinds=tuple(
            _kind([one for one in replays if one.course.kind == kind], horizons)
            for kind in sorted({one.course.kind for one in replays})
        ),
        failing_nodes=len(struck),
        failures_per_node_week=rate,
        calibration=_calibration([*replays, *struck], horizons, rate) if struck else (),
    )


def render(report: QuietReport) -> str:
    """Return the report as a table for people."""
    head = "horizon  threshold  false alerts  on nodes  per node-week (95 %)         at most (95 %)"
    lines = (
        f"{x.horizon:>7}  {x.threshold:>9g}  {x.false_alerts:>12}  {x.nodes:>8}  "
        f"{x.rate:.4f} ({x.interval[0]:.4f} to {x.interval[1]:.4f})  {x.upper:>16.4f}"
        for x in report.lines
    )
    kinds = (
        f"{x.kind:<24} {x.node_weeks:>10.1f}  {x.false_alerts:>12}  "
        f"{x.highest_median:.4f}, {x.highest_worst:.4f}"
        for x in report.kinds
    )
    return "\n".join(
        (
            f"{report.data}: {report.nodes} nodes that do not fail, "
            f"{report.node_weeks:.1f} node-weeks.",
            "",
            head,
            *lines,
            "",
            f"story                    node-weeks  false at {HEADLINE[1]:g}"
            "  peak 24h median, worst",
            *kinds,
            *_told(report),
        )
    )


def _told(report: QuietReport) -> tuple[str, ...]:
    if not report.failing_nodes:
        return ()
    return (
        "",
        f"with {report.failing_nodes} nodes of the test split that fail, "
        f"at {report.failures_per_node_week:.3g} failures per node-week:",
        *table.calibration(report.calibration),
    )


def _calibration(
    replays: Sequence[Replay], horizons: Sequence[str], rate: float
) -> tuple[CalibrationLine, ...]:
    courses = [one.course for one in replays]
    return tuple(
        calibrated(
            name,
            [one.node[:, place] for one in replays],
            calibration.moments(courses, place, rate=rate),
        )
        for place, name in enumerate(horizons)
    )


def _near(one: Replay, horizons: Sequence[str]) -> bool:
    return any(
        highest(one.course, one.node[:, horizons.index(horizon)]) >= WITHIN_REACH * threshold
        for horizon, threshold in LEVELS
    )


def _line(
    replays: Sequence[Replay], horizons: Sequence[str], horizon: str, threshold: float, weeks: float
) -> QuietLine:
    values = [one.node[:, horizons.index(horizon)] for one in replays]
    each = [v.false_alerts for v in verdicts([one.course for one in replays], values, threshold)]
    false = sum(each)
    return QuietLine(
        horizon=horizon,
        threshold=threshold,
        false_alerts=false,
        nodes=sum(count > 0 for count in each),
        rate=false / weeks if weeks else 0.0,
        interval=(
            poisson_lower(false, CONFIDENCE_EACH_SIDE) / weeks,
            poisson_upper(false, CONFIDENCE_EACH_SIDE) / weeks,
        ),
        upper=poisson_upper(false) / weeks,
    )


def _kind(same: Sequence[Replay], horizons: Sequence[str]) -> QuietKind:
    day = horizons.index("24h")
    values = [one.node[:, day] for one in same]
    courses = [one.course for one in same]
    peaks = [highest(course, one) for course, one in zip(courses, values, strict=True)]
    return QuietKind(
        kind=courses[0].kind,
        node_weeks=sum(course.weeks for course in courses),
        false_alerts=sum(v.false_alerts for v in verdicts(courses, values, HEADLINE[1])),
        highest_median=float(np.median(peaks)),
        highest_worst=float(np.max(peaks)),
    )
