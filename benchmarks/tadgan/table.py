"""The results as Markdown."""

from __future__ import annotations

from statistics import mean, median
from typing import TYPE_CHECKING

from benchmarks.tadgan import published as published_scorer
from benchmarks.tadgan.judging import RULES
from benchmarks.tadgan.series import SETS, SHORT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
ORION_CPU_SECONDS = (445, 918)
"""Of one TadGAN fit by Orion 0.7.1 on a series of 680 to 1,540 points, on two cores."""


def render(judged: Judged, published: Mapping[str, Mapping[str, float]]) -> str:
    """Return the tables."""
    return "\n".join((*_sets(judged, published), "", *_scorings(judged)))


def _row(name: str, values: Iterable[float]) -> str:
    held = list(values)
    return f"| {name} | " + " | ".join(f"{v:.3f}" for v in (*held, mean(held))) + " |"


def _sets(judged: Judged, published: Mapping[str, Mapping[str, float]]) -> list[str]:
    ours = {
        f"**Forewarn, published scorer** ({judged.scoring})": ("published", judged.scoring),
        f"**Forewarn, causal scorer** ({judged.rule})": ("causal", judged.rule),
    }
    counts = {group: sum(one.group == group for one in judged.series) for group in SETS}
    return [
        "| F1 by overlapping segment | "
        + " | ".join(f"{SHORT[group]} ({counts[group]})" for group in SETS)
        + " | mean |",
        "| --- |" + " --- |" * (len(SETS) + 1),
        *(
            _row(name, (judged.of_set(g, scorer=scorer, scoring=s).f1 for g in SETS))
            for name, (scorer, s) in ours.items()
        ),
        *(_row(f"Orion 0.7.1, {ORION[key]}", published[key].values()) for key in ORION),
        *(_row(f"paper, {name}", row) for name, row in PAPER.items()),
    ]


def verdicts(judged: Judged) -> list[str]:
    """Return the bars and how far they were reached, one a line."""
    lines = []
    for scorer, scoring in (("published", judged.scoring), ("causal", judged.rule)):
        f1 = judged.mean_f1(scorer=scorer, scoring=scoring)
        above = [f"{name} ({bar})" for name, bar in BARS.items() if f1 > bar]
        below = [f"{name} ({bar})" for name, bar in BARS.items() if f1 <= bar]
        lines.append(
            f"- TadGAN's benchmark, {scorer} scorer, mean F1 {f1:.3f}: "
            f"above {', '.join(above) or 'none'}; not above {', '.join(below) or 'none'}."
        )
    return [*lines, _cost(judged)]


def _cost(judged: Judged) -> str:
    share = judged.common_cpu_seconds / len(judged.series)
    each = [one.fit_cpu_seconds + share for one in judged.series]
    looks = [one.look_cpu_seconds for one in judged.series]
    low, high = ORION_CPU_SECONDS
    return (
        "- TadGAN's benchmark, CPU seconds of training per series, its share of the common model "
        f"included: median {median(each):.1f}, at most {max(each):.1f}; "
        f"scoring at most {max(looks):.1f}. Orion's TadGAN takes "
        f"{low} to {high}: at least {low / max(each):.0f} times as much."
    )


def _scorings(judged: Judged) -> list[str]:
    """All scorings, so that the choice can be held against what was not chosen."""
    best = max(RULES, key=lambda name: judged.mean_f1(scorer="causal", scoring=name))
    f1 = judged.mean_f1(scorer="causal", scoring=best)
    return [
        "| published scorings, none of them chosen by these numbers | mean F1 |",
        "| --- | --- |",
        *(
            f"| {name} | {judged.mean_f1(scorer='published', scoring=name):.3f} |"
            for name in published_scorer.SCORES
        ),
        "",
        f"Of {len(RULES)} causal rules the best in hindsight is {best}: {f1:.3f}.",
    ]
