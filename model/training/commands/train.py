"""What `forewarn-model train --simulate` does: progress on the terminal, files at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from model import schema
from model.training.artefacts import export, weights
from model.training.artefacts.finish import finish, windows_of
from model.training.commands.bars import Bars, progress
from model.training.commands.evaluate import replayed
from model.training.episodes.dataset import episodes
from model.training.episodes.plan import Split, plan
from model.training.fitting.fit import Diverged
from model.training.fitting.pipeline import Run
from model.training.judging import table

if TYPE_CHECKING:
    from pathlib import Path

    from model.training.artefacts.finish import Windows
    from model.training.episodes.plan import Planned
    from model.training.fitting.pipeline import Recipe


def train(recipe: Recipe, out: Path, *, with_weights: bool = False) -> None:
    """Train, check, judge and write; a diverged run writes nothing and exits."""
    console = Console()
    with progress(console) as shown:
        report = Bars(shown)
        try:
            trained = Run(recipe, report).train()
        except Diverged as error:
            raise SystemExit(
                f"forewarn-model: training diverged, nothing written: {error}"
            ) from None
        seed, amounts = recipe.seed, recipe.amounts[Split.TEST]
        planned = plan(Split.TEST, amounts, seed=seed, step_seconds=schema.STEP_SECONDS)
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


def _some_windows(planned: list[Planned]) -> Windows:
    """Windows of a node on its way to failure, for the parity check."""
    failing = next(one for one in planned if "memory" in one.recording.node)
    return windows_of(next(episodes([failing], step_seconds=schema.STEP_SECONDS)))
