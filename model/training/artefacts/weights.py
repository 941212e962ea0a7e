"""The weights of a fleet model beside its artefact, so that a node's own can start from them.

`fleet.onnx` is what predicts; `fleet.weights.npz` is what trains on: the same
numbers under the framework's names.
"""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import numpy as np
import torch

from model.history.chunks import write_arrays
from model.history.refused import Refused
from model.training.network.graph import Graph

if TYPE_CHECKING:
    from pathlib import Path

VERSION, NAMES = "version", "names"


class WeightsRefused(Refused):
    """Weights that are absent, damaged, or of another model than the artefact beside them."""


def beside(artefact: Path) -> Path:
    """Return where the weights of an artefact lie."""
    return artefact.with_suffix(".weights.npz")


def save(path: Path, graph: Graph, version: str) -> None:
    """Write the weights of `graph`, whose artefact has this version."""
    arrays = {f"weight/{name}": value.numpy() for name, value in graph.state_dict().items()}
    write_arrays(path, {**arrays, VERSION: np.array(version), NAMES: np.array(graph.names)})


def load(path: Path, version: str) -> Graph:
    """Return the graph with its weights; raises `WeightsRefused`."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            if str(held[VERSION]) != version:
                raise WeightsRefused(
                    f"{path}: weights of model {held[VERSION]}, expected those of {version}"
                )
            graph = Graph([str(name) for name in held[NAMES]])
            state = {name: held[f"weight/{name}"] for name in graph.state_dict()}
    except FileNotFoundError:
        raise WeightsRefused(f"{path}: no such file, expected the weights of the fleet") from None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise WeightsRefused(f"{path}: not the weights of a model: {error}") from error
    graph.load_state_dict({name: torch.from_numpy(value) for name, value in state.items()})
    graph.eval()
    return graph
