"""Adds to an artefact of an earlier version what its own constants tell: ranges and base rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import onnx

from model import runtime
from model.runtime import ModelRefused, Refusal
from model.training.artefacts import export
from model.training.fitting import base_rate
from model.training.network import constants
from model.training.network.scaling import Scaling

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from torch import Tensor


def complete(path: Path) -> bool:
    """Write the artefact at `path` anew with what it lacks; False when it lacks nothing.

    Weights, answers and everything else that it says of itself stay.  Raises
    `ModelRefused` for a file that is no artefact, or one without the constants.
    """
    info = runtime.load(path).info
    if info.training_ranges and info.base_rate is not None:
        return False
    held = constants.read(path)
    scaling = Scaling(info.names)
    for name in ("centre", "scale"):
        getattr(scaling, name).copy_(_constant(held, f"scaling.{name}", path))
    rate = base_rate.told(_constant(held, export.BASE_RATE, path), base_rate.FIELD)
    whole = msgspec.structs.replace(
        info, training_ranges=scaling.ranges(), base_rate=info.base_rate or rate
    )
    export.write(path, export.serialise(onnx.load(path), whole))
    return True


def _constant(held: Mapping[str, Tensor], name: str, path: Path) -> Tensor:
    if name not in held:
        raise ModelRefused(Refusal.METADATA, f"{path}: no {name}: train again")
    return held[name]
