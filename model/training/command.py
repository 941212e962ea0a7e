"""What `forewarn-model train` does: progress on the terminal, one file at the end."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console

from daemon.clocks import system_clock
from model import runtime, schema
from model.artefact import Evaluation
from model.training import evaluate as evaluation
from model.training import export, table
from model.training.bars import Bars, progress
from model.training.dataset import episodes
from model.training.fit import Diverged
from model.training.judging import replayed
from model.training.pipeline import Recipe, Run, describe
from model.training.plan import Split, plan
from model.training.sizes import SIZES

if TYPE_CHECKING:
    from collections.abc import Callable

    from model.runtime import Predictor
    from model.training.pipeline import Trained
    from model.training.plan import Planned
    from model.training.report import Report

NOT_JUDGED = Evaluation("nothing", "24h", 0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (0, 0), 0, 0, 0)
PARITY_MOMENTS = 12


def recipe(size: str, seed: int, left_out: frozenset[str] = frozenset()) -> Recipe:
    """Return the recipe called `size`."""
    chosen = SIZES[size]
    return Recipe(
        seed, chosen.amounts, chosen.schedule, chosen.search, chosen.windows, left_out=left_out
    )


def train(size: str, out: Path, seed: int, left_out: frozenset[str]) -> None:
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
        blob, judged = finish(trained, size, seed, report)
    export.write(out, blob)
    console.print(table.render(judged), highlight=False, soft_wrap=True)
    console.print(f"\nwrote {out}, {len(blob) / 1024:.0f} KiB", highlight=False)


def finish(
    trained: Trained, size: str, seed: int, report: Callable[[str, int, int, str], None]
) -> tuple[bytes, Report]:
    """Export, hold the artefact against the framework, replay it, and add what it was worth."""
    model = export.export(trained.graph)
    version = hashlib.sha256(model.SerializeToString(deterministic=True)).hexdigest()[:12]
    timestamp = system_clock().wall()

    def artefact(worth: Evaluation) -> bytes:
        return export.serialise(
            model,
            describe(trained.graph, trained.training, worth, version=version, timestamp=timestamp),
        )

    predictor = _loaded(artefact(NOT_JUDGED))
    planned = plan(
        Split.TEST, SIZES[size].amounts[Split.TEST], seed=seed, step_seconds=schema.STEP_SECONDS
    )
    export.check_parity(trained.graph, predictor, _some_windows(planned))
    judged = replayed(predictor, planned, seed, "full", report)
    return artefact(evaluation.summarise(judged)), judged


def _some_windows(planned: list[Planned]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Windows of a node on its way to failure, for the parity check."""
    failing = next(one for one in planned if "memory" in one.recording.node)
    episode = next(episodes([failing], step_seconds=schema.STEP_SECONDS))
    moments = np.linspace(8, len(episode.hours) - 1, PARITY_MOMENTS).astype(np.int64)
    return episode.windows(moments, schema.WINDOW_STEPS)


def _loaded(blob: bytes) -> Predictor:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "candidate.onnx"
        path.write_bytes(blob)
        return runtime.load(path)
