"""Fitting is exact to the bit, watched, and finds what is there."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch

from model.training.episodes.plan import BUNDLED, SEVERITIES, TINY, Split, plan
from model.training.fitting.fit import Diverged, Losses, Schedule, Trainer, Watch
from model.training.fitting.likelihood import Rows, negative_log_likelihood
from model.training.network.hazard import EDGES_HOURS
from model.training.network.tadgan import Size, TadGan

SMALL = Size(steps=64, token=8, hidden=8, latent=4, critic=8)


def healthy(rows: int = 200, channels: int = 5) -> tuple[torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(11)
    common = torch.randn((rows, 64, 1), generator=random)
    level = torch.arange(channels) - 2.0
    values = level + 0.3 * common + 0.1 * torch.randn((rows, 64, channels), generator=random)
    return values, torch.ones_like(values)


def fitted(
    seed: int, iterations: int = 30, rate: float = 1e-3
) -> tuple[dict[str, torch.Tensor], list[Losses]]:
    torch.manual_seed(seed)
    tadgan = TadGan(5, SMALL)
    told: list[Losses] = []
    Trainer(tadgan, Schedule(iterations=iterations, batch=16, learning_rate=rate), seed).fit(
        *healthy(), lambda _, losses: told.append(losses)
    )
    return tadgan.state_dict(), told


def test_the_same_seed_gives_the_same_weights_bit_by_bit() -> None:
    one, other = fitted(5)[0], fitted(5)[0]
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_another_seed_gives_other_weights() -> None:
    one, other = fitted(5, 3)[0], fitted(6, 3)[0]
    assert not all(torch.equal(one[name], other[name]) for name in one)


def test_reconstruction_improves() -> None:
    told = fitted(5, 100, 5e-3)[1]
    first = sum(losses.cycle for losses in told[:10])
    last = sum(losses.cycle for losses in told[-10:])
    assert last < 0.5 * first


def test_an_infinite_loss_ends_the_run() -> None:
    values, seen = healthy()
    values[:, 0, 0] = math.inf
    trainer = Trainer(TadGan(5, SMALL), Schedule(iterations=5, batch=16), 1)
    with pytest.raises(Diverged, match="iteration 0: a loss is not finite"):
        trainer.fit(values, seen, lambda *_: None)


def test_an_error_that_climbs_back_up_ends_the_run() -> None:
    watch = Watch(patience=50)
    with pytest.raises(Diverged, match="twice its best"):
        for iteration in range(500):
            error = 0.2 if iteration < 100 else 0.2 + 0.01 * (iteration - 100)
            watch.check(iteration, Losses(0.1, 0.1, error))


def test_a_calm_run_is_left_alone() -> None:
    watch = Watch(patience=50)
    for iteration in range(1_000):
        watch.check(iteration, Losses(-3.0, 0.1, 0.2 + 0.1 * math.sin(iteration)))


def rows_of(exposure: list[float], interval: int, cause: int) -> Rows:
    return Rows(
        torch.zeros(1, 1),
        torch.tensor([exposure]),
        torch.tensor([interval]),
        torch.tensor([cause]),
        torch.ones(1),
    )


def test_likelihood_of_a_survivor_is_what_it_was_exposed_to() -> None:
    hazard = torch.tensor([[[0.1, 0.2, 0.3, 0.4], [0.5, 0.0, 0.0, 0.0]]])
    got = negative_log_likelihood(hazard, rows_of([1.0, 0.5, 0.0, 0.0], -1, -1))
    assert float(got) == pytest.approx(0.6 + 0.1)


def test_likelihood_of_a_failure_is_that_of_its_cause_in_its_interval() -> None:
    hazard = torch.tensor([[[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.0, 0.0]]])
    got = negative_log_likelihood(hazard, rows_of([1.0, 0.0, 0.0, 0.0], 1, 1))
    survived, total = 0.6, 0.8
    expected = survived - math.log(0.6 / total * (1 - math.exp(-total)))
    assert float(got) == pytest.approx(expected, rel=1e-5)


def test_the_most_likely_hazard_is_the_observed_frequency() -> None:
    """Of ten rows three fail in the first interval: 1 - exp(-H) must come to 0.3."""
    log_hazard = torch.zeros(1, requires_grad=True)
    failing = torch.tensor([0] * 3 + [-1] * 7)
    exposure = torch.zeros(10, len(EDGES_HOURS) - 1)
    exposure[3:, 0] = 1.0
    rows = Rows(
        torch.zeros(10, 1), exposure, failing, torch.where(failing < 0, -1, 0), torch.ones(10)
    )
    optimiser = torch.optim.Adam([log_hazard], lr=0.1)
    for _ in range(300):
        optimiser.zero_grad()
        hazard = torch.zeros(10, 1, 4) + torch.exp(log_hazard)
        negative_log_likelihood(hazard, rows).sum().backward()
        optimiser.step()
    assert float(1 - torch.exp(-torch.exp(log_hazard.detach()))) == pytest.approx(0.3, abs=0.002)


def test_splits_share_neither_seed_nor_node_nor_severity() -> None:
    plans = {s: plan(s, BUNDLED[s], seed=7, step_seconds=60) for s in BUNDLED}
    seeds = [{one.recording.seed for one in plans[s]} for s in BUNDLED]
    nodes = [{one.recording.node for one in plans[s]} for s in BUNDLED]
    for groups in (seeds, nodes):
        assert not groups[0] & groups[1]
        assert not groups[0] & groups[2]
        assert not groups[1] & groups[2]
    bands = sorted(band for s in BUNDLED for band in SEVERITIES[s])
    assert all(left[1] <= right[0] for left, right in pairwise(bands))


def test_a_plan_is_the_same_every_time() -> None:
    assert plan(Split.FIT, TINY[Split.FIT], seed=1, step_seconds=60) == plan(
        Split.FIT, TINY[Split.FIT], seed=1, step_seconds=60
    )
