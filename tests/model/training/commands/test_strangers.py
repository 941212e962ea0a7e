"""A kind that is left out leaves no row behind, and its turn is told apart from the others."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
import torch

from model.schema import Cause
from model.training.commands.strangers import Stranger, Strangers, bar, render
from model.training.episodes.dataset import episode
from model.training.fitting.likelihood import Rows, thinned
from model.training.fitting.rows import Collector, field_weights, score
from model.training.network.graph import Graph
from model.training.worth.bar import Mark
from simulator.history import record
from simulator.instruments.shown import SHOWN
from simulator.scenario import Scenario

HOUR = 3_600.0


def test_rows_without_a_kind_are_those_of_the_others() -> None:
    torch.manual_seed(0)
    graph = Graph(list(SHOWN)).eval()
    collectors = [
        Collector(field_weights({Cause.MEMORY: 1}, 10.0), np.random.default_rng(1), 0.25)
        for _ in range(2)
    ]
    storm = Scenario("memory-storm", onset_seconds=HOUR, duration_seconds=2 * HOUR, gpu=0)
    for kind, story in (("healthy", Scenario()), ("memory-storm", storm)):
        whole = episode(record(story, node=kind, seed=4, steps=240, gpus=2))
        for collector in collectors[: 1 if whole.outcome else 2]:
            collector.add(whole, score(graph, whole))
    both, calm = collectors[0].rows(), collectors[1].rows()
    without = collectors[0].rows("memory-storm")
    for level in range(2):
        assert (both[0].interval >= 0).any()
        assert len(without[level].weight) < len(both[level].weight)
        for ours, theirs in zip(without[level], calm[level], strict=True):
            assert torch.equal(ours, theirs)


def test_thinned_rows_keep_every_event_and_the_weight_of_the_others() -> None:
    rows = Rows(
        features=torch.zeros((4_000, 1)),
        exposure=torch.ones((4_000, 4)),
        interval=torch.where(torch.arange(4_000) < 40, 1, -1),
        cause=torch.zeros(4_000, dtype=torch.long),
        weight=torch.full((4_000,), 3.0),
    )
    few = thinned(rows, 0.25, torch.Generator().manual_seed(1))
    events = few.interval >= 0
    assert few.weight[events].tolist() == [3.0] * 40
    assert len(few.weight) < 1_200
    assert float(few.weight[~events].sum()) == pytest.approx(3_960 * 3.0, rel=0.1)


def test_gradual_kinds_are_summed_up_without_the_sudden_ones() -> None:
    turns = (
        Stranger("slow", "power", False, 10, 6, 0.0, 8, (1.0, 2.0, 3.0)),
        Stranger("fast", "device", True, 10, 0, 0.0, 0, ()),
    )
    told = render(Strangers("two turns", 3.0, 0.02, turns))
    assert "gradual kinds together: 0.600 at the level, 0.800 at the budget, of 10." in told
    assert "1.0 / 2.0 / 3.0" in told


def test_the_bar_is_held_against_gradual_kinds_at_the_budget() -> None:
    slow = Stranger("slow", "power", False, 10, 2, 0.0, 7, ())
    fast = Stranger("fast", "device", True, 10, 0, 0.0, 0, ())
    held = bar(Strangers("two turns", 160.0, 0.02, (slow, fast)))
    assert held.mark is Mark.REACHED
    assert held.value.startswith("0.700 (0.397 to 0.892), 7 of 10, on 160.0 quiet node-weeks")
    assert "allows 3 false alerts" in held.value
    fewer = msgspec.structs.replace(slow, detected_at_budget=6)
    assert bar(Strangers("two turns", 160.0, 0.02, (fewer, fast))).mark is Mark.MISSED
