"""What the model makes of an idle GPU that is given away: `python -m benchmarks.given_away`.

Simulated idle nodes, one of whose GPUs leaves the page on purpose, after the
exporter has watched the node for a while: nothing but its absence speaks
against it, and nothing fails. The exporter's own arithmetic, at every step,
until an hour after the GPU is back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks import watched
from model import runtime
from model.training.episodes.dataset import episode
from simulator.history import record
from simulator.physics.workload import Workload
from simulator.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model.runtime import Predictor

HOUR = 3_600.0
WATCHED_HOURS = (3, 12, 48)
AWAY_HOURS = 3
LEVELS = (0.05, 0.1, 0.2, 0.3)


def highest(predictor: Predictor, *, watched_hours: int, seed: int) -> float:
    """Return the highest probability of 24 h."""
    away = Scenario(
        "gpu-given-away",
        onset_seconds=watched_hours * HOUR,
        duration_seconds=AWAY_HOURS * HOUR,
        severity=0.9,
        gpu=6,
        workload=Workload.IDLE,
    )
    steps = (watched_hours + AWAY_HOURS + 1) * 60
    whole = episode(record(away, node=f"away-{seed}", seed=seed, steps=steps))
    return watched.highest(predictor, whole)


def row(watched_hours: int, found: Sequence[float]) -> str:
    """Return a line of Markdown: how many of the nodes reach each level."""
    reached = " | ".join(f"{sum(one >= level for one in found)}" for level in LEVELS)
    median, worst = np.median(found), max(found)
    return f"| {watched_hours} h | {len(found)} | {reached} | {median:.3f} | {worst:.3f} |"


def main() -> None:
    """Print one line of Markdown for each time that the node was watched before."""
    arguments = watched.asked(__doc__, nodes=48, seed=60_000)
    predictor = runtime.load(arguments.file)
    heads = " | ".join(f"{level:g} and more" for level in LEVELS)
    print(f"| watched before | nodes | {heads} | median | highest |")
    print("| --- " * (len(LEVELS) + 4) + "|")
    for hours in WATCHED_HOURS:
        seeds = range(arguments.seed, arguments.seed + arguments.nodes)
        found = [highest(predictor, watched_hours=hours, seed=seed) for seed in seeds]
        print(row(hours, found), flush=True)


if __name__ == "__main__":
    main()
