"""Adds to an artefact of an earlier version what its own constants tell: the training ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import onnx

from model import runtime
from model.runtime import ModelRefused, Refusal
from model.training import constants, export
from model.training.scaling import Scaling

if TYPE_CHECKING:
    from pathlib import Path


def complete(path: Path) -> bool:
    """Write the artefact at `path` anew with its ranges; False when it has them already.

    Weights, answers and everything else that it says of itself stay.  Raises
    `ModelRefused` for a file that is no artefact, or one without the constants.
    """
    info = runtime.load(path).info
    if info.training_ranges:
        return False
    held = constants.read(path)
    scaling = Scaling(info.names)
    for name in ("centre", "scale"):
        if f"scaling.{name}" not in held:
            raise ModelRefused(Refusal.METADATA, f"{path}: no scaling.{name}: train again")
        getattr(scaling, name).copy_(held[f"scaling.{name}"])
    whole = msgspec.structs.replace(info, training_ranges=scaling.ranges())
    export.write(path, export.serialise(onnx.load(path), whole))
    return True
