"""What the hazards make of kinds of fault that they never saw: each is left out in turn.

TadGAN and all constants come from nodes on which nothing fails, so every turn
shares them and the scored rows, and they may be taken from an artefact that
exists; only the hazards are fitted anew, on all rows of failing and a share of
the others.  Looks are those of training, some minutes apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import torch

from model import runtime
from model.schema import HORIZONS
from model.training.artefacts.constants import know_health
from model.training.artefacts.export import write
from model.training.commands.bars import Bars, plain, progress
from model.training.episodes.plan import LEARNED, Split
from model.training.fitting.likelihood import Rows, thinned
from model.training.fitting.pipeline import Run
from model.training.fitting.rows import Collector, score
from model.training.fitting.sizes import recipe
from model.training.judging.budget import exposed_weeks, points, verdicts, within
from model.training.judging.course import Course
from model.training.judging.lines import HEADLINE, quartiles
from model.training.judging.rates import wilson
from model.training.network.graph import Graph
from model.training.network.graph import within as reached
from model.training.network.hazard import EDGES_HOURS, GPU_CAUSES
from model.training.worth import bar as bars
from model.training.worth.sections import Place, Sections
from simulator.faults import STORIES
from simulator.faults.story import Pace
from simulator.instruments.shown import SHOWN

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from model.training.episodes.dataset import Episode
    from model.training.fitting.rows import Scored

BUDGET = 0.02
"""False alerts per node-week of the alert budget at which strangers are judged."""

QUIET_RATIO = 0.25
"""Share of rows without event that a turn is fitted on: 21 fits on all of them are hours."""

RECALL = 0.70
"""Of kinds that training never saw, within the budget."""


class Stranger(msgspec.Struct, frozen=True):
    """One kind left out: recall at the headline's level, and at the budget on quiet nodes."""

    kind: str
    cause: str
    sudden: bool
    events: int
    detected: int
    false_alerts_per_node_week: float
    detected_at_budget: int
    lead_hours_quartiles: tuple[float, ...]


class Strangers(msgspec.Struct, frozen=True):
    """All turns."""

    data: str
    quiet_node_weeks: float
    budget: float
    turns: tuple[Stranger, ...]


def leave_each_out(
    size: str,
    seed: int,
    artefact: Path | None,
    json_path: Path | None,
    *,
    place: Place | None = None,
) -> None:
    """Run all turns, print the table, write it where asked.

    `artefact` is where TadGAN and constants are taken from; none given: they are fitted.
    """
    console = plain()
    section = Sections(place, "strangers")
    section.check()
    told = "a fit of its own" if artefact is None else f"version {_version(artefact)}"
    with progress(console) as shown:
        found = turns(Run(recipe(size, seed), Bars(shown)), seed, artefact)
    whole, held = render(found), bars.table([bar(found)])
    console.print(f"{whole}\n\n{held}")
    section.fill(told, whole, held)
    if json_path is not None:
        write(json_path, msgspec.json.format(msgspec.json.encode(found)) + b"\n")


def _version(artefact: Path) -> str:
    return runtime.load(artefact).info.version


def bar(found: Strangers) -> bars.Bar:
    """Hold what is foretold of gradual kinds, within the budget, to `RECALL`."""
    gradual = [one for one in found.turns if not one.sudden]
    events = sum(one.events for one in gradual)
    seen = sum(one.detected_at_budget for one in gradual)
    fixed = sum(one.detected for one in gradual)
    weeks = found.quiet_node_weeks
    return bars.Bar(
        "kinds left out of training, gradual",
        f"recall at or above {RECALL:.2f} at no more than {found.budget:g} false alerts per "
        "node-week",
        f"{bars.share(seen, events, wilson(seen, events))}, on {weeks:.1f} quiet node-weeks, "
        f"on which that allows {int(found.budget * weeks)} false alerts; at {HEADLINE[0]}, "
        f"{HEADLINE[1]:g} {bars.share(fixed, events, wilson(fixed, events))}",
        bars.reached(events > 0 and seen >= RECALL * events),
    )


def turns(run: Run, seed: int, artefact: Path | None = None) -> Strangers:
    """Leave out each kind of fault once."""
    run.settle()
    graph = run.scored_graph() if artefact is None else _knowing_health(artefact)
    untouched = {name: value.clone() for name, value in graph.hazard.state_dict().items()}
    collected = {split: run.collect(graph, split) for split in LEARNED}
    tested = [
        _looked_at(graph, whole)
        for whole in run.stream(run.stocks[Split.TEST], "test", quiet=False)
    ]
    quiet = [one for one in tested if one[0].outcome is None]
    faults = [kind for kind, story in STORIES.items() if story.cause is not None]
    lines = []
    for done, kind in enumerate(faults, 1):
        graph.hazard.load_state_dict(untouched)
        rows = {split: _shown(collected[split], kind, seed) for split in LEARNED}
        run.fit_hazards(graph, rows)
        strangers = [one for one in tested if one[0].kind == kind]
        lines.append(_judge(graph, kind, strangers, quiet))
        run.report("kinds left out", done, len(faults), kind)
    weeks = exposed_weeks([course for course, _ in quiet])
    return Strangers(f"simulated splits of seed {seed}", weeks, BUDGET, tuple(lines))


def _knowing_health(artefact: Path) -> Graph:
    graph: Graph = Graph(list(SHOWN)).eval()
    know_health(graph, artefact)
    return graph


def render(found: Strangers) -> str:
    """Return the turns as a table for people."""
    head = (
        f"kind left out              cause        pace     recall at {HEADLINE[0]} {HEADLINE[1]:g}"
        f"  false per node-week  recall at {found.budget:g}  lead h (quartiles)"
    )
    rows = (
        f"{x.kind:<26} {x.cause:<12} {'sudden' if x.sudden else 'gradual':<7}  "
        f"{x.detected:>10} of {x.events:<3}  {x.false_alerts_per_node_week:>19.4f}  "
        f"{x.detected_at_budget:>9} of {x.events:<3}  "
        f"{' / '.join(f'{lead:.1f}' for lead in x.lead_hours_quartiles) or '-'}"
        for x in found.turns
    )
    gradual = [x for x in found.turns if not x.sudden]
    events = sum(x.events for x in gradual)
    fixed, bought = sum(x.detected for x in gradual), sum(x.detected_at_budget for x in gradual)
    return "\n".join(
        (
            f"{found.data}: every kind of fault left out of training once; "
            f"{found.quiet_node_weeks:.1f} node-weeks on nodes that do not fail.",
            "",
            head,
            *rows,
            "",
            f"gradual kinds together: {fixed / events:.3f} at the level, "
            f"{bought / events:.3f} at the budget, of {events}.",
        )
    )


def _shown(collector: Collector, kind: str, seed: int) -> tuple[Rows, Rows]:
    """Return what a turn learns from: rows without `kind`, quiet ones thinned."""
    random = torch.Generator().manual_seed(seed)
    gpu, node = (thinned(rows, QUIET_RATIO, random) for rows in collector.rows(kind))
    return gpu, node


def _looked_at(graph: Graph, whole: Episode) -> tuple[Course, Scored]:
    scored = score(graph, whole)
    course = Course(
        whole.node, whole.kind, whole.outcome, whole.onset_hours, whole.end_hours,
        scored.hours, whole.sudden,
    )  # fmt: skip
    return course, scored


def _judge(
    graph: Graph,
    kind: str,
    strangers: list[tuple[Course, Scored]],
    quiet: list[tuple[Course, Scored]],
) -> Stranger:
    both = [*strangers, *quiet]
    courses = [course for course, _ in both]
    horizon = list(HORIZONS).index(HEADLINE[0])
    values = [_probability(graph, scored)[:, horizon] for _, scored in both]
    found = verdicts(courses, values, HEADLINE[1])
    leads = [verdict.lead_hours for verdict in found if verdict.lead_hours is not None]
    return Stranger(
        kind=kind,
        cause=str(STORIES[kind].cause),
        sudden=STORIES[kind].pace is Pace.SUDDEN,
        events=len(strangers),
        detected=len(leads),
        false_alerts_per_node_week=(
            sum(verdict.false_alerts for verdict in found) / exposed_weeks(courses)
        ),
        detected_at_budget=within(points(courses, values), BUDGET).detected,
        lead_hours_quartiles=quartiles(leads),
    )


def _probability(graph: Graph, scored: Scored) -> NDArray[np.float32]:
    """Return the node's probability [moment, horizon]."""
    layer = graph.hazard
    with torch.no_grad():
        rows = scored.gpu.flatten(0, 1)
        gpu = layer.gpu(layer.gpu.standardise(rows), layer.base_rate_log)
        gpu = gpu.reshape(*scored.gpu.shape[:2], len(GPU_CAUSES), len(EDGES_HOURS) - 1)
        node = layer.node(layer.node.standardise(scored.node), layer.base_rate_log)
        told: NDArray[np.float32] = reached(gpu.sum((1, 2)) + node.sum(1)).numpy()
    return told
