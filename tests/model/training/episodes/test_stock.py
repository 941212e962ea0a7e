"""What is learned from may be simulated, a site's own, or both; and may hold no failure at all."""

from __future__ import annotations

import pytest
import torch

from model.schema import STEP_SECONDS, Cause
from model.training.episodes.plan import Split
from model.training.episodes.stock import Joined, Simulated
from model.training.fitting.pipeline import Run, simulated
from model.training.fitting.sizes import recipe
from simulator.history import Recording


def quiet(count: int) -> Simulated:
    from model.training.episodes.plan import Planned

    return Simulated(
        [Planned(Recording("healthy", f"n{i}", i), 240) for i in range(count)], STEP_SECONDS
    )


def test_joined_stocks_add_up_and_follow_one_another() -> None:
    told = simulated(recipe("tiny", 3))[Split.FIT]
    joined = Joined(told, quiet(2))
    assert joined.records == told.records + 2
    assert joined.quiet_steps == told.quiet_steps + 480
    assert joined.failures == told.failures
    assert joined.span == (0.0, 240.0 * STEP_SECONDS)
    assert [e.node for e in joined.episodes(quiet=True)][-2:] == ["n0", "n1"]


def test_a_site_without_a_failure_gives_every_cause_its_base_rate() -> None:
    stocks = {split: quiet(2) for split in (Split.FIT, Split.HELD, Split.TEST)}
    graph = Run(recipe("tiny", 3), lambda *_: None, stocks).train().graph
    window = next(stocks[Split.TEST].episodes(quiet=True)).windows(torch.tensor([200]).numpy(), 64)
    with torch.no_grad():
        out = graph(torch.from_numpy(window[0]), torch.zeros((8, graph.memory.width)))
    rates = torch.exp(graph.hazard.base_rate_log)
    expected = 1.0 - torch.exp(-rates * 24.0)
    assert out.cause_probability[:, 2].tolist() == pytest.approx(expected.tolist(), rel=1e-3)
    assert len(expected) == len(Cause)
