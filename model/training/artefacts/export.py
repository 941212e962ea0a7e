"""Graph → one ONNX file: deterministic bytes, checked for parity, written atomically."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import onnx
import torch

from model.artefact import INPUTS, METADATA_KEY, OUTPUTS, ArtefactInfo
from model.history import files

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from model.runtime import Prediction, Predictor
    from model.training.network.graph import Graph

OPSET = 17
PER_GPU = ("window", "state", "gpu_probability", "score", "contribution", "state_out")
PARITY = 1e-4
BASE_RATE = "base_rate_log"
"""Initializer [cause]: log failures per node-hour by cause; a site may set its own."""


class ParityBroken(Exception):
    """The exported graph answers differently from the framework."""


def export(graph: Graph) -> onnx.ModelProto:
    """Trace `graph` to ONNX with a free GPU axis."""
    steps, channels = graph.tadgan.size.steps, len(graph.names)
    example = (torch.zeros((2, steps, channels)), torch.zeros((2, graph.memory.width)))
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        # The tracing exporter is the one that needs no further package and
        # writes native LSTM nodes; that it is the older one is known.
        warnings.simplefilter("ignore")
        traced = Path(folder) / "traced.onnx"
        torch.onnx.export(
            graph.eval(),
            example,
            traced,
            input_names=list(INPUTS),
            output_names=list(OUTPUTS),
            dynamic_axes={name: {0: "gpu"} for name in PER_GPU},
            opset_version=OPSET,
            do_constant_folding=False,
            dynamo=False,
        )
        model = onnx.load(traced)
    _tidy(model)
    onnx.checker.check_model(model, full_check=True)
    return model


def _tidy(model: onnx.ModelProto) -> None:
    """Drop what tells of this machine, and give the base rate its name."""
    for node in model.graph.node:
        node.doc_string = ""
    model.producer_name, model.producer_version = "forewarn", ""
    traced = f"hazard.{BASE_RATE}"
    for tensor in model.graph.initializer:
        if tensor.name == traced:
            tensor.name = BASE_RATE
    for node in model.graph.node:
        for index, name in enumerate(node.input):
            if name == traced:
                node.input[index] = BASE_RATE


def serialise(model: onnx.ModelProto, info: ArtefactInfo) -> bytes:
    """Return the artefact's bytes: equal for an equal graph and equal metadata."""
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    del whole.metadata_props[:]
    whole.metadata_props.add(key=METADATA_KEY, value=msgspec.json.encode(info).decode())
    return bytes(whole.SerializeToString(deterministic=True))


def write(path: Path, blob: bytes) -> None:
    """Put `blob` at `path` in one instant: readers see the old file or the new one."""
    files.put(path, blob)


def check_parity(graph: Graph, predictor: Predictor, windows: NDArray[np.float32]) -> float:
    """Return `difference`; raises `ParityBroken` above `PARITY`."""
    worst = difference(graph, predictor, windows)
    if not worst <= PARITY:
        raise ParityBroken(f"outputs differ by {worst:.2e}, expected at most {PARITY:.0e}")
    return worst


def difference(graph: Graph, predictor: Predictor, windows: NDArray[np.float32]) -> float:
    """Return the largest difference between framework and artefact, over all outputs.

    `windows` is [moment, gpu, step, channel]; state is carried along on both sides.
    """
    worst = 0.0
    for moments in (windows, windows[:, :1], _with_lost_gpu(windows)):
        ours = predictor.initial_state(moments.shape[1])
        theirs = torch.zeros(ours.shape)
        for window in moments:
            got = predictor.predict(window, ours)
            with torch.no_grad():
                expected = graph(torch.from_numpy(window), theirs)
            ours, theirs = got.state, expected.state_out
            worst = max(worst, _difference(got, expected))
    return worst


def _difference(got: Prediction, expected: tuple[torch.Tensor, ...]) -> float:
    pairs = zip(
        (got.node, got.cause, got.gpu, got.score, got.contribution, got.state),
        expected,
        strict=True,
    )
    return max(float(np.abs(ours - theirs.numpy()).max()) for ours, theirs in pairs)


def _with_lost_gpu(windows: NDArray[np.float32]) -> NDArray[np.float32]:
    lost = windows.copy()
    lost[:, -1] = np.nan
    return lost
