"""How much a named training simulates, and how long it climbs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from model.training.fit import Schedule
from model.training.likelihood import Search
from model.training.plan import BUNDLED, TINY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from model.training.plan import Amounts, Split


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
