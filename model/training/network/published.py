"""The `paper` preset: TadGAN's published sizes, to be held against published results.

Sizes and losses follow Geiger et al. 2020 (arXiv 2009.07769) as their authors'
program has them: windows of 100 steps, 20 latents, an encoder LSTM of 100 and
generator LSTMs of 64 units per direction, convolutions of 64 in the critic.
The networks are plain ones of `model.training.network.tadgan`' kind, so that the
same `Trainer` fits them; the mask is there and not read, since published
series have no gaps once they are filled.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from model.training.network.tadgan import LEAK, Size, TadGan

PAPER = Size(steps=100, patch=1, hidden=100, latent=20, seed_token=1, critic=20)
"""`critic` is the width of the critic of latents; the other critic's is `FILTERS`."""

REBUILDING_UNITS = 64
FILTERS, REACH, LAYERS = 64, 5, 4
CRITIC_DROPOUT, GENERATOR_DROPOUT = 0.25, 0.2


class Encoder(nn.Module):
    """Window [row, step, channel] → latent [row, latent]: every step's state is read out."""

    def __init__(self, channels: int, size: Size) -> None:
        super().__init__()
        self.lstm = nn.LSTM(channels, size.hidden, batch_first=True, bidirectional=True)
        self.latent = nn.Linear(2 * size.hidden * size.steps, size.latent)

    def forward(self, values: Tensor, seen: Tensor) -> Tensor:
        """Read the whole window."""
        del seen
        hidden, _ = self.lstm(values)
        return torch.as_tensor(self.latent(hidden.flatten(1)))


class Generator(nn.Module):
    """Latent [row, latent] → window [row, step, channel] in [-1, 1]: half the steps, then all."""

    def __init__(self, channels: int, size: Size) -> None:
        super().__init__()
        units = REBUILDING_UNITS
        self.spread = nn.Linear(size.latent, size.steps // 2)
        self.coarse = nn.LSTM(1, units, batch_first=True, bidirectional=True)
        self.fine = nn.LSTM(2 * units, units, batch_first=True, bidirectional=True)
        self.drop = nn.Dropout(GENERATOR_DROPOUT)
        self.write = nn.Linear(2 * units, channels)

    def forward(self, latent: Tensor) -> Tensor:
        """Write the window."""
        coarse, _ = self.coarse(self.spread(latent).unsqueeze(-1))
        fine, _ = self.fine(self.drop(coarse).repeat_interleave(2, dim=1))
        return torch.tanh(self.write(self.drop(fine)))


class WindowCritic(nn.Module):
    """Window [row, step, channel] → how real it looks, [row]; unbounded."""

    def __init__(self, channels: int, size: Size) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for wide in (channels, *[FILTERS] * (LAYERS - 1)):
            layers += [nn.Conv1d(wide, FILTERS, REACH), nn.LeakyReLU(LEAK)]
            layers += [nn.Dropout(CRITIC_DROPOUT)]
        left = size.steps - LAYERS * (REACH - 1)
        self.layers = nn.Sequential(*layers, nn.Flatten(), nn.Linear(FILTERS * left, 1))

    def forward(self, values: Tensor, seen: Tensor) -> Tensor:
        """Judge each window."""
        del seen
        return torch.as_tensor(self.layers(values.transpose(1, 2))).squeeze(-1)


class PublishedTadGan(TadGan):
    """Encoder, generator and critic of windows in the published sizes, `channels` in and out."""

    def __init__(self, channels: int = 1, size: Size = PAPER) -> None:
        nn.Module.__init__(self)
        self.size = size
        self.encoder = Encoder(channels, size)
        self.generator = Generator(channels, size)
        self.critic = WindowCritic(channels, size)
