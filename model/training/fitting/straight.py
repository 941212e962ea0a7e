"""Sets fitted heads straight: a scale and an offset for each cause and interval, on held-out rows.

The fit is shown rows that are shaken, half of them with an empty memory, so that
what it says of plain ones is too bold here and too timid there.  Held-out rows are
plain, and of other nodes (Platt's scaling, on log ratios instead of log odds).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from model.training.fitting.likelihood import ROWS_AT_ONCE, negative_log_likelihood

if TYPE_CHECKING:
    from torch import Tensor

    from model.training.fitting.likelihood import Rows
    from model.training.network.hazard import Head

STEPS = 60
RELUCTANCE = 0.003
"""What the square of a step from scale 1 or offset 0 adds to the mean cost of an event."""


def set_straight(head: Head, base: Tensor, rows: Rows) -> None:
    """Fold scale and offset that fit standardised `rows` best into `head`."""
    with torch.no_grad():
        ratio = torch.cat([head.evidence(part) for part in rows.features.split(ROWS_AT_ONCE)])
    ratio = ratio.double()
    known = rows._replace(exposure=rows.exposure.double(), weight=rows.weight.double())
    events = (rows.interval >= 0).sum().clamp(min=1)
    scale = torch.ones_like(head.offset, dtype=torch.double, requires_grad=True)
    offset = torch.zeros_like(scale, requires_grad=True)
    climb = torch.optim.LBFGS([scale, offset], max_iter=STEPS, line_search_fn="strong_wolfe")

    def cost() -> Tensor:
        climb.zero_grad()
        hazard = head.hazard(ratio * scale + offset, base)
        told = (negative_log_likelihood(hazard, known) * known.weight).sum() / events
        loss = told + RELUCTANCE * (((scale - 1.0) ** 2).sum() + (offset**2).sum())
        loss.backward()
        return loss

    climb.step(cost)
    with torch.no_grad():
        head.out.mul_(scale.float().unsqueeze(1))
        head.offset.mul_(scale.float()).add_(offset.float())
