"""What the model makes of faults that are mended on their way: `python -m benchmarks.mended`.

Simulated nodes whose gradual fault develops as those of the evaluation do, and
is mended at a share of its way: no failure follows.  An alert before that moment
was early, and by the book false; one long after it keeps a sound node from work.
Looks are five minutes apart: at the levels of the shipped critical alert by cause,
and at the node's probability from which on remediation gives no node back.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import watched
from daemon.clocks import system_clock
from model import runtime
from model.schema import HORIZONS
from model.training.episodes.dataset import episode
from model.training.judging import shipped
from model.training.judging.replay import replay
from remediation.policy.bounds.limits import ReleaseBar
from simulator.draw import draw
from simulator.faults import STORIES
from simulator.faults.story import HOUR, Pace
from simulator.history import record
from simulator.recorder.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from model.runtime import Predictor
    from simulator.scenario import Scenario

RATIOS = (0.3, 0.5, 0.7, 0.9)
SETTLED_HOURS, AFTER_HOURS, DAY_HOURS = 12, 72, 24
SPAN_SECONDS = 30 * 24 * HOUR
"""Long enough that every duration is told as it is drawn."""
NEVER = -1.0
SAID = ("critical", "kept back")
KEPT: tuple[shipped.Level, ...] = (("24h", ReleaseBar().probability_below),)


@dataclass(frozen=True, slots=True)
class Mended:
    """One node: its fault, how far it came, and when it was "critical" and to be "kept back".

    `before` tells whether it was before the fault was mended, `last_hours` how long
    after that it last was, `NEVER` where it was not.
    """

    kind: str
    ratio: float
    before: dict[str, bool]
    last_hours: dict[str, float]


def scenario_of(kind: str, seed: int, ratio: float) -> Scenario:
    """Draw a fault as training sets do, and mend it."""
    drawn = draw(kind, seed=seed, span_seconds=SPAN_SECONDS, gpus=8, mended_ratio=ratio)
    return replace(drawn, onset_seconds=SETTLED_HOURS * HOUR)


def judged(predictor: Predictor, kind: str, seed: int, ratio: float) -> Mended:
    """Watch one node from before its fault until three days after it was mended."""
    scenario = scenario_of(kind, seed, ratio)
    mended = SETTLED_HOURS + ratio * scenario.duration_seconds / HOUR
    steps = round((mended + AFTER_HOURS) * 60)
    history = record(scenario, node=f"{kind}-{seed}", seed=seed, steps=steps)
    seen = replay(predictor, episode(history))
    hours = seen.course.hours
    names = list(HORIZONS)
    over = {
        "critical": shipped.cause(seen, names, shipped.SHIPPED["critical"]),
        "kept back": shipped.node(seen, names, KEPT),
    }
    held = {said: hours[values >= 1.0] for said, values in over.items()}
    return Mended(
        kind,
        ratio,
        before={said: bool((times < mended).any()) for said, times in held.items()},
        last_hours={said: _last(times - mended) for said, times in held.items()},
    )


def _last(hours_after: NDArray[np.float64]) -> float:
    """Return the latest, or `NEVER` where none is after."""
    return float(hours_after[hours_after >= 0.0].max(initial=NEVER))


def row(name: str, found: Sequence[Mended]) -> str:
    """Return a line of Markdown for these nodes."""
    cells = [name, str(len(found))]
    for said in SAID:
        cells.append(str(sum(one.before[said] for one in found)))
        last = np.array([one.last_hours[said] for one in found])
        longer = last[last > NEVER]
        cells.append(str((last >= DAY_HOURS).sum()))
        cells.append(f"{np.median(longer):.1f} / {longer.max():.1f}" if longer.size else "-")
    return f"| {' | '.join(cells)} |"


def table(head: str, groups: Iterable[tuple[str, Sequence[Mended]]]) -> None:
    """Print one table."""
    each = "{0} before | a day after | hours after, median / most"
    heads = [head, "faults", *(each.format(said) for said in SAID)]
    print(f"\n| {' | '.join(heads)} |\n{'| --- ' * (2 + 3 * len(SAID))}|")
    for name, found in groups:
        print(row(name, found), flush=True)


def main() -> None:
    """Print what alerts there were, by how far the fault had come, and by kind."""
    arguments = watched.asked(__doc__, nodes=4, seed=70_000)
    predictor = runtime.load(arguments.file)
    kinds = [k for k, told in STORIES.items() if told.cause and told.pace is Pace.GRADUAL]
    seeds = range(arguments.seed, arguments.seed + arguments.nodes)
    total = len(kinds) * len(seeds) * len(RATIOS)
    progress = Progress("watched", total, sys.stderr, system_clock().monotonic)
    found: list[Mended] = []
    for kind in kinds:
        for seed in seeds:
            for ratio in RATIOS:
                found.append(judged(predictor, kind, seed, ratio))
                progress.step()
    shares = ((f"{r:.0%} of its way", [o for o in found if o.ratio == r]) for r in RATIOS)
    table("mended at", shares)
    table("kind", ((kind, [o for o in found if o.kind == kind]) for kind in kinds))


if __name__ == "__main__":
    main()
