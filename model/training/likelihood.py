"""Fits the hazard layer by the likelihood of labelled episodes, at the base rate it states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from model.training.hazard import HazardLayer

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
    """How the likelihood is climbed; the epoch that validates best is kept."""

    epochs: int = 40
    batch: int = 8192
    learning_rate: float = 0.01
    decay: float = 0.02


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
    validation: tuple[Rows, Rows],
    *,
    search: Search,
    seed: int,
    report: Callable[[int, float], None],
) -> None:
    """Fit both heads of `layer`; `train` and `validation` are (GPU rows, node rows)."""
    layer.gpu_head.freeze(train[0].features)
    layer.node_head.freeze(train[1].features)
    random = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.AdamW(
        layer.parameters(), lr=search.learning_rate, weight_decay=search.decay
    )
    best, kept = float("inf"), layer.state_dict()
    for epoch in range(search.epochs):
        _epoch(layer, train, optimiser, search, random, epoch)
        with torch.no_grad():
            loss = float(_cost(layer.of_gpus, validation[0]) + _cost(layer.of_nodes, validation[1]))
        report(epoch, loss)
        if loss < best:
            best = loss
            kept = {name: value.clone() for name, value in layer.state_dict().items()}
    layer.load_state_dict(kept)


def _epoch(
    layer: HazardLayer,
    train: tuple[Rows, Rows],
    optimiser: torch.optim.AdamW,
    search: Search,
    random: torch.Generator,
    epoch: int,
) -> None:
    orders = [torch.randperm(len(rows.weight), generator=random) for rows in train]
    batches = max(1, len(orders[0]) // search.batch)
    for group in optimiser.param_groups:
        group["lr"] = search.learning_rate * (1.0 - 0.9 * epoch / search.epochs)
    for gpu_part, node_part in zip(
        orders[0].chunk(batches), orders[1].chunk(batches), strict=False
    ):
        optimiser.zero_grad(set_to_none=True)
        loss = _cost(layer.of_gpus, pick(train[0], gpu_part)) + _cost(
            layer.of_nodes, pick(train[1], node_part)
        )
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()


def pick(rows: Rows, chosen: Tensor) -> Rows:
    """Return the chosen rows."""
    return Rows(*(column[chosen] for column in rows))


def _cost(hazard_of: Callable[[Tensor], Tensor], rows: Rows) -> Tensor:
    # Per event rather than per row: healthy time outweighs events by orders of
    # magnitude, and the scale of the loss should not follow it.
    losses = negative_log_likelihood(hazard_of(rows.features), rows) * rows.weight
    events = (rows.interval >= 0).sum().clamp(min=1)
    return losses.sum() / events
