"""Fits TadGAN: Wasserstein losses with gradient penalty, and cycle consistency.

Losses and their weights 1 : 1 : 10 are the paper's.  Beyond it, whole channels
are hidden from the encoder at random while the reconstruction is still held
against them: the networks must know how channels go together, and sites that
lack some of them are the normal case.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from model.training.network.tadgan import LatentCritic, TadGan

if TYPE_CHECKING:
    from collections.abc import Callable

GRADIENT_PENALTY = 10.0
CYCLE_WEIGHT = 10.0
SMOOTHING = 0.95
RUNAWAY = 1.0e4


class Diverged(Exception):
    """The adversarial game left its ground; no artefact is written."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """Iterations of one encoder/generator step after `critic_steps` critic steps."""

    iterations: int = 1200
    batch: int = 64
    critic_steps: int = 2
    learning_rate: float = 1.0e-3
    hide_ratio: float = 0.15
    patience_iterations: int = 400


class Losses(NamedTuple):
    """One iteration's losses; `cycle` is the mean squared reconstruction error."""

    window_critic: float
    latent_critic: float
    cycle: float


class Watch:
    """Ends a run whose losses are not finite, run away, or whose error climbs back up."""

    def __init__(self, patience: int) -> None:
        self._patience = patience
        self._smooth = math.nan
        self._best = math.inf
        self._best_at = 0

    def check(self, iteration: int, losses: Losses) -> None:
        """Raise `Diverged` with the iteration and what was seen."""
        if not all(map(math.isfinite, losses)):
            raise Diverged(f"iteration {iteration}: a loss is not finite ({losses})")
        if max(abs(losses.window_critic), abs(losses.latent_critic)) > RUNAWAY:
            raise Diverged(f"iteration {iteration}: a critic ran away ({losses})")
        first = math.isnan(self._smooth)
        blend = losses.cycle * (1 - SMOOTHING) + self._smooth * SMOOTHING
        self._smooth = losses.cycle if first else blend
        if self._smooth < self._best:
            self._best, self._best_at = self._smooth, iteration
        elif self._smooth > 2 * self._best and iteration - self._best_at > self._patience:
            raise Diverged(
                f"iteration {iteration}: reconstruction error {self._smooth:.3f} is twice its "
                f"best {self._best:.3f} of iteration {self._best_at}"
            )


class Trainer:
    """Holds the four networks, their optimisers and the generator of all randomness."""

    def __init__(self, tadgan: TadGan, schedule: Schedule, seed: int) -> None:
        self.tadgan = tadgan
        self.latent_critic = LatentCritic(tadgan.size)
        self.schedule = schedule
        self.random = torch.Generator().manual_seed(seed)
        self._window_step = self._adam(tadgan.critic)
        self._latent_step = self._adam(self.latent_critic)
        self._rebuild_step = self._adam(tadgan.encoder, tadgan.generator)

    def fit(self, values: Tensor, seen: Tensor, report: Callable[[int, Losses], None]) -> None:
        """Train on healthy windows and masks [row, step, channel], standardised."""
        watch = Watch(self.schedule.patience_iterations)
        self.tadgan.train()
        for iteration in range(self.schedule.iterations):
            self._cool(iteration)
            losses = self._iterate(values, seen)
            watch.check(iteration, losses)
            report(iteration, losses)
        self.tadgan.eval()

    def _iterate(self, values: Tensor, seen: Tensor) -> Losses:
        window = latent = 0.0
        for _ in range(self.schedule.critic_steps):
            rows, mask = self._batch(values, seen)
            window = self._teach_window_critic(rows, mask)
            latent = self._teach_latent_critic(rows, mask)
        return Losses(window, latent, self._teach_rebuilding(*self._batch(values, seen)))

    def _teach_window_critic(self, rows: Tensor, mask: Tensor) -> float:
        critic = self.tadgan.critic
        with torch.no_grad():
            fake = self.tadgan.generator(self._noise(len(rows)))
        share = torch.rand((len(rows), 1, 1), generator=self.random)
        between = (share * rows + (1 - share) * fake).requires_grad_()
        penalty = _penalty(critic(between, mask), between)
        loss = critic(fake, mask).mean() - critic(rows, mask).mean()
        return _step(self._window_step, loss + GRADIENT_PENALTY * penalty)

    def _teach_latent_critic(self, rows: Tensor, mask: Tensor) -> float:
        with torch.no_grad():
            fake = self.tadgan.encoder(rows * mask, mask)
        real = self._noise(len(rows))
        share = torch.rand((len(rows), 1), generator=self.random)
        between = (share * real + (1 - share) * fake).requires_grad_()
        penalty = _penalty(self.latent_critic(between), between)
        loss = self.latent_critic(fake).mean() - self.latent_critic(real).mean()
        return _step(self._latent_step, loss + GRADIENT_PENALTY * penalty)

    def _teach_rebuilding(self, rows: Tensor, mask: Tensor) -> float:
        tadgan = self.tadgan
        shown = mask * self._hidden_channels(mask)
        latent = tadgan.encoder(rows * shown, shown)
        rebuilt = tadgan.generator(latent)
        cycle = ((rebuilt - rows) ** 2 * mask).sum() / mask.sum().clamp(min=1.0)
        fooled = tadgan.critic(tadgan.generator(self._noise(len(rows))), mask).mean()
        ordinary = self.latent_critic(latent).mean()
        _step(self._rebuild_step, CYCLE_WEIGHT * cycle - fooled - ordinary)
        return float(cycle.detach())

    def _batch(self, values: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
        rows = torch.randint(len(values), (self.schedule.batch,), generator=self.random)
        return values[rows], seen[rows]

    def _hidden_channels(self, mask: Tensor) -> Tensor:
        shown = torch.rand((len(mask), 1, mask.shape[-1]), generator=self.random)
        return (shown >= self.schedule.hide_ratio).to(mask.dtype)

    def _noise(self, rows: int) -> Tensor:
        return torch.randn((rows, self.tadgan.size.latent), generator=self.random)

    def _cool(self, iteration: int) -> None:
        """Cosine from the full learning rate to a twentieth: the game ends calm."""
        done = iteration / max(self.schedule.iterations, 1)
        rate = self.schedule.learning_rate * (0.05 + 0.95 * (1 + math.cos(math.pi * done)) / 2)
        for optimiser in (self._window_step, self._latent_step, self._rebuild_step):
            for group in optimiser.param_groups:
                group["lr"] = rate

    def _adam(self, *networks: nn.Module) -> torch.optim.Adam:
        weights = [weight for network in networks for weight in network.parameters()]
        return torch.optim.Adam(weights, lr=self.schedule.learning_rate, betas=(0.5, 0.9))


def _penalty(value: Tensor, at: Tensor) -> Tensor:
    """Squared distance of the gradient's norm from 1, per row, averaged."""
    (gradient,) = torch.autograd.grad(value.sum(), at, create_graph=True)
    norm = torch.sqrt((gradient * gradient).flatten(1).sum(1) + 1e-12)
    return ((norm - 1.0) ** 2).mean()


def _step(optimiser: torch.optim.Adam, loss: Tensor) -> float:
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()
    return float(loss.detach())
