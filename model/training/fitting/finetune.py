"""From a fleet's model to one node's: its own weights of TadGAN, its own frozen constants.

What a channel means (scaling) and what evidence is worth (hazards) stay the
fleet's: a node's month is far more constant than a fleet, and a scale taken
from it would make one quantum of a sensor an alarm.  The node's constants
never become much narrower than the fleet's, for the same reason.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.optim.adam import adam

from model import schema
from model.training.fitting.pipeline import same_width
from model.training.fitting.rows import MOMENTS_AT_ONCE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import nn

    from model.training.episodes.dataset import Episode
    from model.training.network.graph import Graph
    from model.training.network.scaling import View

NARROWEST = 0.5
"""A node's spread is never below this share of the fleet's."""
SEEN_RATIO = 0.05
"""A channel that the node shows less often than this keeps the fleet's constants."""
WORSE = 1.02
"""The tuned reconstruction may be this much worse on held-out time before it is refused."""
ALARM = 0.05
"""A probability within 24 h above this is an alert (`alerts/predictions.rules.yml`)."""
CONSTANTS = ("residual", "error")
FEW_MOMENTS = 16
"""So many windows of a node in all their forms are a tenth of a gigabyte less than 128."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """How a node's weights are tuned: windows of training, steps, rows of a step."""

    windows: int = 1_600
    iterations: int = 240
    batch: int = 64
    learning_rate: float = 2.0e-4
    hide_ratio: float = 0.15
    least_hours: float = 72.0
    """Less quiet time of a node than this says too little of it."""


class Kept(Exception):
    """The node keeps the fleet's model; says why."""


class Windows(NamedTuple):
    """Healthy windows [moment, gpu, step, channel]: to train on, and later ones to judge by."""

    fit: Tensor
    held: Tensor


def sample(episodes: Iterable[Episode], steps: int, count: int, seed: int) -> Tensor:
    """Draw about `count` windows from episodes that span `steps` grid steps."""
    rng = np.random.default_rng([seed, 21])
    parts = []
    for whole in episodes:
        length = len(whole.hours)
        share = max(1, round(count * length / max(steps, 1)))
        moments = np.sort(rng.integers(schema.WINDOW_STEPS, length, share))
        windows = whole.windows(moments, schema.WINDOW_STEPS)
        parts.append(torch.from_numpy(windows))
    if not parts:
        raise Kept("no stretch of quiet time")
    return torch.cat(same_width(parts))


def tune(fleet: Graph, windows: Windows, tuning: Tuning, seed: int) -> Graph:
    """Return the node's graph; raises `Kept` where the fleet's serves the node better."""
    graph = copy.deepcopy(fleet)
    _fit(graph, windows.fit, tuning, seed)
    before, after = (rebuilding_error(one, windows.held) for one in (fleet, graph))
    if not after <= before * WORSE:
        raise Kept(f"tuned weights rebuild held-out time worse ({after:.4f}, fleet {before:.4f})")
    freeze(graph, fleet, windows.held)
    high, usual = (_highest(one, windows.held) for one in (graph, fleet))
    if high > max(usual, ALARM):
        raise Kept(f"the tuned model alarms in quiet time ({high:.2f}, fleet {usual:.2f})")
    return graph


def rebuilding_error(graph: Graph, windows: Tensor) -> float:
    """Return the mean squared error of the reconstruction over what was seen."""
    total = count = 0.0
    with torch.no_grad():
        for view in _views(graph, windows):
            values, seen = view.values.flatten(0, -3), view.seen.flatten(0, -3)
            rebuilt, _ = graph.tadgan(values, seen)
            total += float((((rebuilt - values) ** 2) * seen).sum())
            count += float(seen.sum())
    return total / max(count, 1.0)


def freeze(graph: Graph, fleet: Graph, windows: Tensor) -> None:
    """Set the node's constants from held-out windows, held to the fleet's where it says little."""
    with torch.no_grad():
        view = graph.scaling(windows)
        graph.scorer.freeze(graph.raw(view))
        graph.gather.freeze(view)
        seen = view.seen.flatten(0, -2).mean(0) > SEEN_RATIO
        scorer, theirs = graph.scorer, fleet.scorer
        for name in CONSTANTS:
            _hold(scorer, theirs, f"{name}_mean", f"{name}_spread", seen)
        _narrowest(scorer.critic_spread, theirs.critic_spread)
        _narrowest(graph.gather.peer_spread, fleet.gather.peer_spread)
        scorer.typical.copy_(torch.ones(()))
        scorer.typical.copy_(scorer(graph.raw(view)).score.mean())


def _fit(graph: Graph, windows: Tensor, tuning: Tuning, seed: int) -> None:
    """Tune encoder and generator to rebuild the node's windows; the critic stays the fleet's."""
    random = torch.Generator().manual_seed(seed)
    values, seen = _standardised(graph, windows)
    tadgan = graph.tadgan.train()
    step = Climb([*tadgan.encoder.parameters(), *tadgan.generator.parameters()], tuning)
    for _ in range(tuning.iterations):
        rows = torch.randint(len(values), (tuning.batch,), generator=random)
        batch, mask = values[rows], seen[rows]
        hidden = torch.rand((len(rows), 1, batch.shape[-1]), generator=random)
        shown = mask * (hidden >= tuning.hide_ratio).to(mask.dtype)
        rebuilt = tadgan.generator(tadgan.encoder(batch * shown, shown))
        loss = (((rebuilt - batch) ** 2) * mask).sum() / mask.sum().clamp(min=1.0)
        if not torch.isfinite(loss):
            raise Kept("tuning went astray: the error is not finite")
        step(loss)
    tadgan.eval()


class Climb:
    """Adam by its function: the class imports the framework's compiler, 150 MB, to step."""

    def __init__(self, weights: list[Tensor], tuning: Tuning) -> None:
        self._weights = weights
        self._means = [torch.zeros_like(one) for one in weights]
        self._squares = [torch.zeros_like(one) for one in weights]
        self._steps = [torch.zeros(()) for _ in weights]
        self._tuning = tuning

    def __call__(self, loss: Tensor) -> None:
        """Move the weights against the gradient of `loss`."""
        gradients = torch.autograd.grad(loss, self._weights)
        with torch.no_grad():
            adam(
                self._weights,
                list(gradients),
                self._means,
                self._squares,
                [],
                self._steps,
                foreach=False,
                amsgrad=False,
                beta1=0.9,
                beta2=0.999,
                lr=self._tuning.learning_rate,
                weight_decay=0.0,
                eps=1e-8,
                maximize=False,
            )


def _standardised(graph: Graph, windows: Tensor) -> tuple[Tensor, Tensor]:
    """Return values and mask [row, step, channel]; every form of all windows is four times that."""
    values = torch.empty_like(windows)
    seen = torch.empty_like(windows)
    with torch.no_grad():
        parts = zip(*(one.split(FEW_MOMENTS) for one in (windows, values, seen)), strict=True)
        for part, value, mask in parts:
            view = graph.scaling(part)
            value.copy_(view.values)
            mask.copy_(view.seen)
    return values.flatten(0, 1), seen.flatten(0, 1)


def _highest(graph: Graph, windows: Tensor) -> float:
    """Return the highest probability within 24 h over the windows, each from a cold start."""
    horizon = list(schema.HORIZONS).index("24h")
    highest = 0.0
    with torch.no_grad():
        for window in windows:
            state = torch.zeros((window.shape[0], graph.memory.width))
            highest = max(highest, float(graph(window, state).node_probability[horizon]))
    return highest


def _views(graph: Graph, windows: Tensor) -> Iterable[View]:
    return (graph.scaling(part) for part in windows.split(MOMENTS_AT_ONCE))


def _hold(own: nn.Module, fleet: nn.Module, mean: str, spread: str, seen: Tensor) -> None:
    for name in (mean, spread):
        mine, theirs = getattr(own, name), getattr(fleet, name)
        mine.copy_(torch.where(seen, mine, theirs))
    _narrowest(getattr(own, spread), getattr(fleet, spread))


def _narrowest(own: Tensor, fleet: Tensor) -> None:
    own.copy_(torch.maximum(own, NARROWEST * fleet))
