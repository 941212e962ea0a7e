"""The scoring is chosen where no label was seen, and the page says what it was worth."""

from __future__ import annotations

import msgspec
import pytest

from benchmarks.tadgan import causal, choosing, judging, published, table
from benchmarks.tadgan.judging import RULES, Judged, OneSeries
from benchmarks.tadgan.overlap import Counts
from benchmarks.tadgan.series import SETS

GOOD, BAD = Counts(1, 0, 0), Counts(0, 1, 1)


def a_series(group: str, *, on_trials: str, on_test: str) -> OneSeries:
    """A series on which one of the published scorings is good, another on the made-up ones."""
    return OneSeries(
        group=group,
        name="x",
        fit_cpu_seconds=5.0,
        look_cpu_seconds=1.0,
        published={name: GOOD if name == on_test else BAD for name in published.SCORES},
        causal=dict.fromkeys(RULES, GOOD),
        published_on_trials=[
            {name: GOOD if name == on_trials else BAD for name in published.SCORES}
        ]
        * 2,
        causal_on_trials=[dict.fromkeys(RULES, BAD)] * 2,
    )


@pytest.fixture
def judged() -> Judged:
    every = [a_series(group, on_trials="area", on_test="dtw") for group in SETS]
    return judging.judge(every, 8.0, seed=7)


def by_draw(*found: tuple[int, int]) -> list[choosing.ByScoring]:
    """Counts of the usual scoring and a rival, of ten anomalies in each draw."""
    return [
        {"usual": Counts(usual, 0, 10 - usual), "rival": Counts(rival, 0, 10 - rival)}
        for usual, rival in found
    ]


def test_each_set_has_one_voice_in_the_choice_however_many_series_it_has() -> None:
    one = by_draw((1, 9), (1, 9))
    other = by_draw((9, 2), (9, 2))
    sets = {"many": [one] * 5, "few": [other], "fewer": [other]}
    assert choosing.choose(sets, "usual").taken == "usual"
    assert choosing.choose({"many": [one] * 5}, "usual").taken == "rival"


def test_a_rival_that_leads_within_its_own_spread_is_not_taken() -> None:
    clear = choosing.choose({"a": [by_draw((4, 6), (5, 7), (3, 5))]}, "usual")
    doubtful = choosing.choose({"a": [by_draw((4, 9), (5, 5), (5, 6))]}, "usual")
    assert (clear.taken, clear.best) == ("rival", "rival")
    assert (doubtful.taken, doubtful.best) == ("usual", "rival")
    assert 0.0 < doubtful.lead < 2 * doubtful.spread


def test_counts_of_a_series_are_kept_and_read_again() -> None:
    one = a_series(SETS[0], on_trials="area", on_test="dtw")
    assert msgspec.json.decode(msgspec.json.encode(one), type=OneSeries) == one


def test_the_scoring_is_the_best_on_made_up_anomalies_whatever_the_truth(judged: Judged) -> None:
    assert judged.scoring.taken == "area"
    assert judged.rule.taken == str(causal.USUAL_RULE)
    assert judged.mean_f1(scorer="published", scoring=judged.scoring.taken) == 0.0
    assert judged.mean_f1(scorer="published", scoring="dtw") == 1.0


def test_the_page_tells_both_scorers_beside_what_was_published(judged: Judged) -> None:
    f1 = dict.fromkeys(table.ORION, dict.fromkeys(SETS, 0.5))
    text = table.render([judged], f1)
    whole = " | 1.000" * 5
    assert f"| **Forewarn, causal scorer**, seed 7 ({causal.USUAL_RULE}){whole} |" in text
    assert "| area | 1.000 | 0.000 |" in text
    assert "is area (here 0.000), by 1.000 over critic x dtw (here 0.000)" in text
    assert "| Orion 0.7.1, AER | 0.500 | 0.500 | 0.500 | 0.500 | 0.500 |" in text
    lines = table.verdicts([judged])
    assert "published scorer, mean F1 0.000: above none" in lines[0]
    assert "above the paper's TadGAN with one scoring (0.617)" in lines[1]
    assert "included: median 7.0, at most 7.0; scoring at most" in lines[3]


def test_a_bar_is_held_against_the_mean_over_the_seeds(judged: Judged) -> None:
    every = [a_series(group, on_trials="dtw", on_test="dtw") for group in SETS]
    other = judging.judge(every, 8.0, seed=8)
    assert "mean F1 0.500 over 2 seeds (0.000 to 1.000)" in table.verdicts([judged, other])[0]
