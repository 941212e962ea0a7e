"""The results as Markdown."""

from __future__ import annotations

from statistics import mean, median
from typing import TYPE_CHECKING

from benchmarks.tadgan import published as published_scorer
from benchmarks.tadgan.causal import USUAL_RULE
from benchmarks.tadgan.choosing import CLEAR_SPREADS
from benchmarks.tadgan.judging import RULES
from benchmarks.tadgan.published import PAPERS_SCORE
from benchmarks.tadgan.series import SETS, SHORT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmarks.tadgan.choosing import Choice
    from benchmarks.tadgan.judging import Judged

PAPER = {
    "TadGAN, critic x DTW (one scoring for all sets)": (0.680, 0.667, 0.667, 0.455),
    "TadGAN, best of ten scorings chosen per set": (0.704, 0.800, 0.800, 0.486),
    "LSTM": (0.690, 0.375, 0.538, 0.634),
    "ARIMA": (0.420, 0.353, 0.583, 0.600),
}
"""Geiger et al. 2020, in the order of `SETS`."""

ORION = {"tadgan": "TadGAN", "aer": "AER", "lstm_dynamic_threshold": "LSTM", "arima": "ARIMA"}
BARS = {"the paper's TadGAN with one scoring": 0.617, "Orion's TadGAN": 0.563, "AER": 0.715}

COLUMNS = {
    "published": ("published scorer", "scoring"),
    "causal": ("causal scorer", "rule"),
}
"""By scorer: how it is called, and where the choice that was made for it is."""


def render(judged: Sequence[Judged], published: Mapping[str, Mapping[str, float]]) -> str:
    """Return the tables over all seeds."""
    return "\n".join((*_sets(judged, published), "", *_scorings(judged)))


def _row(name: str, values: Iterable[float]) -> str:
    held = list(values)
    return f"| {name} | " + " | ".join(f"{v:.3f}" for v in (*held, mean(held))) + " |"


def _ours(name: str, one: Judged, scorer: str, scoring: str) -> str:
    f1 = (one.of_set(group, scorer=scorer, scoring=scoring).f1 for group in SETS)
    return _row(f"**Forewarn, {name}**, seed {one.seed} ({scoring})", f1)


def _sets(judged: Sequence[Judged], published: Mapping[str, Mapping[str, float]]) -> list[str]:
    counts = {group: sum(one.group == group for one in judged[0].series) for group in SETS}
    like = "published scorer with the paper's one scoring"
    return [
        "| F1 by overlapping segment | "
        + " | ".join(f"{SHORT[group]} ({counts[group]})" for group in SETS)
        + " | mean |",
        "| --- |" + " --- |" * (len(SETS) + 1),
        *(
            _ours(name, one, scorer, getattr(one, choice).taken)
            for scorer, (name, choice) in COLUMNS.items()
            for one in judged
        ),
        *(_ours(like, one, "published", PAPERS_SCORE) for one in judged),
        *(_row(f"Orion 0.7.1, {ORION[key]}", published[key].values()) for key in ORION),
        *(_row(f"paper, {name}", row) for name, row in PAPER.items()),
    ]


def verdicts(judged: Sequence[Judged]) -> list[str]:
    """Return the bars and how far they were reached, one a line."""
    by_choice = [
        _verdict(
            name, [one.mean_f1(scorer=scorer, scoring=getattr(one, choice).taken) for one in judged]
        )
        for scorer, (name, choice) in COLUMNS.items()
    ]
    like = [one.mean_f1(scorer="published", scoring=PAPERS_SCORE) for one in judged]
    given = f"published scorer with the scoring that the paper took ({PAPERS_SCORE})"
    return [*by_choice, _verdict(given, like), _cost(judged)]


def _verdict(name: str, seeds: Sequence[float]) -> str:
    """Hold the mean over the seeds against the bars."""
    f1 = mean(seeds)
    above = [f"{bar} ({height})" for bar, height in BARS.items() if f1 > height]
    below = [f"{bar} ({height})" for bar, height in BARS.items() if f1 <= height]
    each = f" over {len(seeds)} seeds ({min(seeds):.3f} to {max(seeds):.3f})"
    return (
        f"- TadGAN's benchmark, {name}, mean F1 {f1:.3f}{each if len(seeds) > 1 else ''}: "
        f"above {', '.join(above) or 'none'}; not above {', '.join(below) or 'none'}."
    )


def _cost(judged: Sequence[Judged]) -> str:
    each = [
        series.fit_cpu_seconds + one.common_cpu_seconds / len(one.series)
        for one in judged
        for series in one.series
    ]
    looks = [series.look_cpu_seconds for one in judged for series in one.series]
    return (
        "- TadGAN's benchmark, CPU seconds of training per series, its share of the common model "
        f"included: median {median(each):.1f}, at most {max(each):.1f}; "
        f"scoring at most {max(looks):.1f}. Orion's is measured beside it, below."
    )


def _scorings(judged: Sequence[Judged]) -> list[str]:
    """All scorings, so that the choice can be held against what was not chosen."""
    heads = [
        f"{where}, seed {one.seed}"
        for one in judged
        for where in ("made-up anomalies", "benchmark")
    ]
    return [
        "| mean F1 of the published scorings, chosen by the made-up anomalies alone | "
        + " | ".join(heads)
        + " |",
        "| --- |" + " --- |" * len(heads),
        *(
            f"| {name} | "
            + " | ".join(
                f"{one.scoring.f1[name]:.3f} | {one.mean_f1(scorer='published', scoring=name):.3f}"
                for one in judged
            )
            + " |"
            for name in published_scorer.SCORES
        ),
        "",
        *(line for one in judged for line in _choices(one)),
    ]


def _choices(one: Judged) -> list[str]:
    best = max(RULES, key=lambda name: one.mean_f1(scorer="causal", scoring=name))
    f1 = one.mean_f1(scorer="causal", scoring=best)
    published = _chosen(one, "published", one.scoring, PAPERS_SCORE)
    return [
        f"- Seed {one.seed}, published scorer: {published}",
        f"- Seed {one.seed}, causal scorer: {_chosen(one, 'causal', one.rule, str(USUAL_RULE))} "
        f"Of {len(RULES)} rules the best in hindsight is {best} ({f1:.3f}).",
    ]


def _chosen(one: Judged, scorer: str, choice: Choice, usual: str) -> str:
    def here(scoring: str) -> str:
        return f"{scoring} (here {one.mean_f1(scorer=scorer, scoring=scoring):.3f})"

    return (
        f"best on made-up anomalies is {here(choice.best)}, by {choice.lead:.3f} over "
        f"{here(usual)}; more than {CLEAR_SPREADS:g} x {choice.spread:.3f} would be clear: "
        f"{'taken' if choice.taken == choice.best else 'not taken'}."
    )
