"""Which stories are simulated for which split: no seed, node or severity is shared."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from simulator.faults import STORIES
from simulator.history import Recording
from simulator.physics.workload import Workload
from simulator.scenario import HEALTHY, Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.faults.story import Story


class Split(StrEnum):
    """`fit` trains, `held` freezes constants and stops early, `test` is only ever evaluated;

    `quiet` is what false alerts are counted on, and holds no failure.
    """

    FIT = "fit"
    HELD = "held"
    TEST = "test"
    QUIET = "quiet"


SEVERITIES = {
    Split.FIT: ((0.50, 0.58), (0.66, 0.74), (0.82, 0.90)),
    Split.HELD: ((0.58, 0.62), (0.74, 0.78), (0.90, 0.95)),
    Split.TEST: ((0.62, 0.66), (0.78, 0.82), (0.95, 1.00)),
    Split.QUIET: ((0.62, 0.66), (0.78, 0.82), (0.95, 1.00)),
}
"""Disjoint bands, interleaved so that every split spans mild to severe."""

LEARNED = (Split.FIT, Split.HELD)
"""The splits that a training learns from."""

SEED_OF_SPLIT = {Split.FIT: 1, Split.HELD: 2, Split.TEST: 3, Split.QUIET: 4}
WORKLOADS = {
    Workload.TRAINING: 0.5,
    Workload.INFERENCE: 0.2,
    Workload.MIXED: 0.22,
    Workload.IDLE: 0.08,
}
HOUR = 3_600.0
WEEK_HOURS = 168.0
QUIET_HOURS = (1.5, 150.0)
"""How long a node was watched before its story begins: cold states, and ones of a week."""

UNJUDGED_HOURS = 1.25
"""Until a node's first window is full and its first look, nothing of it is judged."""

AFTER_HOURS = 3.0
BLOCK_HOURS = 12.0
"""Records are cut to whole blocks, so that equal ones can be simulated together."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """How much to simulate for one split: episodes per kind, and healthy records of some hours."""

    faults_per_kind: int
    lookalikes_per_kind: int
    healthy: int
    healthy_hours: float = WEEK_HOURS
    quiet_hours: tuple[float, float] = QUIET_HOURS
    longest_hours: float = math.inf
    """Stories that would take longer are played faster."""


BUNDLED = {
    Split.FIT: Amounts(54, 16, 110),
    Split.HELD: Amounts(16, 8, 54),
    Split.TEST: Amounts(8, 4, 16),
}
"""What the bundled artefact is made from."""

TINY = {
    Split.FIT: Amounts(1, 1, 1, 12.0, (1.5, 3.0), 5.0),
    Split.HELD: Amounts(1, 1, 1, 12.0, (1.5, 3.0), 5.0),
    Split.TEST: Amounts(1, 1, 1, 12.0, (1.5, 3.0), 5.0),
}
"""Enough to show that every step works; worth nothing."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One record to simulate, of `steps` grid steps."""

    recording: Recording
    steps: int

    @property
    def kind(self) -> str:
        """The kind of its story."""
        scenario = self.recording.scenario
        return scenario if isinstance(scenario, str) else scenario.kind


def plan(
    split: Split,
    amounts: Amounts,
    *,
    seed: int,
    step_seconds: int,
    left_out: frozenset[str] = frozenset(),
) -> list[Planned]:
    """Draw the records of one split, those of equal length together; kinds `left_out` are not kept.

    They are drawn all the same, so that the others stay what they are.
    """
    rng = np.random.default_rng([seed, SEED_OF_SPLIT[split]])
    drawn = _stories(split, amounts, rng, seed=seed, step_seconds=step_seconds)
    records = [planned for planned in drawn if planned.kind not in left_out]
    return sorted(records, key=lambda planned: (planned.steps, planned.recording.node))


def quiet_plan(node_weeks: float, *, seed: int, step_seconds: int) -> list[Planned]:
    """Draw nodes of one week that do not fail: every other one lives through a look-alike.

    As many as it takes to have watched `node_weeks`: of each week the first
    `UNJUDGED_HOURS` are lost.
    """
    rng = np.random.default_rng([seed, SEED_OF_SPLIT[Split.QUIET]])
    lookalikes = [story for story in STORIES.values() if story.lookalike]
    steps = int(WEEK_HOURS * HOUR) // step_seconds
    planned = []
    for index in range(math.ceil(node_weeks * WEEK_HOURS / (WEEK_HOURS - UNJUDGED_HOURS))):
        story = lookalikes[index // 2 % len(lookalikes)] if index % 2 else STORIES[HEALTHY]
        scenario = _in_quiet_time(Split.QUIET, story, rng, WEEK_HOURS)
        node = f"{Split.QUIET}-{story.kind}-{index}"
        planned.append(_planned(Split.QUIET, scenario, node, steps, rng, seed))
    return planned


def _stories(
    split: Split, amounts: Amounts, rng: np.random.Generator, *, seed: int, step_seconds: int
) -> Iterator[Planned]:
    for kind, story in STORIES.items():
        if kind == HEALTHY:
            count = amounts.healthy
        else:
            count = amounts.lookalikes_per_kind if story.lookalike else amounts.faults_per_kind
        for index in range(count):
            scenario, hours = _scenario(split, story, amounts, rng)
            steps = int(hours * HOUR) // step_seconds
            yield _planned(split, scenario, f"{split}-{kind}-{index}", steps, rng, seed)


def _planned(
    split: Split, scenario: Scenario, node: str, steps: int, rng: np.random.Generator, seed: int
) -> Planned:
    # The seed is unique over splits, and with it the machine and its noise.
    own = seed * 1_000_000 + SEED_OF_SPLIT[split] * 100_000 + int(rng.integers(100_000))
    return Planned(Recording(scenario, node, own, rack=f"{node}-rack"), steps)


def _in_quiet_time(
    split: Split, story: Story, rng: np.random.Generator, hours: float, longest: float = math.inf
) -> Scenario:
    """Return a scenario that is over within `hours`, somewhere in them.

    Memory holds a look-alike for days: who only learns its first hours takes the rest of them
    for a sign.  And it is learned beside every kind of work alike: at idle, where few nodes are,
    it deceives most.
    """
    even = split in LEARNED and story.kind != HEALTHY
    work = Workload(rng.choice(list(WORKLOADS), p=None if even else list(WORKLOADS.values())))
    if story.kind == HEALTHY:
        return Scenario(workload=work)
    duration = min(_log_uniform(rng, story.duration_seconds), longest * HOUR)
    return Scenario(
        kind=story.kind,
        onset_seconds=float(rng.uniform(2.0 * HOUR, max(3.0 * HOUR, hours * HOUR - duration))),
        duration_seconds=duration,
        severity=float(rng.uniform(*SEVERITIES[split][rng.integers(3)])),
        shape=float(rng.uniform(1.0, 2.5)),
        gpu=int(rng.integers(8)),
        workload=work,
    )


def _scenario(
    split: Split, story: Story, amounts: Amounts, rng: np.random.Generator
) -> tuple[Scenario, float]:
    """Return a scenario and the hours to record."""
    if story.kind == HEALTHY or (story.lookalike and split in LEARNED):
        hours = amounts.healthy_hours
        return _in_quiet_time(split, story, rng, hours, amounts.longest_hours), hours
    work = Workload(rng.choice(list(WORKLOADS), p=list(WORKLOADS.values())))
    quiet, duration = (
        _log_uniform(rng, amounts.quiet_hours),
        min(_log_uniform(rng, story.duration_seconds), amounts.longest_hours * HOUR),
    )
    scenario = Scenario(
        kind=story.kind,
        onset_seconds=quiet * HOUR,
        duration_seconds=duration,
        severity=float(rng.uniform(*SEVERITIES[split][rng.integers(3)])),
        shape=float(rng.uniform(1.0, 2.5)),
        gpu=int(rng.integers(8)),
        workload=work,
    )
    hours = scenario.end_seconds / HOUR + AFTER_HOURS
    return scenario, math.ceil(hours / BLOCK_HOURS) * BLOCK_HOURS


def _log_uniform(rng: np.random.Generator, bounds: tuple[float, float]) -> float:
    return math.exp(rng.uniform(*np.log(bounds)))
