"""What `forewarn-model train` and `evaluate` do: progress on the terminal, files at the end."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from daemon.clocks import system_clock
from model import runtime, schema
from model.artefact import Evaluation
from model.training import evaluate as evaluation
from model.training import export, table, weights
from model.training.dataset import episodes, masked
from model.training.fit import Diverged, Schedule
from model.training.likelihood import Search
from model.training.pipeline import SHIPPED, Recipe, Run, describe
from model.training.plan import BUNDLED, TINY, Split, plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from model.runtime import Predictor
    from model.training.dataset import Episode
    from model.training.evaluate import Report
    from model.training.pipeline import Origin, Trained

    Windows = np.ndarray[tuple[int, ...], np.dtype[np.float32]]
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


def train(size: str, out: Path, seed: int, *, with_weights: bool = False) -> None:
    """Train, check, judge and write; a diverged run writes nothing and exits."""
    console = Console()
    with progress_bars(console) as progress:
        report = Bars(progress)
        try:
            trained = Run(recipe(size, seed), report).train()
        except Diverged as error:
            raise SystemExit(
                f"forewarn-model: training diverged, nothing written: {error}"
            ) from None
        planned = _test_split(size, seed)
        made = finish(
            trained,
            lambda predictor: judge(predictor, planned, seed, "full", report),
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


def evaluate(path: Path, size: str, seed: int, *, profile: str, json_path: Path | None) -> None:
    """Replay the artefact at `path` over the test split, print the table, write it where asked."""
    console = Console()
    predictor = runtime.load(path)
    planned = _test_split(size, seed)
    with progress_bars(console) as progress:
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


def _test_split(size: str, seed: int) -> list[Planned]:
    return plan(Split.TEST, SIZES[size][0][Split.TEST], seed=seed, step_seconds=schema.STEP_SECONDS)


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


def progress_bars(console: Console) -> Progress:
    """Return bars for the stages of a run."""
    return Progress(
        TextColumn("{task.description:>18}"),
        BarColumn(),
        TextColumn("{task.completed:>5.0f}/{task.total:.0f}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
        console=console,
    )
