"""Rivals made ready: detectors fitted, every score turned into a probability on training data.

None of it touches the test split.  Detectors learn from healthy nodes of the
fit split; levels, and what a score means as a probability, come from the held
split, with its failures weighed to the field as everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from model.training.judging import calibration
from model.training.judging.calibration import Isotonic
from model.training.judging.comparison import Rated
from model.training.judging.replay import EVERY_STEPS, course, looks
from model.training.rivals.detectors import Forest, Pca, fitted
from model.training.rivals.features import recent
from model.training.rivals.health import HEALTH_FAILS, HEALTH_WARNS
from model.training.rivals.rival import Rival
from model.training.rivals.rules import FULL, SIMPLE, pack

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from model.training.episodes.dataset import Episode
    from model.training.judging.course import Course

FIT_EVERY_STEPS = 30
"""Healthy rows half an hour apart: more would repeat themselves."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A rival, and its probability per horizon as a function of its score."""

    rival: Rival
    levels: tuple[Isotonic, ...]

    @property
    def name(self) -> str:
        """The rival's name."""
        return self.rival.name

    def score(self, episode: Episode, hours: NDArray[np.float64]) -> NDArray[np.float64]:
        """Score an episode at the moments that lie at `hours`."""
        steps = np.searchsorted(episode.hours, hours)
        return self.rival.score(episode, steps)

    def rated(
        self, courses: Sequence[Course], scores: Sequence[NDArray[np.float64]], horizons: int
    ) -> Rated:
        """Return the scores of all courses with what they mean."""
        del horizons
        fold = np.zeros(len(courses), np.int64)
        return Rated(self.rival.name, self.rival.threshold, scores, (self.levels,), fold)


def always_healthy() -> Rival:
    """Return the answer that no node ever fails."""

    def nothing(_: Episode, steps: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.zeros(len(steps))

    return Rival("always healthy", 1.0, nothing)


def rivals(
    healthy: Iterable[Episode],
    quiet: Iterable[Episode],
    held: Iterable[Episode],
    *,
    seed: int,
    horizons: int,
    field_rate: float,
) -> tuple[Calibrated, ...]:
    """Fit on `healthy` nodes, set levels on held-out `quiet` ones, and probabilities on `held`.

    Each is read once and let go; `held` has nodes of every kind, weighed to
    `field_rate` failures per node-week.
    """
    rows = [recent(episode, looks(len(episode.hours), FIT_EVERY_STEPS)) for episode in healthy]
    still = [recent(episode, looks(len(episode.hours), FIT_EVERY_STEPS)) for episode in quiet]
    rng = np.random.default_rng([seed, 14])
    ready = (
        always_healthy(),
        pack("static rules, simple", SIMPLE),
        pack("static rules, full", FULL),
        HEALTH_FAILS,
        HEALTH_WARNS,
        fitted("PCA, T2 and Q", Pca.of, rows, still),
        fitted("isolation forest", lambda flat: Forest(flat, rng), rows, still),
    )
    return _calibrated(ready, held, horizons, field_rate)


def _calibrated(
    ready: Sequence[Rival], held: Iterable[Episode], horizons: int, field_rate: float
) -> tuple[Calibrated, ...]:
    courses: list[Course] = []
    scores: list[list[NDArray[np.float64]]] = [[] for _ in ready]
    for episode in held:
        steps = looks(len(episode.hours), EVERY_STEPS)
        courses.append(course(episode, steps))
        for rival, found in zip(ready, scores, strict=True):
            found.append(rival.score(episode, steps))
    at = [calibration.moments(courses, horizon, rate=field_rate) for horizon in range(horizons)]
    return tuple(
        Calibrated(rival, tuple(Isotonic.fit(known.of(found), known) for known in at))
        for rival, found in zip(ready, scores, strict=True)
    )
