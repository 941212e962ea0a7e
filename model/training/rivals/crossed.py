"""Rivals on a site's own history: what was learned on half of its nodes judges the other half.

Nobody has another history of that site to fit on, and a rival that has seen the
nodes that it is judged on would be flattered.  What the history does not allow
is named, and not left out in silence.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from model.training.judging import calibration
from model.training.judging.calibration import Isotonic
from model.training.judging.comparison import Rated
from model.training.judging.replay import looks
from model.training.rivals.calibrated import FIT_EVERY_STEPS, always_healthy
from model.training.rivals.detectors import Forest, Pca, fitted
from model.training.rivals.features import recent
from model.training.rivals.health import HEALTH_FAILS, HEALTH_WARNS, failing, warning
from model.training.rivals.rival import Seen
from model.training.rivals.rules import FULL, SIMPLE, pack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from model.training.episodes.dataset import Episode
    from model.training.judging.course import Course
    from model.training.rivals.detectors import Detector
    from model.training.rivals.rival import Condition, Rival

    Features = NDArray[np.float64]
    """[moment, gpu, channel]."""

FOLDS = (0, 1)
FIT_NODES = 32
"""Of each half at most: more would take memory and teach a detector nothing."""
LEAST_MOMENTS = 96
"""Two days of one node, looked at each half hour."""
LEVEL_SHARE = 0.2
"""The newest part of each quiet stretch sets a detector's level, the rest is fitted."""
PACKS = {"static rules, simple": SIMPLE, "static rules, full": FULL}


@dataclass(frozen=True, slots=True)
class Crossed:
    """A rival of each half of the nodes; a score of 1 is the level at which it alerts itself."""

    name: str
    halves: tuple[Rival, Rival]
    fold: Mapping[str, int]

    def score(self, episode: Episode, hours: NDArray[np.float64]) -> NDArray[np.float64]:
        """Score an episode at the moments that lie at `hours`, by what the other half taught."""
        rival = self.halves[self.fold[episode.node]]
        return rival.score(episode, np.searchsorted(episode.hours, hours)) / rival.threshold

    def rated(
        self, courses: Sequence[Course], scores: Sequence[NDArray[np.float64]], horizons: int
    ) -> Rated:
        """Make probabilities of the scores of one half by what became of the other."""
        fold = np.array([self.fold[course.node] for course in courses])
        levels = [_levels(courses, scores, np.flatnonzero(fold != f), horizons) for f in FOLDS]
        # Of a half alone nothing can be said of the other one.
        known = tuple(levels) if all(levels) else ()
        return Rated(self.name, 1.0, scores, known, fold)


def _levels(
    courses: Sequence[Course],
    scores: Sequence[NDArray[np.float64]],
    chosen: NDArray[np.int64],
    horizons: int,
) -> tuple[Isotonic, ...]:
    part = [courses[one] for one in chosen]
    if not part:
        return ()
    at = [calibration.moments(part, horizon, 1.0) for horizon in range(horizons)]
    if not all(len(one.failed) for one in at):
        return ()
    own = [scores[one] for one in chosen]
    return tuple(Isotonic.fit(one.of(own), one) for one in at)


class Ready(NamedTuple):
    """The rivals that a history allows; and of those it limits or does not allow, why."""

    rivals: tuple[Crossed, ...]
    limits: tuple[tuple[str, str], ...]


class Quiet:
    """What detectors of one half learn from: features of its quiet time, older and newest."""

    def __init__(self) -> None:
        self.fit: list[Features] = []
        self.level: list[Features] = []
        self.nodes: set[str] = set()

    def add(self, episode: Episode) -> None:
        """Take the features of a quiet episode, of the first nodes only."""
        if episode.node not in self.nodes and len(self.nodes) == FIT_NODES:
            return
        self.nodes.add(episode.node)
        found = recent(episode, looks(len(episode.hours), FIT_EVERY_STEPS))
        newest = round(len(found) * (1.0 - LEVEL_SHARE))
        self.fit.append(found[:newest])
        self.level.append(found[newest:])

    @property
    def moments(self) -> int:
        """How many moments of a node there are."""
        return sum(map(len, self.fit)) + sum(map(len, self.level))


def folds(nodes: Iterable[str], failed: Iterable[str]) -> dict[str, int]:
    """Deal the nodes into two halves, those that failed evenly."""
    struck = set(failed)
    ordered = sorted(set(nodes), key=lambda node: (node not in struck, node))
    return {node: place % 2 for place, node in enumerate(ordered)}


def ready(episodes: Iterable[Episode], fold: Mapping[str, int], seed: int) -> Ready:
    """Look through a history once, and fit what it allows."""
    quiet, seen = (Quiet(), Quiet()), set[str]()
    for episode in episodes:
        shown = np.asarray(~np.isnan(episode.readings).all((0, 1)))
        seen |= {name for name, one in zip(episode.channels, shown, strict=True) if one}
        if episode.outcome is None:
            quiet[fold[episode.node]].add(episode)
    possible, limits = [Crossed("always healthy", (always_healthy(),) * 2, fold)], []
    for name, rival, asked in _fixed():
        if blind := sorted(asked - seen):
            limits.append((name, f"no node reports {', '.join(blind)}"))
        if asked & seen:
            possible.append(Crossed(name, (rival, rival), fold))
    detectors, why = _detectors(quiet, fold, seed)
    return Ready((*possible, *detectors), (*limits, *why))


def _fixed() -> list[tuple[str, Rival, frozenset[str]]]:
    """Return the rivals that learn nothing, with the channels that they read."""
    packs = [(name, pack(name, one), read_by(one.values())) for name, one in PACKS.items()]
    return [
        *packs,
        (HEALTH_FAILS.name, HEALTH_FAILS, read_by([failing])),
        (HEALTH_WARNS.name, HEALTH_WARNS, read_by([failing, warning])),
    ]


def _detectors(
    quiet: tuple[Quiet, Quiet], fold: Mapping[str, int], seed: int
) -> tuple[list[Crossed], list[tuple[str, str]]]:
    makers: dict[str, Callable[[int], Callable[[Features], Detector]]] = {
        "PCA, T2 and Q": lambda _: Pca.of,
        "isolation forest": partial(_forest, seed),
    }
    short = min(quiet, key=lambda half: half.moments)
    if short.moments < LEAST_MOMENTS:
        hours = short.moments / 2
        why = (
            f"not possible: {hours:.0f} node hours of quiet time on one half of the nodes to judge "
            f"the other by, expected at least {LEAST_MOMENTS / 2:.0f}"
        )
        return [], [(name, why) for name in makers]
    out = []
    for name, maker in makers.items():
        first, second = (
            fitted(name, maker(f), half.fit, half.level) for f, half in enumerate(quiet)
        )
        out.append(Crossed(name, (second, first), fold))
    return out, []


def _forest(seed: int, fold: int) -> Callable[[Features], Detector]:
    return lambda rows: Forest(rows, np.random.default_rng([seed, 14, fold]))


class Asked(Seen):
    """An episode of nothing, that notes what is asked of it."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def __call__(self, name: str) -> NDArray[np.float64]:
        """Note a name, and return that nothing was read."""
        self.names.add(name)
        return np.full((1, 1), np.nan)

    @property
    def reports(self) -> Condition:
        """No GPU reports."""
        return np.zeros((1, 1), bool)


def read_by(rules: Iterable[Callable[[Seen], Condition]]) -> frozenset[str]:
    """Return the channels that rules read."""
    asked = Asked()
    for rule in rules:
        rule(asked)
    return frozenset(asked.names)
