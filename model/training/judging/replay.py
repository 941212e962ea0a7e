"""Replays an artefact over an episode, as the exporter would have run it.

Not every grid step is looked at: between two looks the evidence is taken to
have held, as training takes it, and the memory advances over all of them.
With `every` 1 it is the exporter's own arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from model.training.judging.course import Course
from model.training.network.memory import HALF_LIVES_HOURS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from model.runtime import Prediction, Predictor
    from model.training.episodes.dataset import Episode

EVERY_STEPS = 5
"""Minutes between two looks: five times less work than the exporter's own.

What rises and falls again between two looks is not seen, and what stays is seen up to
this much late; `judging.shipped` says what alerts that wait make of it.
"""

MOMENTS_AT_ONCE = 128


@dataclass(frozen=True, slots=True)
class Replay:
    """An artefact's answers over one episode, from the first full window on.

    `node` [moment, horizon], `cause` [moment, cause, horizon], `score` [moment] the
    highest of all GPUs, `contribution` [moment, channel] that of the GPU in most
    danger; the episode's readings are let go.
    """

    course: Course
    node: NDArray[np.float32]
    cause: NDArray[np.float32]
    score: NDArray[np.float32]
    contribution: NDArray[np.float16]


class Memory:
    """Carries an artefact's state over several grid steps at once.

    The state is exponential averages with known half-lives (`model.training.network.memory`),
    so what one step brought can be read back from the state before and after it.
    """

    def __init__(self, width: int, step_seconds: int, every: int) -> None:
        each = width // len(HALF_LIVES_HOURS)
        half_lives = np.repeat(np.array(HALF_LIVES_HOURS) * 3_600.0, each)
        self._keep = np.exp2(-step_seconds / half_lives)
        whole = self._keep**every
        self._whole, self._share = whole, (1.0 - whole) / (1.0 - self._keep)
        self._every = every

    def advance(
        self, before: NDArray[np.float32], after: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return the state [gpu, k] `every` steps after `before`, given the one after one step."""
        if self._every == 1:
            return after
        news = after - self._keep * before
        return (self._whole * before + self._share * news).astype(np.float32)


def looks(steps: int, every: int) -> NDArray[np.int64]:
    """Return the steps at which a record of this length is looked at."""
    return np.arange(every - 1, steps, every)


def replay(predictor: Predictor, episode: Episode, every: int = EVERY_STEPS) -> Replay:
    """Show an episode to the artefact, from a cold start."""
    info = predictor.info
    episode = episode.of(info.names)
    steps = looks(len(episode.hours), every)
    memory = Memory(info.state_width, info.step_seconds, every)
    state = predictor.initial_state(episode.readings.shape[0])
    answers: list[Prediction] = []
    for first in range(0, len(steps), MOMENTS_AT_ONCE):
        part = steps[first : first + MOMENTS_AT_ONCE]
        for window in episode.windows(part, info.window_steps):
            answer = predictor.predict(window, state)
            state = memory.advance(state, answer.state)
            answers.append(answer)
    warm = int(np.searchsorted(steps, info.window_steps - 1))
    return _collect(course(episode, steps[warm:]), answers[warm:])


def course(episode: Episode, steps: NDArray[np.int64]) -> Course:
    """Return what became of the episode's node, looked at on these steps."""
    return Course(
        node=episode.node,
        kind=episode.kind,
        outcome=episode.outcome,
        onset_hours=episode.onset_hours,
        end_hours=episode.end_hours,
        hours=episode.hours[steps],
        sudden=episode.sudden,
    )


def _collect(whole: Course, answers: list[Prediction]) -> Replay:
    worst = [int(answer.gpu[:, -1].argmax()) for answer in answers]
    return Replay(
        course=whole,
        node=np.stack([answer.node for answer in answers]),
        cause=np.stack([answer.cause for answer in answers]),
        score=np.array([answer.score.max() for answer in answers], np.float32),
        contribution=np.stack(
            [answer.contribution[gpu] for gpu, answer in zip(worst, answers, strict=True)]
        ).astype(np.float16),
    )
