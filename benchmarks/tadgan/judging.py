"""Counts of every scoring on every series, and the one scoring that is taken without a label."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.tadgan import causal, choosing, overlap
from benchmarks.tadgan import published as published_scorer
from benchmarks.tadgan.fitting import held_from
from benchmarks.tadgan.overlap import Counts
from benchmarks.tadgan.series import SETS
from benchmarks.tadgan.trials import DRAWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from benchmarks.tadgan.causal import Ends
    from benchmarks.tadgan.choosing import Choice
    from benchmarks.tadgan.looking import Look, Looks, Spoilt
    from benchmarks.tadgan.series import Interval, Series

ByScoring = dict[str, Counts]
Found = dict[str, "list[Interval]"]

RULES = {str(rule): rule for rule in causal.RULES}


@dataclass(frozen=True, slots=True)
class OneSeries:
    """What every scoring made of a series, and by draw of its part with made-up anomalies."""

    group: str
    name: str
    fit_cpu_seconds: float
    look_cpu_seconds: float
    published: ByScoring
    causal: ByScoring
    published_on_trials: list[ByScoring]
    causal_on_trials: list[ByScoring]


@dataclass(frozen=True, slots=True)
class Judged:
    """All series of one seed; `scoring` and `rule` were chosen by made-up anomalies alone."""

    seed: int
    series: tuple[OneSeries, ...]
    common_cpu_seconds: float
    scoring: Choice
    rule: Choice

    def of_set(self, group: str, *, scorer: str, scoring: str) -> Counts:
        """Return a set's sums for one scoring of the `published` or the `causal` scorer."""
        return overlap.total(
            getattr(one, scorer)[scoring] for one in self.series if one.group == group
        )

    def mean_f1(self, *, scorer: str, scoring: str) -> float:
        """Return the mean over the sets of each set's F1, as the published tables average."""
        return sum(self.of_set(g, scorer=scorer, scoring=scoring).f1 for g in SETS) / len(SETS)


def judge(series: Iterable[OneSeries], common_cpu_seconds: float, *, seed: int) -> Judged:
    """Put the series together and choose for both scorers."""
    every = tuple(series)
    return Judged(
        seed,
        every,
        common_cpu_seconds,
        _chosen(every, "published_on_trials", published_scorer.PAPERS_SCORE),
        _chosen(every, "causal_on_trials", str(causal.USUAL_RULE)),
    )


def _chosen(every: Sequence[OneSeries], on: str, usual: str) -> Choice:
    sets: dict[str, list[list[ByScoring]]] = {}
    for one in every:
        sets.setdefault(one.group, []).append(getattr(one, on))
    return choosing.choose(sets, usual)


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


def one_series(
    one: Series, looks: Looks, made: Iterable[Spoilt], fit_cpu_seconds: float
) -> OneSeries:
    """Score a series and what was made up in its training part in every way."""
    held = [causal.ends(view.since(held_from(one))) for view in looks.train.views]
    by_scoring, by_rule = _by_scoring(looks.test), _by_rule(held, looks.test)
    on_scorings: list[list[ByScoring]] = [[] for _ in range(DRAWS)]
    on_rules: list[list[ByScoring]] = [[] for _ in range(DRAWS)]
    # Where the training part is the judged one, what stands out of it may be true.
    doubtful: tuple[Found, Found] = ({}, {}) if one.apart else (by_scoring, by_rule)
    for draw, look, true in made:
        on_scorings[draw].append(_counted(_by_scoring(look), [true], doubtful[0]))
        on_rules[draw].append(_counted(_by_rule(held, look), [true], doubtful[1]))
    return OneSeries(
        group=one.group,
        name=one.name,
        fit_cpu_seconds=fit_cpu_seconds,
        look_cpu_seconds=looks.cpu_seconds,
        published=_counted(by_scoring, one.truth),
        causal=_counted(by_rule, one.truth),
        published_on_trials=[_sums(each, published_scorer.SCORES) for each in on_scorings],
        causal_on_trials=[_sums(each, RULES) for each in on_rules],
    )


def _by_scoring(look: Look) -> Found:
    known = published_scorer.parts(look.values, look.seen)
    return {
        name: published_scorer.detect(published_scorer.score(known, name))
        for name in published_scorer.SCORES
    }


def _by_rule(held: Sequence[Ends], look: Look) -> Found:
    test = [causal.ends(view) for view in look.views]
    return {name: causal.detect(held, test, rule) for name, rule in RULES.items()}


def _counted(
    found: Found, truth: Sequence[Interval], doubtful: Mapping[str, Sequence[Interval]] = {}
) -> ByScoring:
    return {
        name: overlap.count(truth, detected, doubtful.get(name, ()))
        for name, detected in found.items()
    }


def _sums(every: Sequence[ByScoring], names: Iterable[str]) -> ByScoring:
    return {name: overlap.total(one[name] for one in every) for name in names}
