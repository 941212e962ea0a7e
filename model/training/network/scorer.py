"""Causal scores: only the past, with constants frozen on held-out healthy data.

The published scorer smooths with the future and standardises by the batch it
is shown.  Here every constant is a buffer of the graph, so a series scores the
same however it is cut.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

TAIL_STEPS = 16
"""Latest steps over which signed residuals and recent behaviour are averaged."""

SMALLEST_SPREAD = 0.02
"""Floor of a frozen standard deviation, in standardised units."""

LIMIT = 30.0
"""Scores are held below LIMIT healthy standard deviations."""


class Scores(NamedTuple):
    """`residual` is signed, `error` and `critic` are excesses ≥ 0, all in healthy deviations."""

    residual: Tensor  # [gpu, channel]
    error: Tensor  # [gpu, channel]
    critic: Tensor  # [gpu]
    score: Tensor  # [gpu], 1 = typical
    contribution: Tensor  # [gpu, channel], sums to at most 1


class Raw(NamedTuple):
    """Scores before standardising, with what was observed."""

    residual: Tensor
    error: Tensor
    recent: Tensor
    observed: Tensor
    critic: Tensor


def measure(values: Tensor, seen: Tensor, rebuilt: Tensor, critic: Tensor) -> Raw:
    """Average the reconstruction errors [..., step, channel] over the steps that were seen."""
    difference = (values - rebuilt) * seen
    tail = seen[..., -TAIL_STEPS:, :]
    count, recent = seen.sum(-2), tail.sum(-2)
    return Raw(
        residual=difference[..., -TAIL_STEPS:, :].sum(-2) / recent.clamp(min=1.0),
        error=difference.abs().sum(-2) / count.clamp(min=1.0),
        recent=(recent > 0).to(values.dtype),
        observed=(count > 0).to(values.dtype),
        critic=critic,
    )


class Scorer(nn.Module):
    """Standardises raw scores; `typical` is the healthy mean of the combined score."""

    residual_mean: Tensor
    residual_spread: Tensor
    error_mean: Tensor
    error_spread: Tensor
    critic_mean: Tensor
    critic_spread: Tensor
    typical: Tensor

    def __init__(self, channels: int) -> None:
        super().__init__()
        for name in ("residual", "error"):
            self.register_buffer(f"{name}_mean", torch.zeros(channels))
            self.register_buffer(f"{name}_spread", torch.ones(channels))
        self.register_buffer("critic_mean", torch.zeros(()))
        self.register_buffer("critic_spread", torch.ones(()))
        self.register_buffer("typical", torch.ones(()))

    def freeze(self, raw: Raw) -> None:
        """Set every constant from held-out healthy rows."""
        for name, values, mask in (
            ("residual", raw.residual, raw.recent),
            ("error", raw.error, raw.observed),
        ):
            mean, spread = _moments(values.flatten(0, -2), mask.flatten(0, -2))
            getattr(self, f"{name}_mean").copy_(mean)
            getattr(self, f"{name}_spread").copy_(spread)
        self.critic_mean.copy_(raw.critic.mean())
        self.critic_spread.copy_(raw.critic.std().clamp(min=SMALLEST_SPREAD))
        self.typical.copy_(self(raw).score.mean() * self.typical)

    def forward(self, raw: Raw) -> Scores:
        """Combine as the paper's product: (1 + reconstruction) x (1 + critic), over the typical."""
        residual = (raw.residual - self.residual_mean) / self.residual_spread * raw.recent
        error = ((raw.error - self.error_mean) / self.error_spread).clamp(0.0, LIMIT) * raw.observed
        alive = (raw.observed.sum(-1) > 0).to(error.dtype)
        critic = ((raw.critic - self.critic_mean).abs() / self.critic_spread).clamp(max=LIMIT)
        critic = critic * alive
        squares = error * error
        total = squares.sum(-1)
        rebuilt = torch.sqrt(total / raw.observed.sum(-1).clamp(min=1.0))
        return Scores(
            residual=residual.clamp(-LIMIT, LIMIT),
            error=error,
            critic=critic,
            score=(1.0 + rebuilt) * (1.0 + critic) / self.typical,
            contribution=squares / (1.0 + total).unsqueeze(-1),
        )


def _moments(values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and floored standard deviation per channel; channels never seen get 0 and 1."""
    count = mask.sum(0)
    mean = (values * mask).sum(0) / count.clamp(min=1.0)
    variance = ((values - mean) ** 2 * mask).sum(0) / count.clamp(min=1.0)
    spread = variance.sqrt().clamp(min=SMALLEST_SPREAD)
    return mean, torch.where(count > 1, spread, torch.ones_like(spread))
