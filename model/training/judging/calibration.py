"""Whether a probability means what it says: slope, observed over expected, error, Brier.

Moments of nodes that do not fail are weighed up until failures are as rare as
in the field, since that is what a probability is for.  Intervals come from
drawing whole nodes, because the moments of one node are not independent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from model.training.episodes.labels import within
from model.training.network.hazard import BASE_FAILURES_PER_NODE_WEEK

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from model.training.judging.course import Course

    Values = NDArray[np.float64]

TOP_SHARE = 0.1
DRAWS = 200
NEWTON_STEPS = 30
SMALLEST = 1e-6
RELIABILITY_EDGES = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class Moments:
    """Moments with a known outcome: `failed` 0 or 1, `weight`, and whose they are, each [moment].

    `places` [course] are the positions within each course that were taken, one an hour.
    """

    failed: Values
    weight: Values
    node: NDArray[np.int64]
    places: tuple[NDArray[np.int64], ...]

    def of(self, values: Sequence[NDArray[np.floating]]) -> Values:
        """Pick these moments out of values given per course."""
        parts = [one[place] for one, place in zip(values, self.places, strict=True)]
        return np.concatenate(parts).astype(np.float64)


def quiet_weight(courses: Sequence[Course], rate: float = BASE_FAILURES_PER_NODE_WEEK) -> float:
    """How many real quiet node-weeks one of the evaluated ones stands for, at this rate."""
    events = sum(course.outcome is not None for course in courses)
    quiet = sum(course.weeks for course in courses if course.outcome is None)
    return events / rate / quiet if events and quiet else 1.0


def moments(
    courses: Sequence[Course],
    horizon: int,
    heavy: float | None = None,
    rate: float = BASE_FAILURES_PER_NODE_WEEK,
) -> Moments:
    """Take one moment an hour, as far as it is known whether the node fails within the horizon.

    `heavy` is the weight of nodes that do not fail; none given: that which makes
    failures as frequent as `rate`, per node-week.
    """
    heavy = quiet_weight(courses, rate) if heavy is None else heavy
    failed, weights, nodes, places = [], [], [], []
    for number, course in enumerate(courses):
        hourly = np.unique(np.floor(course.hours), return_index=True)[1]
        failure = None if course.outcome is None else course.outcome.hours
        truth, known = within(course.hours[hourly], failure, course.end_hours)
        usable = known[:, horizon] & (course.hours[hourly] < course.failure_hours)
        failed.append(truth[usable, horizon])
        weights.append(np.full(int(usable.sum()), heavy if failure is None else 1.0))
        nodes.append(np.full(int(usable.sum()), number))
        places.append(hourly[usable])
    return Moments(
        np.concatenate(failed).astype(np.float64),
        np.concatenate(weights),
        np.concatenate(nodes),
        tuple(places),
    )


def brier(predicted: Values, at: Moments) -> float:
    """Return the weighed mean squared error."""
    return float(np.average((predicted - at.failed) ** 2, weights=at.weight))


def slope(predicted: Values, at: Moments) -> float | None:
    """Return the slope of a logistic fit of outcomes on log odds: 1 is right, below 1 is too bold.

    None where no such fit exists, as where all or none failed.
    """
    if not 0.0 < at.failed.mean() < 1.0:
        return None
    held = np.clip(predicted, SMALLEST, 1.0 - SMALLEST)
    design = np.stack((np.ones_like(held), np.log(held / (1.0 - held))), axis=1)
    weight = at.weight / at.weight.mean()
    beta = np.array([0.0, 1.0])
    for _ in range(NEWTON_STEPS):
        fitted = 1.0 / (1.0 + np.exp(-np.clip(design @ beta, -30.0, 30.0)))
        gradient = design.T @ (weight * (at.failed - fitted))
        curvature = (design * (weight * fitted * (1.0 - fitted))[:, None]).T @ design
        if not np.linalg.cond(curvature) < 1e12:
            return None
        step = np.clip(np.linalg.solve(curvature, gradient), -1.0, 1.0)
        beta = beta + step
        if np.abs(step).max() < 1e-8:
            break
    return float(beta[1])


def observed_over_expected(predicted: Values, at: Moments) -> float | None:
    """Return failures over predicted failures in the most endangered tenth of (weighed) moments."""
    order = np.argsort(-predicted, kind="stable")
    reached = np.cumsum(at.weight[order])
    top = order[: int(np.searchsorted(reached, TOP_SHARE * reached[-1])) + 1]
    expected = float(np.sum(predicted[top] * at.weight[top]))
    return float(np.sum(at.failed[top] * at.weight[top])) / expected if expected else None


def interval(
    measure: Callable[[Values, Moments], float | None],
    predicted: Values,
    at: Moments,
    seed: int = 0,
) -> tuple[float, float] | None:
    """Return where `measure` lies (95 %) when nodes are drawn anew; None where it has no value."""
    rng = np.random.default_rng(seed)
    count = int(at.node.max()) + 1 if len(at.node) else 0
    found = []
    for _ in range(DRAWS if count else 0):
        drawn = np.bincount(rng.integers(count, size=count), minlength=count)
        times = drawn[at.node]
        kept = times > 0
        part = replace(
            at,
            failed=at.failed[kept],
            weight=(at.weight * times)[kept],
            node=at.node[kept],
        )
        value = measure(predicted[kept], part) if part.failed.any() else None
        if value is not None:
            found.append(value)
    if not found:
        return None
    low, high = np.percentile(found, (2.5, 97.5))
    return (float(low), float(high))


def expected_error(predicted: Values, at: Moments) -> float:
    """Return the expected calibration error, a probability: how far the reliability curve is off.

    The mean, over the bins of `RELIABILITY_EDGES` and by the weight of their moments,
    of |mean predicted - observed share| (Naeini, Cooper, Hauskrecht, AAAI 2015; Guo et
    al., ICML 2017), with edges that are close where probabilities of rare events lie.
    It is to be read beside the share that fails: whoever never says anything has that.
    """
    bins = _bins(predicted)
    gap = at.weight * (predicted - at.failed)
    off = sum(abs(float(gap[bins == one].sum())) for one in np.unique(bins))
    return off / float(at.weight.sum())


def _bins(predicted: Values) -> NDArray[np.int64]:
    last = len(RELIABILITY_EDGES) - 2
    return np.clip(np.searchsorted(RELIABILITY_EDGES, predicted, "right") - 1, 0, last)


def reliability(predicted: Values, at: Moments) -> tuple[tuple[float, float, int], ...]:
    """Return (mean predicted, observed share, moments) of each filled bin."""
    bins = _bins(predicted)
    points = []
    for one in np.unique(bins):
        inside = bins == one
        weight = at.weight[inside]
        points.append(
            (
                float(np.average(predicted[inside], weights=weight)),
                float(np.average(at.failed[inside], weights=weight)),
                int(inside.sum()),
            )
        )
    return tuple(points)


@dataclass(frozen=True, slots=True)
class Isotonic:
    """The non-decreasing step function from a score to a probability that fits best."""

    edges: Values
    levels: Values

    @classmethod
    def fit(cls, scores: Values, at: Moments) -> Isotonic:
        """Pool adjacent violators, weighed."""
        order = np.argsort(scores, kind="stable")
        edges, start = np.unique(scores[order], return_index=True)
        weight = np.add.reduceat(at.weight[order], start)
        mean = np.add.reduceat((at.failed * at.weight)[order], start) / weight
        blocks: list[list[float]] = []  # [level, weight, width]
        for level, heavy in zip(mean.tolist(), weight.tolist(), strict=True):
            blocks.append([level, heavy, 1])
            while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
                last = blocks.pop()
                whole = blocks[-1][1] + last[1]
                blocks[-1][0] = (blocks[-1][0] * blocks[-1][1] + last[0] * last[1]) / whole
                blocks[-1][1], blocks[-1][2] = whole, blocks[-1][2] + last[2]
        levels = np.repeat([b[0] for b in blocks], [int(b[2]) for b in blocks])
        return cls(edges, levels)

    def __call__(self, scores: Values) -> Values:
        """Return the probability of each score; beyond what was seen, that of the nearest seen."""
        place = np.clip(np.searchsorted(self.edges, scores, "right") - 1, 0, len(self.edges) - 1)
        return np.asarray(self.levels[place])
