"""Climbs the likelihood of one head: rows in random order, disturbed, the best epoch kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from model.training.fitting.likelihood import negative_log_likelihood, pick

if TYPE_CHECKING:
    from torch import Tensor

    from model.training.fitting.likelihood import Rows
    from model.training.network.hazard import Head


@dataclass(frozen=True, slots=True)
class Search:
    """How the likelihood is climbed; the epoch that costs least on held-out rows is kept."""

    epochs: int = 6
    batch: int = 8192
    learning_rate: float = 0.02
    decay: float = 0.02
    noise: float = 0.4
    """Deviations added to every standardised feature: no cliff between two training rows.

    Some hundred failures under four hundred features are learned by heart with half of it.
    """
    cold_ratio: float = 0.5
    """Share of rows that are shown as if their node's memory were empty.

    A pod may have started an hour ago, and a fault may be fast: what is seen now must do.
    """


class Climb:
    """The fit of one head, and the best weights so far."""

    def __init__(self, head: Head, base: Tensor, train: Rows, held: Rows) -> None:
        self.head, self.base, self.train, self.held = head, base, train, held
        self.optimiser = torch.optim.AdamW(head.parameters())
        self.nothing = head.nothing()
        self.best = float("inf")
        self.kept = _copy(head)

    def epoch(self, search: Search, random: torch.Generator, epoch: int) -> float:
        """Pass once over the rows in random order; return the cost on held-out rows."""
        for group in self.optimiser.param_groups:
            group["lr"] = search.learning_rate * (1.0 - 0.95 * epoch / search.epochs)
            group["weight_decay"] = search.decay
        order = torch.randperm(len(self.train.weight), generator=random)
        batches = max(1, len(order) // search.batch)
        events = (self.train.interval >= 0).sum().clamp(min=1) / batches
        for part in order.chunk(batches):
            rows = pick(self.train, part)
            self.optimiser.zero_grad(set_to_none=True)
            shown = self._disturb(rows.features, search, random)
            loss = self._cost(rows._replace(features=shown)) / events
            loss.backward()
            self.optimiser.step()
        return self._judge()

    def _disturb(self, features: Tensor, search: Search, random: torch.Generator) -> Tensor:
        """Empty the memory of some rows, and shake all of them."""
        emptied = torch.rand((len(features), 1), generator=random) < search.cold_ratio
        seen = torch.where(emptied & self.head.past, self.nothing, features)
        return seen + torch.randn(seen.shape, generator=random) * search.noise

    def restore(self) -> None:
        """Put the best weights back."""
        self.head.load_state_dict(self.kept)

    def _judge(self) -> float:
        with torch.no_grad():
            events = (self.held.interval >= 0).sum().clamp(min=1)
            cost = float(self._cost(self.held) / events)
        if cost < self.best:
            self.best, self.kept = cost, _copy(self.head)
        return cost

    def _cost(self, rows: Rows) -> Tensor:
        hazard = self.head(rows.features, self.base)
        return (negative_log_likelihood(hazard, rows) * rows.weight).sum()


def _copy(head: Head) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in head.state_dict().items()}
