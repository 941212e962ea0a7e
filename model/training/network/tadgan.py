"""TadGAN (Geiger et al. 2020): encoder, generator, a critic on windows and one on latents.

The `node` preset reads and writes all channels of one GPU with its node's
context.  It differs from the published sizes to fit a DaemonSet: four steps
make one token, so each LSTM takes 16 steps instead of 64.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

LEAK = 0.2


@dataclass(frozen=True, slots=True)
class Size:
    """Widths of the networks; `steps` must be a multiple of `patch`."""

    steps: int = 64
    patch: int = 4
    token: int = 32
    hidden: int = 32
    latent: int = 16
    seed_token: int = 8
    critic: int = 32

    @property
    def tokens(self) -> int:
        """Tokens in a window."""
        return self.steps // self.patch


NODE = Size()


class Encoder(nn.Module):
    """Window and mask [row, step, channel] → latent [row, latent]."""

    def __init__(self, channels: int, size: Size) -> None:
        super().__init__()
        self.size = size
        self.embed = nn.Linear(2 * channels * size.patch, size.token)
        self.lstm = nn.LSTM(size.token, size.hidden, batch_first=True, bidirectional=True)
        self.latent = nn.Linear(2 * size.hidden, size.latent)

    def forward(self, values: Tensor, seen: Tensor) -> Tensor:
        """Both ends of the window are read out: the backward half has seen it all at token 0."""
        both = torch.cat((values, seen), -1)
        tokens = torch.tanh(
            self.embed(both.reshape(-1, self.size.tokens, both.shape[-1] * self.size.patch))
        )
        hidden, _ = self.lstm(tokens, _rest(tokens, 2, self.size.hidden))
        forward, backward = hidden[:, -1, : self.size.hidden], hidden[:, 0, self.size.hidden :]
        return torch.as_tensor(self.latent(torch.cat((forward, backward), -1)))


class Generator(nn.Module):
    """Latent [row, latent] → window [row, step, channel], in standardised units."""

    def __init__(self, channels: int, size: Size) -> None:
        super().__init__()
        self.size = size
        self.channels = channels
        self.spread = nn.Linear(size.latent, size.tokens * size.seed_token)
        self.lstm = nn.LSTM(size.seed_token, size.hidden, batch_first=True, bidirectional=True)
        self.write = nn.Linear(2 * size.hidden, channels * size.patch)

    def forward(self, latent: Tensor) -> Tensor:
        """Linear output, not tanh: readings beyond the training range must stay expressible."""
        tokens = torch.tanh(self.spread(latent)).reshape(-1, self.size.tokens, self.size.seed_token)
        hidden, _ = self.lstm(tokens, _rest(tokens, 2, self.size.hidden))
        return torch.as_tensor(self.write(hidden)).reshape(-1, self.size.steps, self.channels)


class WindowCritic(nn.Module):
    """Window and mask → how real the window looks, [row]; unbounded."""

    def __init__(self, channels: int, size: Size) -> None:
        super().__init__()
        wide = size.critic
        self.layers = nn.Sequential(
            nn.Conv1d(2 * channels, wide, 4, stride=4),
            nn.LeakyReLU(LEAK),
            nn.Conv1d(wide, wide, 3, stride=2, padding=1),
            nn.LeakyReLU(LEAK),
            nn.Conv1d(wide, wide, 3, stride=2, padding=1),
            nn.LeakyReLU(LEAK),
            nn.Flatten(),
            nn.Linear(wide * (size.steps // 16), 1),
        )

    def forward(self, values: Tensor, seen: Tensor) -> Tensor:
        """The mask is shown too, so that real and generated windows differ only in what is seen."""
        both = torch.cat((values * seen, seen), -1).transpose(1, 2)
        return torch.as_tensor(self.layers(both)).squeeze(-1)


class LatentCritic(nn.Module):
    """Latent → how normally distributed it looks, [row]; used in training only."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(size.latent, size.critic),
            nn.LeakyReLU(LEAK),
            nn.Linear(size.critic, size.critic),
            nn.LeakyReLU(LEAK),
            nn.Linear(size.critic, 1),
        )

    def forward(self, latent: Tensor) -> Tensor:
        """Score each latent."""
        return torch.as_tensor(self.layers(latent)).squeeze(-1)


class TadGan(nn.Module):
    """The three networks that the artefact carries."""

    def __init__(self, channels: int, size: Size = NODE) -> None:
        super().__init__()
        self.size = size
        self.encoder = Encoder(channels, size)
        self.generator = Generator(channels, size)
        self.critic = WindowCritic(channels, size)

    def forward(self, values: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Return the reconstruction [row, step, channel] and the critic's value [row]."""
        return self.generator(self.encoder(values, seen)), self.critic(values, seen)


def _rest(tokens: Tensor, directions: int, hidden: int) -> tuple[Tensor, Tensor]:
    # Spelled out with the batch size of the input, so that the exported LSTM
    # keeps a free GPU axis.
    zeros = tokens.new_zeros((directions, tokens.shape[0], hidden))
    return zeros, zeros
