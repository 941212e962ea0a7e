"""From what was trained to an artefact that is whole: exported, checked, judged, described."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from daemon.clocks import system_clock
from model import runtime, schema
from model.artefact import Evaluation
from model.training.artefacts import export, sight
from model.training.fitting.pipeline import SHIPPED, describe
from model.training.judging import evaluate as evaluation
from model.training.judging.lines import HEADLINE

if TYPE_CHECKING:
    from collections.abc import Callable

    from model.runtime import Predictor
    from model.training.episodes.dataset import Episode
    from model.training.fitting.pipeline import Origin, Trained
    from model.training.judging.report import Report

    Windows = np.ndarray[tuple[int, ...], np.dtype[np.float32]]

NOT_JUDGED = Evaluation("nothing", *HEADLINE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (0, 0), 0, 0, 0)
PARITY_MOMENTS = 12


class Made(NamedTuple):
    """An artefact's bytes, its version, and the whole of what it was worth.

    `parity` is the largest difference of any output from the framework's.
    """

    blob: bytes
    version: str
    judged: Report
    parity: float


def finish(
    trained: Trained,
    judged_by: Callable[[Predictor], Report],
    windows: Windows,
    origin: Origin = SHIPPED,
) -> Made:
    """Export, hold the artefact against the framework on `windows`, add what it was worth."""
    model = export.export(trained.graph)
    version = hashlib.sha256(model.SerializeToString(deterministic=True)).hexdigest()[:12]
    timestamp = system_clock().wall()

    def artefact(worth: Evaluation) -> bytes:
        about = describe(
            trained.graph,
            trained.training,
            worth,
            version=version,
            timestamp=timestamp,
            origin=origin,
        )
        return export.serialise(model, sight.told(about, trained.graph.scaling))

    predictor = _loaded(artefact(NOT_JUDGED))
    sight.hide(windows, trained.graph.scaling)
    parity = export.check_parity(trained.graph, predictor, windows)
    judged = judged_by(predictor)
    return Made(artefact(evaluation.summarise(judged)), version, judged, parity)


def windows_of(episode: Episode) -> Windows:
    """Return some windows of an episode, evenly over it."""
    moments = np.linspace(8, len(episode.hours) - 1, PARITY_MOMENTS).astype(np.int64)
    return episode.windows(moments, schema.WINDOW_STEPS)


def _loaded(blob: bytes) -> Predictor:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "candidate.onnx"
        path.write_bytes(blob)
        return runtime.load(path)
