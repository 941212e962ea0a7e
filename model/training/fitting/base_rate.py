"""How often a site's nodes fail: the prior that evidence multiplies, counted and written.

A site has seen few failures, so what it counted is weighed against what others
have published: the rate of all failures as one failure seen at the field's
rate, their division over causes as six seen in the field's shares.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from model.artefact import BaseRate
from model.schema import Cause
from model.training.network.hazard import BASE_FAILURES_PER_NODE_WEEK, CAUSES, SHARES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from model.history.timeline import Timeline

HOURS_PER_WEEK = 7 * 24.0
FIELD = "the field (0.0038 unexpected failures per node-day, Llama 3 training report, 2024)"
RATE_WEIGHT = 1.0
"""Failures that the field's rate counts as: published fleets lie between 0.020 and 0.147 per
node-week, as far apart as rates do of which one failure is known."""
SHARES_WEIGHT = 6.0
"""Failures that the field's shares count as: one per cause, on average."""


class Seen(NamedTuple):
    """Failures by cause in so many node-weeks in which they would have been seen."""

    failures: Mapping[str, float]
    node_weeks: float


def told(rates_log: Tensor, origin: str, *, set_later: bool = False) -> BaseRate:
    """Return log failures per node-hour [cause] as an artefact tells them."""
    weekly = (torch.exp(rates_log.double()) * HOURS_PER_WEEK).tolist()
    # For people to read: no digits that mean nothing.
    rates = {str(c): float(f"{rate:.6g}") for c, rate in zip(CAUSES, weekly, strict=True)}
    return BaseRate(rates, origin, set_later)


def logs(rates: Mapping[str, float]) -> Tensor:
    """Return failures per node-week by cause as the graph reads them: log per hour [cause]."""
    hourly = [rates[cause] / HOURS_PER_WEEK for cause in CAUSES]
    return torch.log(torch.tensor(hourly, dtype=torch.float64)).to(torch.float32)


def divided(failures_per_node_week: float, shares: Mapping[str, float]) -> dict[str, float]:
    """Divide a rate over causes: `shares` of some, the field's proportions for the rest."""
    rest = 1.0 - sum(shares.values())
    others = sum(SHARES[cause] for cause in CAUSES if cause not in shares)
    each = {c: shares[c] if c in shares else SHARES[c] * rest / others for c in CAUSES}
    return {str(cause): failures_per_node_week * each[cause] for cause in CAUSES}


def learned(seen: Seen) -> dict[str, float]:
    """Return failures per node-week by cause: what was seen, weighed against the field."""
    many = sum(seen.failures.values())
    weeks = seen.node_weeks + RATE_WEIGHT / BASE_FAILURES_PER_NODE_WEEK
    rate = (many + RATE_WEIGHT) / weeks
    shares = {
        cause: (seen.failures.get(cause, 0.0) + SHARES_WEIGHT * SHARES[cause])
        / (many + SHARES_WEIGHT)
        for cause in CAUSES
    }
    return {str(cause): rate * share for cause, share in shares.items()}


def origin_of(seen: Seen) -> str:
    """Say in words what a rate was learned from."""
    many = sum(seen.failures.values())
    return f"{many:.3g} failures in {seen.node_weeks:.4g} node-weeks of the site, beside the field"


def count(timelines: Sequence[Timeline], until: float, nodes: int, struck: Collection[str]) -> Seen:
    """Count failures before `until` (wall-clock seconds) on some of a site's `nodes` nodes.

    `struck` are the nodes of the site's list of incidents.  Training looks at
    them first, so they are more frequent among those looked at than in the
    site: both groups weigh as many nodes as they have there.  A group that was
    not looked at is taken to have had no failure.
    """
    groups = [[t for t in timelines if (t.node in struck) is side] for side in (True, False)]
    sizes = (len(struck), nodes - len(struck))
    rates: dict[str, float] = {}
    for group, size in zip(groups, sizes, strict=True):
        part = _simply(group, until)
        for cause, failures in part.failures.items():
            rate = failures / part.node_weeks * size / nodes
            rates[cause] = rates.get(cause, 0.0) + rate
    weeks = _simply(timelines, until).node_weeks
    return Seen({cause: rate * weeks for cause, rate in rates.items()}, weeks)


def _simply(timelines: Sequence[Timeline], until: float) -> Seen:
    stretches = [one for timeline in timelines for one in timeline.stretches if one.start < until]
    hours = sum(min(one.end, until) - one.start for one in stretches) / 3_600.0
    known = (one.failure for one in stretches if one.failure is not None)
    causes = Counter(str(Cause(failure.cause)) for failure in known if failure.time < until)
    return Seen(causes, hours / HOURS_PER_WEEK)
