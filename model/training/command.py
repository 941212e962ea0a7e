"""What `forewarn-model train` and `evaluate` do: progress on the terminal, files at the end."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from daemon.clocks import system_clock
from model import runtime, schema
from model.artefact import Evaluation
from model.training import evaluate as evaluation
from model.training import export, table
from model.training.dataset import episodes, masked
from model.training.fit import Diverged, Schedule
from model.training.likelihood import Search
from model.training.pipeline import Recipe, Run, describe
from model.training.plan import BUNDLED, TINY, Split, plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from model.runtime import Predictor
    from model.training.dataset import Episode
    from model.training.evaluate import Report
    from model.training.pipeline import Trained
    from model.training.plan import Planned

SIZES = {
    "bundled": (BUNDLED, Schedule(), Search(), 12_000),
    "tiny": (TINY, Schedule(iterations=12, batch=16), Search(epochs=2, batch=256), 320),
}
NOT_JUDGED = Evaluation("nothing", "24h", 0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (0, 0), 0, 0, 0)
PARITY_MOMENTS = 12


class Bars:
    """One progress bar per stage, in the order in which they begin."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, int] = {}

    def __call__(self, stage: str, done: int, total: int, note: str) -> None:
        """Show that `stage` has come to `done` of `total`."""
        if stage not in self._tasks:
            self._tasks[stage] = self._progress.add_task(stage, total=total, note="")
        self._progress.update(self._tasks[stage], completed=done, note=note)  # type: ignore[arg-type]


def recipe(size: str, seed: int) -> Recipe:
    """Return the recipe called `size`."""
    amounts, schedule, search, windows = SIZES[size]
    return Recipe(seed, amounts, schedule, search, windows)


def train(size: str, out: Path, seed: int) -> None:
    """Train, check, judge and write; a diverged run writes nothing and exits."""
    console = Console()
    with _progress(console) as progress:
        report = Bars(progress)
        try:
            trained = Run(recipe(size, seed), report).train()
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
        Split.TEST, SIZES[size][0][Split.TEST], seed=seed, step_seconds=schema.STEP_SECONDS
    )
    export.check_parity(trained.graph, predictor, _some_windows(planned))
    judged = judge(predictor, planned, seed, "full", report)
    return artefact(evaluation.summarise(judged)), judged


def evaluate(path: Path, size: str, seed: int, *, profile: str, json_path: Path | None) -> None:
    """Replay the artefact at `path` over the test split, print the table, write it where asked."""
    console = Console()
    predictor = runtime.load(path)
    planned = plan(
        Split.TEST, SIZES[size][0][Split.TEST], seed=seed, step_seconds=schema.STEP_SECONDS
    )
    with _progress(console) as progress:
        judged = judge(predictor, planned, seed, profile, Bars(progress))
    console.print(table.render(judged), highlight=False, soft_wrap=True)
    if json_path is not None:
        export.write(json_path, msgspec.json.format(msgspec.json.encode(judged)) + b"\n")


def judge(
    predictor: Predictor,
    planned: list[Planned],
    seed: int,
    profile: str,
    report: Callable[[str, int, int, str], None],
) -> Report:
    """Replay `predictor` over the planned records as a site of this visibility would see them."""
    rng = np.random.default_rng([seed, 13])

    def watched() -> Iterator[Episode]:
        whole = episodes(planned, step_seconds=schema.STEP_SECONDS)
        for done, episode in enumerate(whole, 1):
            yield masked(episode, profile, rng)
            report("replaying", done, len(planned), episode.kind)

    data = f"simulated test split of seed {seed}, {profile} visibility"
    return evaluation.evaluate(predictor, watched(), data)


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


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description:>18}"),
        BarColumn(),
        TextColumn("{task.completed:>5.0f}/{task.total:.0f}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
        console=console,
    )
