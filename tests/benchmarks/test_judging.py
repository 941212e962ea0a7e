"""The scoring is chosen where no label was seen, and the page says what it was worth."""

from __future__ import annotations

import msgspec
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
    every = [a_series(group, on_trials="area", on_test="dtw") for group in SETS]
    return judging.judge(every, 8.0, seed=7)


def test_each_set_has_one_voice_in_the_choice_however_many_series_it_has() -> None:
    many = [a_series(SETS[0], on_trials="area", on_test="dtw")] * 5
    few = [a_series(group, on_trials="point", on_test="dtw") for group in SETS[1:3]]
    scoring, _ = judging.chosen([*many, *few])
    assert scoring == "point"


def test_counts_of_a_series_are_kept_and_read_again() -> None:
    one = a_series(SETS[0], on_trials="area", on_test="dtw")
    assert msgspec.json.decode(msgspec.json.encode(one), type=OneSeries) == one


def test_the_scoring_is_the_best_on_made_up_anomalies_whatever_the_truth(judged: Judged) -> None:
    assert judged.scoring == "area"
    assert judged.mean_f1(scorer="published", scoring=judged.scoring) == 0.0
    assert judged.mean_f1(scorer="published", scoring="dtw") == 1.0


def test_the_page_tells_both_scorers_beside_what_was_published(judged: Judged) -> None:
    f1 = dict.fromkeys(table.ORION, dict.fromkeys(SETS, 0.5))
    text = table.render([judged], f1)
    whole = " | 1.000" * 5
    assert f"| **Forewarn, causal scorer**, seed 7 ({RULE}){whole} |" in text
    assert "| Orion 0.7.1, AER | 0.500 | 0.500 | 0.500 | 0.500 | 0.500 |" in text
    lines = table.verdicts([judged])
    assert "published scorer, mean F1 0.000: above none" in lines[0]
    assert "above the paper's TadGAN with one scoring (0.617)" in lines[1]
    assert "median 7.0, at most 7.0" in lines[3]
    assert "at least 64 times as much" in lines[3]


def test_a_bar_is_held_against_the_mean_over_the_seeds(judged: Judged) -> None:
    every = [a_series(group, on_trials="dtw", on_test="dtw") for group in SETS]
    other = judging.judge(every, 8.0, seed=8)
    assert "mean F1 0.500 over 2 seeds (0.000 to 1.000)" in table.verdicts([judged, other])[0]
