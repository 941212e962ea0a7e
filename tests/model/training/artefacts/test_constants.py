"""What an artefact knows of healthy nodes is taken over; what it knows of failures is not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
import torch

from model import runtime
from model.cli import BUNDLED
from model.runtime import ModelRefused
from model.training.artefacts.constants import graph_of, know_health, read
from model.training.artefacts.export import PARITY, difference
from model.training.network.graph import Graph
from simulator.instruments.shown import SHOWN

if TYPE_CHECKING:
    from pathlib import Path


def fresh() -> Graph:
    torch.manual_seed(3)
    return Graph(list(SHOWN)).eval()


def test_health_is_taken_over_and_hazards_are_not() -> None:
    graph, held = fresh(), read(BUNDLED)
    know_health(graph, BUNDLED)
    for name, value in graph.tadgan.state_dict().items():
        assert torch.equal(value, held[f"tadgan.{name}"])
    assert torch.equal(graph.scorer.typical, held["scorer.typical"])
    untouched = fresh().hazard.state_dict()
    for name, value in graph.hazard.state_dict().items():
        assert torch.equal(value, untouched[name])


def test_the_graph_of_an_artefact_answers_as_it_does_and_another_does_not() -> None:
    predictor = runtime.load(BUNDLED)
    names = predictor.info.names
    shape = (2, 3, predictor.info.window_steps, len(names))
    windows = np.random.default_rng(2).uniform(0, 60, shape).astype(np.float32)
    assert difference(graph_of(BUNDLED, names), predictor, windows) <= PARITY
    assert difference(Graph(list(names)).eval(), predictor, windows) > PARITY


def test_an_artefact_that_lacks_a_constant_is_refused_by_its_name(tmp_path: Path) -> None:
    model = onnx.load(BUNDLED)
    kept = [one for one in model.graph.initializer if one.name != "scorer.typical"]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    path = tmp_path / "short.onnx"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(ModelRefused, match=re.escape(f"{path}: no scorer.typical")):
        know_health(fresh(), path)
