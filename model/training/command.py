"""What `forewarn-model train` and `evaluate` do: progress on the terminal, files at the end."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from rich.console import Console

from daemon.clocks import system_clock
from model import runtime, schema
from model.artefact import Evaluation
from model.training import evaluate as evaluation
from model.training import export, table, weights
from model.training.bars import Bars, progress
from model.training.dataset import episodes
from model.training.fit import Diverged
from model.training.judging import planned_split, replayed
from model.training.pipeline import SHIPPED, Recipe, Run, describe
from model.training.plan import Split
from model.training.sizes import SIZES

if TYPE_CHECKING:
    from collections.abc import Callable

    from model.runtime import Predictor
    from model.training.dataset import Episode
    from model.training.pipeline import Origin, Trained
    from model.training.report import Report

    Windows = np.ndarray[tuple[int, ...], np.dtype[np.float32]]
    from model.training.plan import Planned

NOT_JUDGED = Evaluation(
    "nothing", *evaluation.HEADLINE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (0, 0), 0, 0, 0
)
PARITY_MOMENTS = 12


def recipe(size: str, seed: int, left_out: frozenset[str] = frozenset()) -> Recipe:
    """Return the recipe called `size`, without the kinds of story `left_out`."""
    chosen = SIZES[size]
    return Recipe(
        seed, chosen.amounts, chosen.schedule, chosen.search, chosen.windows, left_out=left_out
    )


def train(
    size: str, out: Path, seed: int, left_out: frozenset[str], *, with_weights: bool = False
) -> None:
    """Train, check, judge and write; a diverged run writes nothing and exits."""
    console = Console()
    with progress(console) as shown:
        report = Bars(shown)
        try:
            trained = Run(recipe(size, seed, left_out), report).train()
        except Diverged as error:
            raise SystemExit(
                f"forewarn-model: training diverged, nothing written: {error}"
            ) from None
        planned = planned_split(Split.TEST, size, seed)
        made = finish(
            trained,
            lambda predictor: replayed(predictor, planned, seed, "full", report),
            _some_windows(planned),
        )
    if with_weights:
        weights.save(weights.beside(out), trained.graph, made.version)
    export.write(out, made.blob)
    console.print(table.render(made.judged), highlight=False, soft_wrap=True)
    console.print(f"\nwrote {out}, {len(made.blob) / 1024:.0f} KiB", highlight=False)


class Made(NamedTuple):
    """An artefact's bytes, its version, and the whole of what it was worth."""

    blob: bytes
    version: str
    judged: Report


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
        return export.serialise(model, about)

    predictor = _loaded(artefact(NOT_JUDGED))
    export.check_parity(trained.graph, predictor, windows)
    judged = judged_by(predictor)
    return Made(artefact(evaluation.summarise(judged)), version, judged)


def _some_windows(planned: list[Planned]) -> Windows:
    """Windows of a node on its way to failure, for the parity check."""
    failing = next(one for one in planned if "memory" in one.recording.node)
    return windows_of(next(episodes([failing], step_seconds=schema.STEP_SECONDS)))


def windows_of(episode: Episode) -> Windows:
    """Return some windows of an episode, evenly over it."""
    moments = np.linspace(8, len(episode.hours) - 1, PARITY_MOMENTS).astype(np.int64)
    return episode.windows(moments, schema.WINDOW_STEPS)


def _loaded(blob: bytes) -> Predictor:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "candidate.onnx"
        path.write_bytes(blob)
        return runtime.load(path)
