"""Which scoring is taken, told by made-up anomalies alone: the published one unless they are clear.

Each set has one voice, as in the mean that is judged.  A rival takes the place
of the published scoring where its F1 is higher by more than twice the spread
of that difference over the draws: what a rule decides within its own noise it
does not decide.
"""

from __future__ import annotations

from statistics import mean, stdev
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.tadgan import overlap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.tadgan.overlap import Counts

CLEAR_SPREADS = 2.0

ByScoring = dict[str, "Counts"]
ByDraw = dict[str, list[float]]


class Choice(NamedTuple):
    """What is taken, what was best on made-up anomalies, and the mean F1 of each on them.

    `lead` and `spread` are of the best over the published one: mean and
    deviation over the draws.
    """

    taken: str
    best: str
    lead: float
    spread: float
    f1: dict[str, float]


def choose(sets: Mapping[str, Sequence[Sequence[ByScoring]]], usual: str) -> Choice:
    """Choose from the counts of each set's series, each by draw, between `usual` and the best."""
    by_draw = _f1(sets)
    f1 = {name: mean(each) for name, each in by_draw.items()}
    best = max(f1, key=lambda name: f1[name])
    leads = [a - b for a, b in zip(by_draw[best], by_draw[usual], strict=True)]
    lead, spread = mean(leads), stdev(leads) if len(leads) > 1 else 0.0
    return Choice(best if lead > CLEAR_SPREADS * spread else usual, best, lead, spread, f1)


def _f1(sets: Mapping[str, Sequence[Sequence[ByScoring]]]) -> ByDraw:
    """Return the mean over the sets of each set's F1, by scoring and draw."""
    first = next(iter(sets.values()))[0]
    return {
        name: [
            mean(overlap.total(one[draw][name] for one in series).f1 for series in sets.values())
            for draw in range(len(first))
        ]
        for name in first[0]
    }
