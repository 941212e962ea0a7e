"""False alerts on many node-weeks in which nothing fails: what a few weeks cannot bound.

Half of the nodes are healthy for their whole week, on each of the others one
look-alike happens: 0.071 a node-day, where `simulator.mix` holds 0.1 for the
field.  A record is first looked at sparsely; one that comes within reach of a
threshold is replayed as densely as everywhere else.

Beside nodes that fail, so many quiet ones also tell whether a probability means
what it says: the few of the test split would each stand for two hundred.
And what is foretold of those that fail stands beside what is false on the quiet ones.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from model.schema import HORIZONS
from model.training.judging import calibration, mix, shipped
from model.training.judging.budget import verdicts
from model.training.judging.course import highest
from model.training.judging.evaluate import calibrated, usual_rate
from model.training.judging.lines import HEADLINE, of_mix, share
from model.training.judging.rates import poisson_lower, poisson_upper, wilson
from model.training.judging.replay import replay
from model.training.judging.report import CalibrationLine, MixLine, ShippedLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from model.runtime import Predictor
    from model.training.episodes.dataset import Episode
    from model.training.judging.course import Verdict
    from model.training.judging.replay import Replay

SPARSE_STEPS = 10
WITHIN_REACH = 0.25
"""Of the threshold: a probability that was seen lower than this did not cross it in between."""

STRICTER = (("24h", 0.2), ("24h", 0.3), ("72h", 0.2))
LEVELS = tuple(
    sorted(
        {*chain.from_iterable(shipped.SHIPPED.values()), *STRICTER},
        key=lambda level: (list(HORIZONS).index(level[0]), level[1]),
    )
)
"""Horizons and thresholds that the shipped alerts use, stricter ones, and the longest horizon."""

CONFIDENCE_EACH_SIDE = 0.975


class QuietTold(msgspec.Struct, frozen=True):
    """What is foretold at a level of the failing nodes beside, and the precision in the field

    that it gives with false alerts as frequent as on the quiet ones, at their bound, and
    (`of_mix`) with kinds as frequent as in the field.
    """

    events: int
    detected: int
    recall_interval: tuple[float, float]
    gradual_events: int
    gradual_detected: int
    gradual_interval: tuple[float, float]
    precision: float
    precision_lower: float
    of_mix: MixLine | None


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
    told: QuietTold | None = None
    """None without failing nodes beside."""


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
    shipped: tuple[ShippedLine, ...]
    """Of the quiet nodes alone."""


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
        lines=tuple(_line(replays, struck, horizons, level, rate) for level in LEVELS),
        kinds=tuple(
            _kind([one for one in replays if one.course.kind == kind], horizons)
            for kind in sorted({one.course.kind for one in replays})
        ),
        failing_nodes=len(struck),
        failures_per_node_week=rate,
        calibration=_calibration([*replays, *struck], horizons, rate) if struck else (),
        shipped=shipped.lines(replays, horizons),
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
    replays: Sequence[Replay],
    struck: Sequence[Replay],
    horizons: Sequence[str],
    level: tuple[str, float],
    field_rate: float,
) -> QuietLine:
    each = [one.false_alerts for one in _judged(replays, horizons, level)]
    weeks = sum(one.course.weeks for one in replays)
    false = sum(each)
    rate, upper = (false / weeks if weeks else 0.0), poisson_upper(false) / weeks
    return QuietLine(
        horizon=level[0],
        threshold=level[1],
        false_alerts=false,
        nodes=sum(count > 0 for count in each),
        rate=rate,
        interval=(
            poisson_lower(false, CONFIDENCE_EACH_SIDE) / weeks,
            poisson_upper(false, CONFIDENCE_EACH_SIDE) / weeks,
        ),
        upper=upper,
        told=_foretold(struck, horizons, level, field_rate, rate, upper) if struck else None,
    )


def _judged(
    replays: Sequence[Replay], horizons: Sequence[str], level: tuple[str, float]
) -> list[Verdict]:
    values = [one.node[:, horizons.index(level[0])] for one in replays]
    return verdicts([one.course for one in replays], values, level[1])


def _foretold(
    struck: Sequence[Replay],
    horizons: Sequence[str],
    level: tuple[str, float],
    field_rate: float,
    rate: float,
    upper: float,
) -> QuietTold:
    found = _judged(struck, horizons, level)
    courses = [one.course for one in struck]
    seen = [verdict.lead_hours is not None for verdict in found]
    gradual = [s for s, course in zip(seen, courses, strict=True) if not course.sudden]
    right = sum(seen) / len(seen) * field_rate
    return QuietTold(
        events=len(seen),
        detected=sum(seen),
        recall_interval=wilson(sum(seen), len(seen)),
        gradual_events=len(gradual),
        gradual_detected=sum(gradual),
        gradual_interval=wilson(sum(gradual), len(gradual)),
        precision=share(right, rate),
        precision_lower=share(right, upper),
        of_mix=of_mix(mix.recall(courses, found), field_rate, rate, upper),
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
