"""Sets an artefact's base rate anew: the same evidence, at how often this site's nodes fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

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
    from model.training.network.graph import Graph


class Rebased(NamedTuple):
    """An artefact with another base rate, and its weights where it has some; not yet written."""

    told: BaseRate
    blob: bytes
    graph: Graph | None
    version: str

    def write(self, out: Path) -> None:
        """Put it at `out`, and the weights beside it: nodes' own models start from them."""
        if self.graph is not None:
            weights.save(weights.beside(out), self.graph, self.version)
        export.write(out, self.blob)


def rebase(path: Path, rates: Mapping[str, float], origin: str) -> Rebased:
    """Return the artefact at `path` with these failures per node-week by cause.

    The version stays, since it names the training.  Raises `ModelRefused` and
    `weights.WeightsRefused`; nothing is written.
    """
    info = runtime.load(path).info
    model = onnx.load(path)
    held = next((one for one in model.graph.initializer if one.name == export.BASE_RATE), None)
    if held is None:
        raise ModelRefused(Refusal.METADATA, f"{path}: no {export.BASE_RATE}: train again")
    values = base_rate.logs(rates)
    told = base_rate.told(values, origin, set_later=True)
    held.CopyFrom(numpy_helper.from_array(values.numpy(), export.BASE_RATE))
    blob = export.serialise(model, msgspec.structs.replace(info, base_rate=told))
    return Rebased(told, blob, _weights(path, info.version, values), info.version)


def _weights(path: Path, version: str, values: Tensor) -> Graph | None:
    beside = weights.beside(path)
    if not beside.exists():
        return None
    graph = weights.load(beside, version)
    graph.hazard.base_rate_log.copy_(values)
    return graph


def seen_in(backtest: Path) -> base_rate.Seen:
    """Return what a backtest of the site has counted, from its JSON; raises `Refused`."""
    try:
        found = msgspec.json.decode(backtest.read_bytes(), type=Report)
    except msgspec.DecodeError as error:
        raise Refused(f"{backtest}: not the JSON of a backtest: {error}") from error
    return base_rate.Seen(found.failures, found.node_weeks)
