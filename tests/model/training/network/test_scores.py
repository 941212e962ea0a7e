"""Scores look only at the past and are the same however a series is cut."""

from __future__ import annotations

import pytest
import torch

from model.training.network.graph import Graph
from model.training.network.scorer import Scorer, measure
from simulator.instruments.shown import SHOWN

NAMES = list(SHOWN)


def test_excess_over_the_frozen_mean_in_frozen_deviations() -> None:
    scorer = Scorer(2)
    scorer.error_mean.fill_(0.5)
    scorer.error_spread.fill_(0.25)
    values = torch.zeros(1, 64, 2)
    values[..., 0] = 1.5
    seen = torch.ones_like(values)
    scores = scorer(measure(values, seen, torch.zeros_like(values), torch.zeros(1)))
    assert scores.error.tolist() == [[4.0, 0.0]]
    assert scores.contribution[0, 0] == pytest.approx(16 / 17)
    assert float(scores.score) == pytest.approx(1 + (16 / 2) ** 0.5)


def test_healthy_rows_score_one_on_average() -> None:
    torch.manual_seed(0)
    values, seen = torch.randn(500, 64, 3), torch.ones(500, 64, 3)
    raw = measure(values, seen, torch.zeros_like(values), torch.randn(500))
    scorer = Scorer(3)
    scorer.freeze(raw)
    assert float(scorer(raw).score.mean()) == pytest.approx(1.0, abs=1e-4)
    assert float(scorer(raw).residual.std()) == pytest.approx(1.0, abs=0.05)


def test_what_was_not_seen_is_neither_wrong_nor_blamed() -> None:
    values, seen = torch.zeros(1, 64, 2), torch.zeros(1, 64, 2)
    scores = Scorer(2)(measure(values, seen, torch.full_like(values, 9.0), torch.full((1,), 50.0)))
    assert scores.error.sum() == 0
    assert scores.contribution.sum() == 0
    assert torch.isfinite(scores.score).all()


def test_replaying_in_any_chunking_gives_the_same_scores() -> None:
    torch.manual_seed(1)
    graph = Graph(NAMES).eval()
    series = torch.rand(3, 100, len(NAMES)) * 50
    windows = torch.stack([series[:, end - 64 : end] for end in range(64, 101)])
    with torch.no_grad():
        together = graph.observe(windows)[0].score
        alone = torch.stack([graph.observe(window)[0].score for window in windows])
    assert torch.allclose(together, alone, rtol=1e-4)


def test_contributions_never_sum_above_one() -> None:
    torch.manual_seed(2)
    graph = Graph(NAMES).eval()
    with torch.no_grad():
        scores, _ = graph.observe(torch.rand(8, 64, len(NAMES)) * 1e6)
    assert float(scores.contribution.sum(-1).max()) <= 1.0 + 1e-6
    assert float(scores.contribution.min()) >= 0.0
