"""Adds to an artefact of an earlier version what it does not tell and its constants do.

These are its ranges and its base rate; of a simulated one the number of GPUs is known too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import onnx
import torch
from onnx import numpy_helper

from model import runtime
from model.runtime import ModelRefused, Refusal
from model.training.artefacts import export, sight
from model.training.fitting import base_rate
from model.training.network.scaling import Scaling

if TYPE_CHECKING:
    from pathlib import Path

    from model.artefact import ArtefactInfo, Training

SIMULATED_GPUS = (8,)
"""Of every node that the shipped recipe simulates."""


def complete(path: Path) -> bool:
    """Write the artefact at `path` anew with what it lacks; False when it lacks nothing.

    Weights, answers and everything else that it says of itself stay.  Raises
    `ModelRefused` for a file that is no artefact, or one without the constants.
    """
    info = runtime.load(path).info
    training = _counted(info)
    if info.training_ranges and info.base_rate is not None and training == info.training:
        return False
    model = onnx.load(path)
    scaling = Scaling(info.names)
    for name in ("centre", "scale"):
        getattr(scaling, name).copy_(_constant(model, f"scaling.{name}", path))
    rate = base_rate.told(_constant(model, export.BASE_RATE, path), base_rate.FIELD)
    ranged = msgspec.structs.replace(
        info,
        training_ranges=scaling.ranges(),
        base_rate=info.base_rate or rate,
        training=training,
    )
    whole = sight.told(ranged, scaling)
    export.write(path, export.serialise(model, whole))
    return True


def _counted(info: ArtefactInfo) -> Training:
    if info.training.gpus or info.provenance != "bundled-simulated":
        return info.training
    return msgspec.structs.replace(info.training, gpus=SIMULATED_GPUS)


def _constant(model: onnx.ModelProto, name: str, path: Path) -> torch.Tensor:
    for tensor in model.graph.initializer:
        if tensor.name == name:
            return torch.from_numpy(numpy_helper.to_array(tensor).copy())
    raise ModelRefused(Refusal.METADATA, f"{path}: no {name}: train again")
