"""The constants of an artefact under the framework's names: what its training left in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import torch
from onnx import numpy_helper

from model.runtime import ModelRefused, Refusal
from model.training.artefacts.export import BASE_RATE
from model.training.network.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torch import Tensor

LEARNED_FROM_HEALTH = ("scaling", "tadgan", "scorer", "gather", "memory")
"""The parts that are fitted or frozen before any failure is shown."""

DERIVED = frozenset({"scaling.floor", "hazard.gpu.past", "hazard.node.past"})
"""What follows from the channels' names, and is in no file."""


def read(path: Path) -> dict[str, Tensor]:
    """Return every constant of the graph at `path`, an artefact that was loaded before."""
    held = onnx.load(path).graph.initializer
    return {one.name: torch.from_numpy(numpy_helper.to_array(one).copy()) for one in held}


def know_health(graph: Graph, path: Path) -> None:
    """Give `graph` what the artefact knows of healthy nodes; its hazards stay as they are.

    Raises `ModelRefused` for one that lacks a constant or has another shape.
    """
    _know(graph, path, LEARNED_FROM_HEALTH)


def graph_of(path: Path, names: Sequence[str]) -> Graph:
    """Return the framework's graph with every constant of the artefact at `path`.

    Raises `ModelRefused` for one that lacks a constant or has another shape.
    """
    graph: Graph = Graph(names).eval()
    _know(graph, path, (*LEARNED_FROM_HEALTH, "hazard"))
    return graph


def _know(graph: Graph, path: Path, parts: Sequence[str]) -> None:
    held = read(path)
    if BASE_RATE in held:
        held[f"hazard.{BASE_RATE}"] = held[BASE_RATE]
    for name, value in graph.state_dict().items():
        if name.partition(".")[0] not in parts or name in DERIVED:
            continue
        if name not in held or held[name].shape != value.shape:
            raise ModelRefused(Refusal.METADATA, f"{path}: no {name} of this shape: train again")
        value.copy_(held[name])
