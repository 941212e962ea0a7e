"""How often what fails, as far as the field has published it.

The counts are of hardware among the 419 unexpected interruptions that Meta
reported of 16,384 H100s over 54 days (Llama 3, 2024).  "Faulty GPU" says no
more than that, so it is divided over kinds by what others saw: of boards off
the bus five of seven gave structural signs (GWDG, 28 GPUs, 353 days), and few
nodes hold most of the trouble (5 % of Titan's locations 43 % of its events, 3 of
Lablup's 63 nodes over half of the exclusions).  Host, network, storage and
software interruptions of that report have no kind here.  Facility trouble is
in no public table; it is given a twentieth of all, divided evenly: an
assumption, as is the frequency of look-alikes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from model.schema import Cause
from simulator.faults import STORIES
from simulator.scenario import HEALTHY

if TYPE_CHECKING:
    from collections.abc import Mapping

FAULTY_GPU = 148.0
COUNTED: Mapping[str, float] = {
    "off-bus": 0.25 * FAULTY_GPU,
    "off-bus-warned": 0.33 * FAULTY_GPU,
    "lemon": 0.25 * FAULTY_GPU,
    "pcie-retrain": 0.10 * FAULTY_GPU,
    "vrm-sag": 0.07 * FAULTY_GPU,
    "memory-storm": 72.0 + 19.0,  # HBM3, SRAM
    "nvlink-decay": 35.0,  # switch or cable
    "gsp-hang": 17.0,
    "thermal-interface": 3.0,  # thermal interface or sensor, 6 in all
    "blocked-cold-plate": 2.0,
    "fan-wear": 1.0,
    "psu-ageing": 2.0,  # power supply, 3 in all
    "lost-feed": 1.0,
}
"""Interruptions by kind; facility kinds are not in that report."""

FACILITY_RATIO = 0.05
FAILURES_PER_NODE_DAY = 0.0038
"""419 unexpected interruptions of 2,048 nodes over 54 days."""
LOOKALIKES_PER_NODE_DAY = 0.1
"""Something of the kind each ten days: nobody has counted."""


def shares() -> dict[str, float]:
    """Return the share of each kind of fault among all failures; they add up to 1."""
    facility = [kind for kind, story in STORIES.items() if story.cause is Cause.FACILITY]
    total = sum(COUNTED.values())
    counted = {kind: (1.0 - FACILITY_RATIO) * n / total for kind, n in COUNTED.items()}
    return counted | dict.fromkeys(facility, FACILITY_RATIO / len(facility))


def lookalikes() -> tuple[str, ...]:
    """Return every kind that visibly happens and is no fault."""
    return tuple(kind for kind, story in STORIES.items() if story.lookalike)


def draw_kind(rng: np.random.Generator, *, days: float, failures_per_node_day: float) -> str:
    """Draw what happens to a node within `days`: a fault, a look-alike, or nothing."""
    fails = -np.expm1(-failures_per_node_day * days)
    if rng.random() < fails:
        table = shares()
        return str(rng.choice(list(table), p=list(table.values())))
    if rng.random() < -np.expm1(-LOOKALIKES_PER_NODE_DAY * days):
        return str(rng.choice(lookalikes()))
    return HEALTHY
