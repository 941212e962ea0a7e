"""How much a named training simulates, and how long it climbs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from model.training.episodes.plan import BUNDLED, TINY
from model.training.fitting.climb import Search
from model.training.fitting.fit import Schedule
from model.training.fitting.pipeline import Recipe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from model.training.episodes.plan import Amounts, Split


class Size(NamedTuple):
    """Amounts per split, the schedules of both fits, and healthy windows for TadGAN."""

    amounts: Mapping[Split, Amounts]
    schedule: Schedule
    search: Search
    windows: int


SIZES = {
    "bundled": Size(BUNDLED, Schedule(), Search(), 12_000),
    "tiny": Size(TINY, Schedule(iterations=12, batch=16), Search(epochs=2, batch=256), 320),
}


def recipe(size: str, seed: int, left_out: frozenset[str] = frozenset()) -> Recipe:
    """Return the recipe called `size`, without the kinds of story `left_out`."""
    chosen = SIZES[size]
    return Recipe(
        seed, chosen.amounts, chosen.schedule, chosen.search, chosen.windows, left_out=left_out
    )
