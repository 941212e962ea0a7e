"""TadGAN fitted in two stages: first it learns to rebuild, then all four networks play the game.

Played from the start, the game keeps the encoder from learning: the critic of
latents pulls at each of its 20,000 inputs, and the reconstruction is no better
than a window's mean.  After rebuilding, the latents are whitened, which changes
no reconstruction and leaves the critic of latents little to ask for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from model.training.fitting.fit import CYCLE_WEIGHT, Losses, Schedule, Trainer

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from model.training.network.published import PublishedTadGan

BATCH = 16
CRITIC_STEPS = 5
RATE = 1.0e-4
WINDOW_CRITIC_RATIO, LATENT_CRITIC_RATIO = 5.0, 30.0
"""Learning rates of the critics over the encoder's and generator's: a critic must keep up."""

LEAST_VARIANCE_RATIO = 1.0e-4
"""Directions of the latents with less of the greatest variance are not blown up."""

UNWATCHED = 1_000_000
"""Nothing is shipped from here: a run whose error climbs is judged by its F1."""


@dataclass(frozen=True, slots=True)
class Stages:
    """Iterations of both stages, and the learning rate of the first."""

    rebuilding: int
    rebuilding_rate: float
    game: int


class Player(Trainer):
    """The published losses with a learning rate for each network."""

    def __init__(self, tadgan: PublishedTadGan, seed: int, iterations: int, rate: float) -> None:
        schedule = Schedule(
            iterations=iterations,
            batch=BATCH,
            critic_steps=CRITIC_STEPS,
            learning_rate=rate,
            hide_ratio=0.0,
            patience_iterations=UNWATCHED,
        )
        super().__init__(tadgan, schedule, seed)

    def rebuild(self, rows: Tensor) -> None:
        """Teach encoder and generator alone, by the published loss of the cycle."""
        self.tadgan.train()
        seen = torch.ones_like(rows[:BATCH])
        for iteration in range(self.schedule.iterations):
            self._cool(iteration)
            batch = rows[torch.randint(len(rows), (BATCH,), generator=self.random)]
            guess = self.tadgan.generator(self.tadgan.encoder(batch, seen))
            loss = CYCLE_WEIGHT * ((guess - batch) ** 2).mean()
            self._rebuild_step.zero_grad(set_to_none=True)
            loss.backward()
            self._rebuild_step.step()
        self.tadgan.eval()

    def _cool(self, iteration: int) -> None:
        """Cosine as the product's, for each optimiser from its own rate."""
        done = iteration / max(self.schedule.iterations, 1)
        share = 0.05 + 0.95 * (1 + math.cos(math.pi * done)) / 2
        for optimiser, ratio in (
            (self._window_step, WINDOW_CRITIC_RATIO),
            (self._latent_step, LATENT_CRITIC_RATIO),
            (self._rebuild_step, 1.0),
        ):
            for group in optimiser.param_groups:
                group["lr"] = self.schedule.learning_rate * ratio * share


def rebuild(tadgan: PublishedTadGan, rows: Tensor, stages: Stages, seed: int) -> None:
    """Run the first stage on windows [window, step, 1]."""
    Player(tadgan, seed, stages.rebuilding, stages.rebuilding_rate).rebuild(rows)


def play(
    tadgan: PublishedTadGan,
    rows: Tensor,
    stages: Stages,
    seed: int,
    *,
    latent: dict[str, Tensor] | None = None,
    report: Callable[[int, Losses], None] = lambda *_: None,
) -> dict[str, Tensor]:
    """Run the second stage; returns the weights of the critic of latents, begun from `latent`."""
    player = Player(tadgan, seed, stages.game, RATE)
    if latent is not None:
        player.latent_critic.load_state_dict(latent)
    player.fit(rows, torch.ones_like(rows), report)
    return dict(player.latent_critic.state_dict())


def whiten(tadgan: PublishedTadGan, rows: Tensor) -> None:
    """Give the latents of these windows mean 0 and covariance 1; what is rebuilt stays the same."""
    with torch.no_grad():
        latents = torch.cat([tadgan.encoder(batch, batch) for batch in rows.split(512)])
        mean = latents.mean(0)
        variance, axes = torch.linalg.eigh(torch.cov(latents.T))
        spread = variance.clamp(min=float(variance.max()) * LEAST_VARIANCE_RATIO).sqrt()
        forth, back = axes @ torch.diag(1 / spread) @ axes.T, axes @ torch.diag(spread) @ axes.T
        read, spill = tadgan.encoder.latent, tadgan.generator.spread
        read.weight.copy_(forth @ read.weight)
        read.bias.copy_(forth @ (read.bias - mean))
        spill.bias.add_(spill.weight @ mean)
        spill.weight.copy_(spill.weight @ back)
