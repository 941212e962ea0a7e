"""The scoring is chosen where no label was seen, and the page says what it was worth."""

from __future__ import annotations

import pytest

from benchmarks.tadgan import judging, published, table
from benchmarks.tadgan.judging import RULES, Judged, OneSeries
from benchmarks.tadgan.overlap import Counts
from benchmarks.tadgan.series import SETS

GOOD, BAD = Counts(1, 0, 0), Counts(0, 1, 1)
RULE = next(iter(RULES))


def a_series(group: str, *, on_trials: str, on_test: str) -> OneSeries:
    """A series on which one of the published scorings is good, another on the made-up ones."""
    return OneSeries(
        group=group,
        name="x",
        apart=group == SETS[0],
        fit_cpu_seconds=5.0,
        look_cpu_seconds=1.0,
        published={name: GOOD if name == on_test else BAD for name in published.SCORES},
        causal=dict.fromkeys(RULES, GOOD),
        published_on_trials={name: GOOD if name == on_trials else BAD for name in published.SCORES},
        causal_on_trials=dict.fromkeys(RULES, BAD),
    )


@pytest.fixture
def judged() -> Judged:
    every = tuple(a_series(group, on_trials="area", on_test="dtw") for group in SETS)
    chosen = judging.chosen([one for one in every if one.apart])
    return Judged(7, every, 8.0, *chosen)


def test_the_scoring_is_the_best_on_made_up_anomalies_whatever_the_truth(judged: Judged) -> None:
    assert judged.scoring == "area"
    assert judged.mean_f1(scorer="published", scoring=judged.scoring) == 0.0
    assert judged.mean_f1(scorer="published", scoring="dtw") == 1.0


def test_the_page_tells_both_scorers_beside_what_was_published(judged: Judged) -> None:
    f1 = dict.fromkeys(table.ORION, dict.fromkeys(SETS, 0.5))
    text = table.render(judged, f1)
    assert (
        f"| **Forewarn, causal scorer** ({RULE}) | 1.000 | 1.000 | 1.000 | 1.000 | 1.000 |" in text
    )
    assert "| Orion 0.7.1, AER | 0.500 | 0.500 | 0.500 | 0.500 | 0.500 |" in text
    lines = table.verdicts(judged)
    assert "published scorer, mean F1 0.000: above none" in lines[0]
    assert "above the paper's TadGAN with one scoring (0.617)" in lines[1]
    assert "median 7.0, at most 7.0" in lines[2]
    assert "at least 64 times as much" in lines[2]
