"""Fits the hazard layer by the likelihood of labelled episodes, at the base rate it states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from model.training.network.hazard import HazardLayer, Head

TINY = 1e-12


class Rows(NamedTuple):
    """Labelled rows of one level, GPU or node.

    `features` [row, feature] · `exposure` [row, interval] · `interval` [row],
    that of the event or -1 · `cause` [row], its position in the level's causes
    · `weight` [row].
    """

    features: Tensor
    exposure: Tensor
    interval: Tensor
    cause: Tensor
    weight: Tensor


@dataclass(frozen=True, slots=True)
class Search:
    """How the likelihood is climbed; the epoch that costs least on held-out rows is kept."""

    epochs: int = 16
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


def negative_log_likelihood(hazard: Tensor, rows: Rows) -> Tensor:
    """Return [row], for `hazard` [row, cause, interval].

    With total hazard H over causes: survived intervals cost their share of H;
    an event of cause c in interval k costs -log(H_c / H (1 - exp(-H))) there.
    """
    total = hazard.sum(1)
    survived = (rows.exposure * total).sum(1)
    happened = rows.interval >= 0
    row = torch.arange(len(total))
    interval = rows.interval.clamp(min=0)
    own = hazard[row, rows.cause.clamp(min=0), interval].clamp(min=TINY)
    all_causes = total[row, interval].clamp(min=TINY)
    event = torch.log(all_causes) - torch.log(own) - torch.log(-torch.expm1(-all_causes))
    return survived + torch.where(happened, event, torch.zeros_like(event))


def fit(
    layer: HazardLayer,
    train: tuple[Rows, Rows],
    held: tuple[Rows, Rows],
    *,
    search: Search,
    seed: int,
    report: Callable[[int, float], None],
) -> None:
    """Fit both heads of `layer`, each on its rows: (GPU rows, node rows).

    Each head keeps the weights of the epoch that cost least on held-out rows.
    """
    random = torch.Generator().manual_seed(seed)
    base = layer.base_rate_log
    climbs = []
    for head, rows, unseen in zip((layer.gpu, layer.node), train, held, strict=True):
        head.freeze(rows.features)
        climbs.append(Climb(head, base, standardised(head, rows), standardised(head, unseen)))
    for epoch in range(search.epochs):
        costs = [climb.epoch(search, random, epoch) for climb in climbs]
        report(epoch, sum(costs))
    for climb in climbs:
        climb.restore()


class Climb:
    """The fit of one head, and the best weights so far."""

    def __init__(self, head: Head, base: Tensor, train: Rows, held: Rows) -> None:
        self.head, self.base, self.train, self.held = head, base, train, held
        self.optimiser = torch.optim.AdamW(head.parameters())
        self.cold = head.standardise(torch.zeros_like(train.features[0]))
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
        seen = torch.where(emptied & self.head.past, self.cold, features)
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


def standardised(head: Head, rows: Rows) -> Rows:
    """Return rows as the head wants them."""
    return rows._replace(features=head.standardise(rows.features))


def pick(rows: Rows, chosen: Tensor) -> Rows:
    """Return the chosen rows."""
    return Rows(*(column[chosen] for column in rows))


def thinned(rows: Rows, ratio: float, random: torch.Generator) -> Rows:
    """Keep this share of the rows without event, each of which then counts for more."""
    event = rows.interval >= 0
    chosen = event | (torch.rand(len(event), generator=random) < ratio)
    raised = torch.where(event, rows.weight, rows.weight / ratio)
    return pick(rows._replace(weight=raised), chosen.nonzero().squeeze(-1))


def _copy(head: Head) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in head.state_dict().items()}
