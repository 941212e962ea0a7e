"""What a labelled row counts for: its node's share of the field, its time, its sampling."""

from __future__ import annotations

import numpy as np
import torch

from model.schema import Cause
from model.training.episodes.dataset import episode
from model.training.fitting.likelihood import Rows
from model.training.fitting.rows import Collector, Scored, Weights, score
from model.training.network.graph import Graph
from model.training.network.hazard import GPU_CAUSES
from simulator.history import record
from simulator.instruments.shown import SHOWN
from simulator.scenario import Scenario

HOUR = 3_600.0
STORM = Scenario("memory-storm", onset_seconds=HOUR, duration_seconds=2 * HOUR, gpu=0)


def collected(aftermath: float) -> tuple[Rows, Scored, float]:
    """Return GPU rows of a node that fails after three hours, what was scored, and when."""
    torch.manual_seed(0)
    whole = episode(record(STORM, node="a", seed=4, steps=300, gpus=2))
    assert whole.outcome is not None
    weights = Weights({Cause.MEMORY: 2.0}, 1.0)
    collector = Collector(weights, np.random.default_rng(1), aftermath)
    scored = score(Graph(list(SHOWN)).eval(), whole)
    collector.add(whole, scored)
    return collector.rows()[0], scored, whole.outcome.hours


def test_rows_after_a_failure_count_what_they_are_told_to() -> None:
    full, scored, failed = collected(1.0)
    less = collected(0.25)[0]
    struck = full.cause == GPU_CAUSES.index(Cause.MEMORY)
    after = torch.from_numpy(scored.hours >= failed)
    assert 0 < int(after.sum()) < len(after)
    own = less.weight[struck] / full.weight[struck]
    assert own.tolist() == torch.where(after[: len(own)], 0.25, 1.0).tolist()
    assert torch.equal(less.weight[~struck], full.weight[~struck])


def test_where_a_fit_is_judged_they_count_nothing() -> None:
    rows, scored, failed = collected(0.0)
    struck = rows.cause == GPU_CAUSES.index(Cause.MEMORY)
    assert int((rows.weight[struck] > 0).sum()) == int((scored.hours < failed).sum())
