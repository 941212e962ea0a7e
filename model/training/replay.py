"""Replays an artefact over an episode, step by step, and judges its alerts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from model.training.hazard import EDGES_HOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from model.runtime import Predictor
    from model.training.dataset import Episode
    from model.training.labels import Outcome

LEAD_HOURS = EDGES_HOURS[-1]
"""An alert may come this long before the failure; earlier than that it is false."""

MERGE_HOURS = 6.0
"""Two crossings of a threshold this close together are one alert."""

HOURS_PER_WEEK = 7 * 24


@dataclass(frozen=True, slots=True)
class Replay:
    """An artefact's answers over one episode, from the first full window on.

    `node` is [step, horizon], `cause` [step, cause, horizon]; the episode's
    readings are let go.
    """

    kind: str
    outcome: Outcome | None
    end_hours: float
    hours: NDArray[np.float64]
    node: NDArray[np.float32]
    cause: NDArray[np.float32]


def replay(predictor: Predictor, episode: Episode) -> Replay:
    """Feed every grid step of an episode to the artefact, from a cold start."""
    episode = episode.of(predictor.info.names)
    length = predictor.info.window_steps
    state = predictor.initial_state(episode.readings.shape[0])
    node, cause = [], []
    for first in range(0, len(episode.hours), length):
        steps = np.arange(first, min(first + length, len(episode.hours)))
        for window in episode.windows(steps, length):
            outcome = predictor.predict(window, state)
            state = outcome.state
            node.append(outcome.node)
            cause.append(outcome.cause)
    full = length - 1
    return Replay(
        kind=episode.kind,
        outcome=episode.outcome,
        end_hours=episode.end_hours,
        hours=episode.hours[full:],
        node=np.stack(node)[full:],
        cause=np.stack(cause)[full:],
    )


def alerts(replay: Replay, horizon: int, threshold: float) -> list[int]:
    """Return the steps at which alerts begin, before any failure of the episode."""
    outcome = replay.outcome
    before = replay.hours < (np.inf if outcome is None else outcome.hours)
    above = np.flatnonzero((replay.node[:, horizon] >= threshold) & before)
    if not len(above):
        return []
    gaps = np.diff(replay.hours[above]) > MERGE_HOURS
    return [int(above[0]), *(int(step) for step in above[1:][gaps])]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One replay judged at one horizon and threshold.

    `lead_hours` is None where nothing was detected; `right` says whether the
    largest cause at the detection was the true one.
    """

    lead_hours: float | None
    right: bool
    false_alerts: int


def judge(replay: Replay, causes: Sequence[str], horizon: int, threshold: float) -> Verdict:
    """Sort an episode's alerts into a detection (the first in time) and false ones."""
    outcome = replay.outcome
    begun = alerts(replay, horizon, threshold)
    if outcome is None:
        return Verdict(None, right=False, false_alerts=len(begun))
    timely = [step for step in begun if outcome.hours - replay.hours[step] <= LEAD_HOURS]
    if not timely:
        return Verdict(None, right=False, false_alerts=len(begun))
    first = timely[0]
    named = causes[int(replay.cause[first, :, horizon].argmax())]
    lead = float(outcome.hours - replay.hours[first])
    return Verdict(lead, named == outcome.cause, len(begun) - len(timely))


def weeks(replay: Replay) -> float:
    """Node-weeks in which an alert could have been raised."""
    outcome = replay.outcome
    end = replay.hours[-1] if outcome is None else min(outcome.hours, replay.hours[-1])
    return max(0.0, float(end - replay.hours[0])) / HOURS_PER_WEEK


def highest(replay: Replay, horizon: int) -> float:
    """Highest probability before the failure, or at all."""
    outcome = replay.outcome
    before = replay.hours < (np.inf if outcome is None else outcome.hours)
    return float(replay.node[before, horizon].max()) if before.any() else 0.0
