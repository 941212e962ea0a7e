"""Counts of every scoring on every series, and the one scoring that made-up anomalies choose."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.tadgan import causal, overlap
from benchmarks.tadgan import published as published_scorer
from benchmarks.tadgan.overlap import Counts
from benchmarks.tadgan.series import SETS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from benchmarks.tadgan.fitting import Views
    from benchmarks.tadgan.series import Interval, Series
    from benchmarks.tadgan.view import View

ByScoring = dict[str, Counts]

RULES = {str(rule): rule for rule in causal.RULES}


@dataclass(frozen=True, slots=True)
class OneSeries:
    """What every scoring made of a series, and of its training part with made-up anomalies."""

    group: str
    name: str
    apart: bool
    fit_cpu_seconds: float
    look_cpu_seconds: float
    published: ByScoring
    causal: ByScoring
    published_on_trials: ByScoring
    causal_on_trials: ByScoring


@dataclass(frozen=True, slots=True)
class Judged:
    """All series of one seed; `scoring` and `rule` were chosen on training parts alone.

    `by_all` are those that made-up anomalies in every set would choose, also
    where a set has no training part of its own.
    """

    seed: int
    series: tuple[OneSeries, ...]
    common_cpu_seconds: float
    scoring: str
    rule: str
    by_all: tuple[str, str]

    def of_set(self, group: str, *, scorer: str, scoring: str) -> Counts:
        """Return a set's sums for one scoring of the `published` or the `causal` scorer."""
        return overlap.total(
            getattr(one, scorer)[scoring] for one in self.series if one.group == group
        )

    def mean_f1(self, *, scorer: str, scoring: str) -> float:
        """Return the mean over the sets of each set's F1, as the published tables average."""
        return sum(self.of_set(g, scorer=scorer, scoring=scoring).f1 for g in SETS) / len(SETS)


def judge(series: Iterable[OneSeries], common_cpu_seconds: float, *, seed: int) -> Judged:
    """Put the series together; those with a training part of their own choose the scoring."""
    every = tuple(series)
    scoring, rule = chosen([one for one in every if one.apart])
    return Judged(seed, every, common_cpu_seconds, scoring, rule, chosen(every))


def chosen(series: Sequence[OneSeries]) -> tuple[str, str]:
    """Return the published scoring and the causal rule that find made-up anomalies best.

    Best is what has the highest mean over the sets of each set's F1, as what is
    chosen is judged; of equals the first.
    """
    return _best(series, "published_on_trials"), _best(series, "causal_on_trials")


def published(folder: Path, every: Sequence[Series]) -> dict[str, dict[str, float]]:
    """Return the F1 of each pipeline of Orion 0.7.1 by set, from its counts per series.

    Where a pipeline failed on a series, all that is true of it counts as missed.
    """
    true = {(one.group, one.name): len(one.truth) for one in every}
    with gzip.open(folder / "published" / "orion_0.7.1.csv.gz", "rt", encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["dataset"] in SETS]
    sums: dict[str, dict[str, Counts]] = {}
    for row in rows:
        sets = sums.setdefault(row["pipeline"], dict.fromkeys(SETS, Counts()))
        if row["status"] == "OK":
            counts = Counts(*(int(float(row[key] or 0)) for key in ("tp", "fp", "fn")))
        else:
            counts = Counts(missed=true[row["dataset"], row["signal"]])
        sets[row["dataset"]] += counts
    return {
        name: {group: counts.f1 for group, counts in sets.items()} for name, sets in sums.items()
    }


def one_series(one: Series, views: Views, fit_cpu_seconds: float) -> OneSeries:
    """Score a series and its trials in every way."""
    on_trials = [
        (_by_scoring(view, [true]), _by_rule(views, view, [true])) for view, true in views.trials
    ]
    return OneSeries(
        group=one.group,
        name=one.name,
        apart=one.apart,
        fit_cpu_seconds=fit_cpu_seconds,
        look_cpu_seconds=views.look_seconds,
        published=_by_scoring(views.test, one.truth),
        causal=_by_rule(views, views.test, one.truth),
        published_on_trials=_sums([published for published, _ in on_trials]),
        causal_on_trials=_sums([causal for _, causal in on_trials]),
    )


def _by_scoring(view: View, truth: Sequence[Interval]) -> ByScoring:
    known = published_scorer.parts(view)
    return {
        name: overlap.count(truth, published_scorer.detect(published_scorer.score(known, name)))
        for name in published_scorer.SCORES
    }


def _by_rule(known: Views, test: View, truth: Sequence[Interval]) -> ByScoring:
    return {
        name: overlap.count(truth, causal.detect(known.train, test, rule, known.held_from))
        for name, rule in RULES.items()
    }


def _sums(every: Sequence[ByScoring]) -> ByScoring:
    names = list(every[0]) if every else []
    return {name: overlap.total(one[name] for one in every) for name in names}


def _best(series: Sequence[OneSeries], on: str) -> str:
    sets: dict[str, list[ByScoring]] = {}
    for one in series:
        if getattr(one, on):
            sets.setdefault(one.group, []).append(getattr(one, on))
    sums = [_sums(every) for every in sets.values()]
    return max(sums[0], key=lambda name: sum(one[name].f1 for one in sums))
