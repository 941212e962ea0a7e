"""What `forewarn-model train --simulate` does: progress on the terminal, files at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model import schema
from model.training.artefacts import export, weights
from model.training.artefacts.finish import finish
from model.training.commands.bars import Bars, plain, progress
from model.training.commands.evaluate import replayed, some_windows
from model.training.episodes.plan import Split, plan
from model.training.fitting.fit import Diverged
from model.training.fitting.pipeline import Run
from model.training.judging import table

if TYPE_CHECKING:
    from pathlib import Path

    from model.training.fitting.pipeline import Recipe


def train(recipe: Recipe, out: Path, *, with_weights: bool = False) -> None:
    """Train, check, judge and write; a diverged run writes nothing and exits."""
    console = plain()
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
            some_windows(planned),
        )
    if with_weights:
        weights.save(weights.beside(out), trained.graph, made.version)
    export.write(out, made.blob)
    console.print(table.render(made.judged))
    console.print(f"\nframework and artefact differ by {made.parity:.1e} at most")
    console.print(f"wrote {out}, {len(made.blob) / 1024:.0f} KiB")
