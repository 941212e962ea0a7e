"""What `forewarn-model evaluate` does: replays, rivals, a table, a page and a JSON beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np
from rich.console import Console

from model import runtime, schema
from model.training.artefacts import export
from model.training.commands.bars import Bars, progress
from model.training.episodes.dataset import episodes, masked
from model.training.episodes.plan import Split, plan, quiet_plan
from model.training.fitting.sizes import SIZES
from model.training.judging import evaluate as evaluation
from model.training.judging import quiet, table
from model.training.page import page
from model.training.rivals.calibrated import rivals
from simulator.faults import STORIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from model.runtime import Predictor
    from model.training.episodes.dataset import Episode
    from model.training.episodes.plan import Planned
    from model.training.judging.report import Report
    from model.training.rivals.calibrated import Calibrated

    Tell = Callable[[str, int, int, str], None]

HEALTHY_FOR_RIVALS = 24
EACH_KIND_FOR_RIVALS = 5
"""Records of training splits that rivals are fitted on: enough for what they have to learn."""


def evaluate(
    path: Path, size: str, seed: int, *, profile: str, html: Path | None, json: Path | None,
    with_rivals: bool,
) -> None:  # fmt: skip
    """Replay the artefact at `path` over the test split beside its rivals; print and write."""
    console = Console()
    predictor = runtime.load(path)
    planned = planned_split(Split.TEST, size, seed)
    with progress(console) as shown:
        tell = Bars(shown)
        beside = _rivals(predictor, size, seed, profile, tell) if with_rivals else ()
        judged = replayed(predictor, planned, seed, profile, tell, beside)
    console.print(table.render(judged), highlight=False, soft_wrap=True)
    told = f"{path.name}, version {predictor.info.version}, {predictor.info.provenance}"
    if html is not None:
        export.write(html, page.render(judged, told).encode())
    if json is not None:
        export.write(json, _json(judged))
    for written in (html, json):
        if written is not None:
            console.print(f"wrote {written}", highlight=False)


def count_quiet(
    path: Path, node_weeks: int, size: str, seed: int, *, profile: str, json: Path | None
) -> None:
    """Replay the artefact over many nodes that do not fail; print and write.

    Those of the test split that do are replayed beside them, for calibration.
    """
    console = Console()
    predictor = runtime.load(path)
    planned = quiet_plan(node_weeks, seed=seed, step_seconds=schema.STEP_SECONDS)
    struck = [one for one in planned_split(Split.TEST, size, seed) if STORIES[one.kind].cause]
    with progress(console) as shown:
        tell = Bars(shown)
        watched = _watched(planned, profile, [seed, 15], "quiet nodes", tell)
        failing = _watched(struck, profile, [seed, 13], "failing nodes", tell)
        data = f"simulated quiet split of seed {seed}, {profile} visibility"
        report = quiet.watch(predictor, watched, data, failing)
    console.print(quiet.render(report), highlight=False, soft_wrap=True)
    if json is not None:
        export.write(json, _json(report))
        console.print(f"wrote {json}", highlight=False)


def replayed(
    predictor: Predictor,
    planned: list[Planned],
    seed: int,
    profile: str,
    tell: Tell,
    beside: Sequence[Calibrated] = (),
) -> Report:
    """Replay `predictor` over the planned records as a site of this visibility would see them."""
    watched = _watched(planned, profile, [seed, 13], "replaying", tell)
    data = f"simulated test split of seed {seed}, {profile} visibility"
    return evaluation.evaluate(predictor, watched, data, beside)


def _rivals(
    predictor: Predictor, size: str, seed: int, profile: str, tell: Tell
) -> tuple[Calibrated, ...]:
    fit = [one for one in planned_split(Split.FIT, size, seed) if one.kind == "healthy"]
    held = _few_of_each(planned_split(Split.HELD, size, seed))
    still = [one for one in held if one.kind == "healthy"]
    return rivals(
        _watched(fit[:HEALTHY_FOR_RIVALS], profile, [seed, 16], "rivals: healthy", tell),
        _watched(still, profile, [seed, 17], "rivals: levels", tell),
        _watched(held, profile, [seed, 17], "rivals: calibration", tell),
        seed=seed,
        horizons=len(predictor.info.horizons),
        field_rate=evaluation.usual_rate(predictor.info),
    )


def _few_of_each(planned: Sequence[Planned]) -> list[Planned]:
    kept: list[Planned] = []
    taken: dict[str, int] = {}
    for one in planned:
        taken[one.kind] = taken.get(one.kind, 0) + 1
        if taken[one.kind] <= (
            HEALTHY_FOR_RIVALS if one.kind == "healthy" else EACH_KIND_FOR_RIVALS
        ):
            kept.append(one)
    return kept


def planned_split(split: Split, size: str, seed: int) -> list[Planned]:
    """Return the records of one split of a named size."""
    return plan(split, SIZES[size].amounts[split], seed=seed, step_seconds=schema.STEP_SECONDS)


def _watched(
    planned: list[Planned], profile: str, entropy: list[int], stage: str, tell: Tell
) -> Iterator[Episode]:
    rng = np.random.default_rng(entropy)
    for done, whole in enumerate(episodes(planned, step_seconds=schema.STEP_SECONDS), 1):
        yield masked(whole, profile, rng)
        tell(stage, done, len(planned), whole.kind)


def _json(report: msgspec.Struct) -> bytes:
    return msgspec.json.format(msgspec.json.encode(report)) + b"\n"
