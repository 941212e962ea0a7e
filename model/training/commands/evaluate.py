"""What `forewarn-model evaluate` does: replays, rivals, a table, a page and a JSON beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from model import runtime, schema
from model.training.artefacts import constants, export, sight
from model.training.artefacts.finish import windows_of
from model.training.commands.bars import Bars, plain, progress
from model.training.episodes.dataset import episodes, masked
from model.training.episodes.plan import Split, plan, quiet_plan
from model.training.fitting.sizes import SIZES
from model.training.judging import evaluate as evaluation
from model.training.judging import quiet, quiet_table, table
from model.training.page import page
from model.training.rivals.calibrated import rivals
from model.training.worth import bar as bars
from model.training.worth import judged as of_split
from model.training.worth import quiet as of_quiet
from model.training.worth.sections import Place, Sections
from simulator.faults import STORIES
from simulator.instruments.shown import SHOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from rich.console import Console

    from model.runtime import Predictor
    from model.training.artefacts.finish import Windows
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
    with_rivals: bool, place: Place | None = None,
) -> None:  # fmt: skip
    """Replay the artefact at `path` over the test split beside its rivals; print and write."""
    console = plain()
    predictor = runtime.load(path)
    whole = profile == "full"
    section = Sections(place, "test" if whole else profile, held_to_bars=whole)
    section.check()
    planned = planned_split(Split.TEST, size, seed)
    parity = _parity(path, predictor, planned, console)
    with progress(console) as shown:
        tell = Bars(shown)
        beside = _rivals(predictor, size, seed, profile, tell) if with_rivals else ()
        judged = replayed(predictor, planned, seed, profile, tell, beside)
    text, held = table.render(judged), bars.table(of_split.bars(judged, parity))
    console.print(f"{text}\n\n{held}")
    version = f"version {predictor.info.version}"
    section.fill(version, text if whole else table.brief(judged), held)
    told = f"{path.name}, {version}, {predictor.info.provenance}"
    if html is not None:
        export.write(html, page.render(judged, told).encode())
    if json is not None:
        export.write(json, _json(judged))
    _say_written(console, html, json, place)


def count_quiet(
    path: Path, node_weeks: int, size: str, seed: int, *, profile: str, json: Path | None,
    place: Place | None = None,
) -> None:  # fmt: skip
    """Replay the artefact over many nodes that do not fail; print and write.

    Those of the test split that do are replayed beside them, for calibration and recall.
    """
    console = plain()
    predictor = runtime.load(path)
    whole = profile == "full"
    section = Sections(place, "quiet" if whole else f"quiet-{profile}", held_to_bars=whole)
    section.check()
    planned = quiet_plan(node_weeks, seed=seed, step_seconds=schema.STEP_SECONDS)
    struck = [one for one in planned_split(Split.TEST, size, seed) if STORIES[one.kind].cause]
    with progress(console) as shown:
        tell = Bars(shown)
        watched = _watched(planned, profile, [seed, 15], "quiet nodes", tell)
        failing = _watched(struck, profile, [seed, 13], "failing nodes", tell)
        data = f"simulated quiet split of seed {seed}, {profile} visibility"
        report = quiet.watch(predictor, watched, data, failing)
    text, held = quiet_table.render(report), bars.table(of_quiet.bars(report))
    console.print(f"{text}\n\n{held}")
    section.fill(f"version {predictor.info.version}", text, held)
    if json is not None:
        export.write(json, _json(report))
    _say_written(console, json, place)


def some_windows(planned: Sequence[Planned]) -> Windows:
    """Return windows of a node on its way to failure, on which framework and artefact are held."""
    failing = next(one for one in planned if "memory" in one.recording.node)
    return windows_of(next(episodes([failing], step_seconds=schema.STEP_SECONDS)))


def _parity(
    path: Path, predictor: Predictor, planned: Sequence[Planned], console: Console
) -> float | None:
    """Hold the artefact against the framework's graph of its constants; None where it lacks one."""
    try:
        graph = constants.graph_of(path, predictor.info.names)
    except runtime.ModelRefused as error:
        console.print(f"parity is not looked at: {error}")
        return None
    places = [SHOWN.index(name) for name in predictor.info.names]
    windows = some_windows(planned)[..., places]
    sight.hide(windows, graph.scaling)
    return export.difference(graph, predictor, windows)


def _say_written(console: Console, *written: Path | Place | None) -> None:
    for one in written:
        if one is not None:
            path = one.page if isinstance(one, Place) else one
            console.print(f"wrote {path}")


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
