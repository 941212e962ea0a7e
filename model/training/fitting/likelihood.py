"""Labelled rows, and the likelihood of what became of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

if TYPE_CHECKING:
    from model.training.network.hazard import Head

TINY = 1e-12
ROWS_AT_ONCE = 65_536


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


def standardised(head: Head, rows: Rows) -> Rows:
    """Return rows as the head wants them: in parts, since every step makes a copy of its part."""
    features = torch.empty_like(rows.features)
    for part, place in zip(
        *(one.split(ROWS_AT_ONCE) for one in (rows.features, features)), strict=True
    ):
        place.copy_(head.standardise(part))
    return rows._replace(features=features)


def pick(rows: Rows, chosen: Tensor) -> Rows:
    """Return the chosen rows."""
    return Rows(*(column[chosen] for column in rows))


def thinned(rows: Rows, ratio: float, random: torch.Generator) -> Rows:
    """Keep this share of the rows without event, each of which then counts for more."""
    event = rows.interval >= 0
    chosen = event | (torch.rand(len(event), generator=random) < ratio)
    raised = torch.where(event, rows.weight, rows.weight / ratio)
    return pick(rows._replace(weight=raised), chosen.nonzero().squeeze(-1))
