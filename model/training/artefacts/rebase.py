"""Sets an artefact's base rate anew: the same evidence, at how often this site's nodes fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import onnx
from onnx import numpy_helper

from model import runtime
from model.history.refused import Refused
from model.runtime import ModelRefused, Refusal
from model.training.artefacts import export, weights
from model.training.fitting import base_rate
from model.training.judging.report import Report

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from torch import Tensor

    from model.artefact import BaseRate


def rebase(path: Path, out: Path, rates: Mapping[str, float], origin: str) -> BaseRate:
    """Write the artefact at `path` to `out` with these failures per node-week by cause.

    So are the weights beside it, where there are some: nodes' own models start
    from them.  The version stays, since it names the training.  Raises
    `ModelRefused`, and `weights.WeightsRefused` before anything is written.
    """
    info = runtime.load(path).info
    model = onnx.load(path)
    held = next((one for one in model.graph.initializer if one.name == export.BASE_RATE), None)
    if held is None:
        raise ModelRefused(Refusal.METADATA, f"{path}: no {export.BASE_RATE}: train again")
    values = base_rate.logs(rates)
    told = base_rate.told(values, origin, set_later=True)
    held.CopyFrom(numpy_helper.from_array(values.numpy(), export.BASE_RATE))
    _rebase_weights(path, out, info.version, values)
    export.write(out, export.serialise(model, msgspec.structs.replace(info, base_rate=told)))
    return told


def _rebase_weights(path: Path, out: Path, version: str, values: Tensor) -> None:
    beside = weights.beside(path)
    if not beside.exists():
        return
    graph = weights.load(beside, version)
    graph.hazard.base_rate_log.copy_(values)
    weights.save(weights.beside(out), graph, version)


def seen_in(backtest: Path) -> base_rate.Seen:
    """Return what a backtest of the site has counted, from its JSON; raises `Refused`."""
    try:
        found = msgspec.json.decode(backtest.read_bytes(), type=Report)
    except msgspec.DecodeError as error:
        raise Refused(f"{backtest}: not the JSON of a backtest: {error}") from error
    return base_rate.Seen(found.failures, found.node_weeks)
