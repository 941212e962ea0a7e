"""From a plan to an artefact: every step of a training run, in order."""

from __future__ import annotations

import platform
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import onnx
import torch
from torch import Tensor

from model import schema
from model.artefact import ArtefactInfo, ChannelUse, Evaluation, Training
from model.training import fit, likelihood
from model.training.dataset import REQUIRED, draw_profile, episodes, masked
from model.training.graph import Graph
from model.training.hazard import GPU_CAUSES, NODE_CAUSES
from model.training.plan import Amounts, Split, plan
from model.training.rows import MOMENTS_AT_ONCE, Collector, field_weights, score
from simulator.shown import SHOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from model.schema import Cause
    from model.training.dataset import Episode
    from model.training.likelihood import Rows
    from model.training.plan import Planned

    Report = Callable[[str, int, int, str], None]
    """Called with (stage, done, total, note)."""

LEARNED = (Split.FIT, Split.HELD)

THREADS = 1
"""Fixed, since sums split over another number of threads round differently; and one, since
the networks are small: on a busy machine a second thread costs far more than it brings."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides the weights, besides the machine."""

    seed: int
    amounts: Mapping[Split, Amounts]
    schedule: fit.Schedule = field(default_factory=fit.Schedule)
    search: likelihood.Search = field(default_factory=likelihood.Search)
    windows: int = 12_000
    """Healthy windows that TadGAN is trained on; a fifth as many freeze the constants."""
    left_out: frozenset[str] = frozenset()
    """Kinds of story that training must not see, to learn what the artefact makes of strangers."""


@dataclass(frozen=True, slots=True)
class Trained:
    """A graph with its constants, and what it was trained on."""

    graph: Graph
    training: Training


class Run:
    """One training run; `report` hears of its progress."""

    def __init__(self, recipe: Recipe, report: Report) -> None:
        self.recipe = recipe
        self.report = report
        self.plans = {
            split: plan(
                split,
                amounts,
                seed=recipe.seed,
                step_seconds=schema.STEP_SECONDS,
                left_out=recipe.left_out,
            )
            for split, amounts in recipe.amounts.items()
        }

    def train(self) -> Trained:
        """Run all steps; raises `fit.Diverged`."""
        torch.set_num_threads(THREADS)
        torch.use_deterministic_algorithms(mode=True)
        torch.manual_seed(self.recipe.seed)
        graph = self.scored_graph()
        self.fit_hazards(graph, {split: self.collect(graph, split).rows() for split in LEARNED})
        return Trained(graph, self._told())

    def scored_graph(self) -> Graph:
        """Return a graph that knows healthy nodes, and nothing of failures yet."""
        graph: Graph = Graph(list(SHOWN)).eval()
        self._fit_tadgan(graph, self._healthy(Split.FIT, self.recipe.windows, "healthy windows"))
        self._freeze(graph, self._healthy(Split.HELD, self.recipe.windows // 5, "held-out windows"))
        return graph

    def _healthy(self, split: Split, rows: int, stage: str) -> Tensor:
        """Sample windows [moment, gpu, step, channel] of nodes on which nothing fails."""
        planned = [one for one in self.plans[split] if not _fails(one)]
        hours = sum(one.steps for one in planned)
        rng = np.random.default_rng([self.recipe.seed, 11, len(planned)])
        parts = []
        for whole in self.stream(planned, stage):
            steps = len(whole.hours)
            count = max(1, round(rows / 8 * steps / hours))
            moments = np.sort(rng.integers(schema.WINDOW_STEPS, steps, count))
            seen = masked(whole, draw_profile(rng), rng)
            parts.append(torch.from_numpy(seen.windows(moments, schema.WINDOW_STEPS)))
        return torch.cat(parts)

    def _fit_tadgan(self, graph: Graph, windows: Tensor) -> None:
        graph.scaling.freeze(windows.flatten(0, 1))
        # In parts: every form of all windows at once would be several times their size.
        views = [graph.scaling(part) for part in windows.split(MOMENTS_AT_ONCE)]
        values = torch.cat([view.values.flatten(0, 1) for view in views])
        seen = torch.cat([view.seen.flatten(0, 1) for view in views])
        del views
        trainer = fit.Trainer(graph.tadgan, self.recipe.schedule, self.recipe.seed)
        total = self.recipe.schedule.iterations

        def tell(iteration: int, losses: fit.Losses) -> None:
            self.report("TadGAN", iteration + 1, total, f"cycle {losses.cycle:.3f}")

        trainer.fit(values, seen, tell)

    def _freeze(self, graph: Graph, windows: Tensor) -> None:
        with torch.no_grad():
            view = graph.scaling(windows)
            raw = graph.raw(view)
            graph.scorer.freeze(raw)
            graph.gather.freeze(view)

    def fit_hazards(self, graph: Graph, rows: Mapping[Split, tuple[Rows, Rows]]) -> None:
        """Fit the hazard layer of `graph` on rows of `LEARNED` splits."""
        graph.hazard.gpu.learned.copy_(_learned(GPU_CAUSES, rows[Split.FIT][0]))
        graph.hazard.node.learned.copy_(_learned(NODE_CAUSES, rows[Split.FIT][1]))
        total = self.recipe.search.epochs

        def tell(epoch: int, loss: float) -> None:
            self.report("hazards", epoch + 1, total, f"held-out cost {loss:.3f}")

        likelihood.fit(
            graph.hazard,
            rows[Split.FIT],
            rows[Split.HELD],
            search=self.recipe.search,
            seed=self.recipe.seed,
            report=tell,
        )

    def collect(self, graph: Graph, split: Split) -> Collector:
        """Score and label every record of one split."""
        planned = self.plans[split]
        quiet = sum(one.steps for one in planned if not _fails(one)) * schema.STEP_SECONDS / 3600
        rng = np.random.default_rng([self.recipe.seed, 12, len(planned)])
        collector = Collector(field_weights(_failures(planned), quiet), rng)
        for whole in self.stream(planned, f"scoring {split}"):
            seen = masked(whole, draw_profile(rng), rng)
            collector.add(seen, score(graph, seen))
        return collector

    def stream(self, planned: list[Planned], stage: str) -> Iterator[Episode]:
        """Simulate the planned records one by one."""
        for done, whole in enumerate(episodes(planned, step_seconds=schema.STEP_SECONDS), 1):
            yield whole
            self.report(stage, done, len(planned), whole.kind)

    def _told(self) -> Training:
        planned = self.plans[Split.FIT]
        # Simulated time starts at 0; rows are grid steps of one GPU.
        return Training(
            first_timestamp=0.0,
            last_timestamp=float(max(one.steps for one in planned) * schema.STEP_SECONDS),
            rows=sum(one.steps for one in planned) * 8,
            episodes=len(planned),
            seed=self.recipe.seed,
            left_out=tuple(sorted(self.recipe.left_out)),
        )


def describe(
    graph: Graph, training: Training, evaluation: Evaluation, *, version: str, timestamp: float
) -> ArtefactInfo:
    """Everything that the artefact says of itself; `timestamp` is seconds since the epoch."""
    return ArtefactInfo(
        schema_version=schema.SCHEMA_VERSION,
        schema_fingerprint=schema.fingerprint(graph.names),
        channels=tuple(
            ChannelUse(name, schema.BY_NAME[name].unit, name in REQUIRED) for name in graph.names
        ),
        step_seconds=schema.STEP_SECONDS,
        window_steps=graph.tadgan.size.steps,
        state_width=graph.memory.width,
        horizons=tuple(schema.HORIZONS),
        causes=tuple(schema.Cause),
        scope="fleet",
        provenance="bundled-simulated",
        version=version,
        trained_timestamp=timestamp,
        training=training,
        evaluation=evaluation,
        frameworks={
            "numpy": np.__version__,
            "onnx": onnx.__version__,
            "python": platform.python_version(),
            "torch": torch.__version__.partition("+")[0],
        },
        seed=training.seed,
    )


def _fails(planned: Planned) -> bool:
    return _cause(planned) is not None


def _cause(planned: Planned) -> Cause | None:
    from simulator.faults import story

    return story(planned.kind).cause


def _failures(planned: list[Planned]) -> dict[Cause, int]:
    causes = [cause for one in planned if (cause := _cause(one)) is not None]
    return dict(sorted(Counter(causes).items()))


def _learned(causes: tuple[Cause, ...], rows: Rows) -> Tensor:
    """Mark [cause, 1] those of which the rows contain a failure."""
    shown = set(rows.cause[rows.interval >= 0].tolist())
    return torch.tensor([[float(index in shown)] for index in range(len(causes))])
