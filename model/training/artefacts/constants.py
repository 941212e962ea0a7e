"""The constants of an artefact under the framework's names: what its training left in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import torch
from onnx import numpy_helper

from model.runtime import ModelRefused, Refusal

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

    from model.training.network.graph import Graph

LEARNED_FROM_HEALTH = ("scaling", "tadgan", "scorer", "gather", "memory")
"""The parts that are fitted or frozen before any failure is shown."""

DERIVED = frozenset({"scaling.floor"})
"""What follows from the channels' names, and is in no file."""


def read(path: Path) -> dict[str, Tensor]:
    """Return every constant of the graph at `path`, an artefact that was loaded before."""
    held = onnx.load(path).graph.initializer
    return {one.name: torch.from_numpy(numpy_helper.to_array(one).copy()) for one in held}


def know_health(graph: Graph, path: Path) -> None:
    """Give `graph` what the artefact knows of healthy nodes; its hazards stay as they are.

    Raises `ModelRefused` for one that lacks a constant or has another shape.
    """
    held = read(path)
    for name, value in graph.state_dict().items():
        if name.partition(".")[0] not in LEARNED_FROM_HEALTH or name in DERIVED:
            continue
        if name not in held or held[name].shape != value.shape:
            raise ModelRefused(Refusal.METADATA, f"{path}: no {name} of this shape: train again")
        value.copy_(held[name])
