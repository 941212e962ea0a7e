"""From a plan to an artefact: every step of a training run, in order."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import onnx
import torch
from torch import Tensor

from model import schema
from model.artefact import ArtefactInfo, ChannelUse, Evaluation, Provenance, Training
from model.training.episodes.dataset import REQUIRED, draw_profile, masked
from model.training.episodes.plan import LEARNED, Amounts, Split, plan
from model.training.episodes.stock import Simulated
from model.training.fitting import base_rate, fit, voices
from model.training.fitting.climb import Search
from model.training.fitting.rows import MOMENTS_AT_ONCE, Collector, field_weights, score
from model.training.network.graph import Graph
from model.training.network.hazard import GPU_CAUSES, NODE_CAUSES
from simulator.instruments.shown import SHOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from model.schema import Cause
    from model.training.episodes.dataset import Episode
    from model.training.episodes.stock import Stock
    from model.training.fitting.likelihood import Rows

    Report = Callable[[str, int, int, str], None]
    """Called with (stage, done, total, note)."""

AFTERMATH_WEIGHT = {Split.FIT: 0.25, Split.HELD: 0.0}
"""What rows after a failure count: enough that the gauge does not fall when it has come true,

and nothing where the fit is judged and set straight: a probability is for what is ahead.
"""

THREADS = 1
"""Fixed, since sums split over another number of threads round differently; and one, since
the networks are small: on a busy machine a second thread costs far more than it brings."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides the weights, besides the machine."""

    seed: int
    amounts: Mapping[Split, Amounts]
    schedule: fit.Schedule = field(default_factory=fit.Schedule)
    search: Search = field(default_factory=Search)
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

    def __init__(
        self, recipe: Recipe, report: Report, stocks: Mapping[Split, Stock] | None = None
    ) -> None:
        """`stocks` is what is learned from; nothing given: what the recipe simulates."""
        self.recipe = recipe
        self.report = report
        self.stocks = simulated(recipe) if stocks is None else stocks
        self._gpus: set[int] = set()

    def train(self) -> Trained:
        """Run all steps; raises `fit.Diverged`."""
        self.settle()
        graph = self.scored_graph()
        self.fit_hazards(graph, {split: self.collect(graph, split).rows() for split in LEARNED})
        return Trained(graph, self._told())

    def settle(self) -> None:
        """Fix everything on which the same recipe could come to other weights."""
        reproducible()
        torch.manual_seed(self.recipe.seed)

    def scored_graph(self) -> Graph:
        """Return a graph that knows healthy nodes, and nothing of failures yet."""
        graph: Graph = Graph(list(SHOWN)).eval()
        self._fit_tadgan(graph, self._healthy(Split.FIT, self.recipe.windows, "healthy windows"))
        self._freeze(graph, self._healthy(Split.HELD, self.recipe.windows // 5, "held-out windows"))
        return graph

    def _healthy(self, split: Split, rows: int, stage: str) -> Tensor:
        """Sample windows [moment, gpu, step, channel] of nodes on which nothing fails."""
        stock = self.stocks[split]
        rng = np.random.default_rng([self.recipe.seed, 11, stock.quiet_records])
        parts = []
        for whole in self.stream(stock, stage, quiet=True):
            steps = len(whole.hours)
            count = max(1, round(rows / 8 * steps / stock.quiet_steps))
            moments = np.sort(rng.integers(schema.WINDOW_STEPS, steps, count))
            seen = masked(whole, draw_profile(rng), rng)
            parts.append(torch.from_numpy(seen.windows(moments, schema.WINDOW_STEPS)))
        return torch.cat(same_width(parts))

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
        total = self.recipe.search.epochs * graph.hazard.voices

        def tell(epoch: int, loss: float) -> None:
            self.report("hazards", epoch + 1, total, f"held-out cost {loss:.3f}")

        voices.fit(
            graph.hazard,
            rows[Split.FIT],
            rows[Split.HELD],
            search=self.recipe.search,
            seed=self.recipe.seed,
            report=tell,
        )

    def collect(self, graph: Graph, split: Split) -> Collector:
        """Score and label every record of one split."""
        stock = self.stocks[split]
        quiet = stock.quiet_steps * schema.STEP_SECONDS / 3600
        rng = np.random.default_rng([self.recipe.seed, 12, stock.records])
        collector = Collector(field_weights(stock.failures, quiet), rng, AFTERMATH_WEIGHT[split])
        for whole in self.stream(stock, f"scoring {split}", quiet=False):
            seen = masked(whole, draw_profile(rng), rng)
            collector.add(seen, score(graph, seen))
        return collector

    def stream(self, stock: Stock, stage: str, *, quiet: bool) -> Iterator[Episode]:
        """Yield the records of a stock, and report each when it is done with."""
        total = stock.quiet_records if quiet else stock.records
        for done, whole in enumerate(stock.episodes(quiet=quiet), 1):
            self._gpus.add(whole.gpus)
            yield whole
            self.report(stage, done, total, whole.kind)

    def _told(self) -> Training:
        stock = self.stocks[Split.FIT]
        # Rows are grid steps of one GPU.
        return Training(
            *stock.span,
            rows=stock.steps * 8,
            episodes=stock.records,
            seed=self.recipe.seed,
            left_out=tuple(sorted(self.recipe.left_out)),
            gpus=tuple(sorted(self._gpus)),
        )


def reproducible() -> None:
    """Let the framework come to the same numbers each time, or fail."""
    torch.set_num_threads(THREADS)
    # What `use_deterministic_algorithms` does, without the compiler that it imports, 150 MB.
    torch.set_deterministic_debug_mode("error")


def same_width(parts: list[Tensor]) -> list[Tensor]:
    """Give windows [moment, gpu, step, channel] of all nodes as many rows as the widest has.

    Its GPUs are repeated, in turn: nothing that compares them with each other
    changes by that, and a row of NaN would be a lost GPU.
    """
    rows = max(part.shape[1] for part in parts)
    return [part[:, torch.arange(rows) % part.shape[1]] for part in parts]


def simulated(recipe: Recipe) -> dict[Split, Stock]:
    """Return what the recipe says to simulate."""
    step = schema.STEP_SECONDS

    def drawn(split: Split, amounts: Amounts) -> Stock:
        left_out = frozenset() if split is Split.TEST else recipe.left_out
        planned = plan(split, amounts, seed=recipe.seed, step_seconds=step, left_out=left_out)
        return Simulated(planned, step)

    return {split: drawn(split, amounts) for split, amounts in recipe.amounts.items()}


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose model it is, and from what it was made."""

    provenance: Provenance = "bundled-simulated"
    node: str = ""
    """Empty: of a fleet."""
    base_rate: str = base_rate.FIELD
    """Where the base rate in the graph is from, in words."""


SHIPPED = Origin()


def describe(
    graph: Graph,
    training: Training,
    evaluation: Evaluation,
    *,
    version: str,
    timestamp: float,
    origin: Origin = SHIPPED,
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
        scope="node" if origin.node else "fleet",
        provenance=origin.provenance,
        node=origin.node,
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
        training_ranges=graph.scaling.ranges(),
        base_rate=base_rate.told(graph.hazard.base_rate_log, origin.base_rate),
    )


def _learned(causes: tuple[Cause, ...], rows: Rows) -> Tensor:
    """Mark [cause, 1] those of which the rows contain a failure."""
    shown = set(rows.cause[rows.interval >= 0].tolist())
    return torch.tensor([[float(index in shown)] for index in range(len(causes))])
