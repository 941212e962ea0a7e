"""One story of each kind, told moment by moment: probabilities, score, and what drove them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from model.training.judging.course import judge
from model.training.judging.report import Example

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from model.training.judging.replay import Replay

POINTS_AT_MOST = 240
CONTRIBUTIONS = 6
QUIET_SHARE = 0.5
"""How much of the quiet before an onset is shown, in lengths of the story."""


def examples(
    replays: Sequence[Replay],
    causes: Sequence[str],
    channels: Sequence[str],
    horizon: int,
    threshold: float,
) -> tuple[Example, ...]:
    """Return, of each kind, the story with the middle development; of others the loudest one."""
    kinds = dict.fromkeys(one.course.kind for one in replays)
    return tuple(
        _example(_middle([r for r in replays if r.course.kind == kind], horizon), causes, channels,
                 horizon, threshold)
        for kind in kinds
    )  # fmt: skip


def _middle(same: Sequence[Replay], horizon: int) -> Replay:
    if same[0].course.outcome is None:
        return max(same, key=lambda one: float(one.node[:, horizon].max()))
    ordered = sorted(same, key=lambda one: one.course.development_hours)
    return ordered[len(ordered) // 2]


def _example(
    one: Replay, causes: Sequence[str], channels: Sequence[str], horizon: int, threshold: float
) -> Example:
    course = one.course
    verdict = judge(course, one.node[:, horizon], threshold)
    shown = _shown(one)
    before = np.flatnonzero(course.hours < course.failure_hours)
    loudest = int(before[one.node[before, horizon].argmax()])
    at = loudest if verdict.moment is None else verdict.moment
    shares = one.contribution[at].astype(np.float64)
    largest = np.argsort(-shares, kind="stable")[:CONTRIBUTIONS]
    return Example(
        node=course.node,
        kind=course.kind,
        onset_hours=course.onset_hours,
        failure_hours=None if course.outcome is None else course.outcome.hours,
        alert_hours=None if verdict.moment is None else float(course.hours[verdict.moment]),
        cause=causes[int(one.cause[at, :, horizon].argmax())],
        hours=tuple(np.round(course.hours[shown], 3).tolist()),
        probabilities=tuple(tuple(row) for row in np.round(one.node[shown], 5).tolist()),
        score=tuple(np.round(one.score[shown], 3).tolist()),
        contributions=tuple((channels[i], round(float(shares[i]), 4)) for i in largest.tolist()),
    )


def _shown(one: Replay) -> NDArray[np.int64]:
    """Return the moments that are drawn: the story with some quiet around it, thinned."""
    course = one.course
    first = float(course.hours[0])
    if course.onset_hours is not None:
        first = course.onset_hours - QUIET_SHARE * course.development_hours
    places = np.flatnonzero(course.hours >= first)
    stride = -(-len(places) // POINTS_AT_MOST)
    return places[::stride]
