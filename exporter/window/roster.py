"""Which GPUs this node should have: what the page itself cannot say once one is lost.

Pure.  Without a word from the site, the highest number ever seen at once counts,
and of the known GPUs those seen last: a replaced board takes its predecessor's
place, a GPU that fell off the bus keeps its own.  How one left is remembered with
it, since a process that starts later cannot see that any more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from exporter.readings import Departure, Gpu

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Declared:
    """What the site says: GPUs by UUID, or their number; `away` left on purpose."""

    uuids: tuple[str, ...] = ()
    count: int | None = None
    away: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Roster:
    """GPUs ever seen, last seen first, the highest number seen at once, and how some left."""

    known: tuple[Gpu, ...] = ()
    highest: int = 0
    departed: tuple[Departure, ...] = ()

    def saw(self, gpus: Sequence[Gpu], departures: Iterable[Departure] = ()) -> Roster:
        """Return the roster after a page that listed `gpus`; `departures` as its source tells."""
        here = {gpu.uuid for gpu in gpus}
        rest = tuple(gpu for gpu in self.known if gpu.uuid not in here)
        highest = max(self.highest, len(here))
        # Twice the board count remembers every GPU of a full exchange.
        known = (*gpus, *rest)[: 2 * highest]
        away = {gpu.uuid for gpu in known} - here
        left = {one.uuid: one for one in (*self.departed, *departures) if one.uuid in away}
        return Roster(known, highest, tuple(sorted(left.values())))

    def forgetting_departures(self) -> Roster:
        """Return the roster of somebody who looked away for too long to know how a GPU left."""
        return replace(self, departed=())

    def followed_by(self, later: Roster) -> Roster:
        """Return the roster of one life after the other: what was seen last comes first."""
        known = {gpu.uuid for gpu in later.known}
        rest = tuple(gpu for gpu in self.known if gpu.uuid not in known)
        highest = max(self.highest, later.highest)
        left = (one for one in self.departed if one.uuid not in known)
        departed = tuple(sorted((*left, *later.departed)))
        return Roster((*later.known, *rest)[: 2 * highest], highest, departed)

    def expected(self, declared: Declared) -> tuple[Gpu, ...]:
        """Return the GPUs that must report, by UUID; empty while nothing is known."""
        by_uuid = {gpu.uuid: gpu for gpu in self.known}
        if declared.uuids:
            listed = [by_uuid.get(uuid, Gpu(uuid, "")) for uuid in declared.uuids]
        else:
            count = self.highest if declared.count is None else declared.count
            listed = list(self.known[:count])
        return tuple(sorted(gpu for gpu in listed if gpu.uuid not in declared.away))

    def expected_count(self, declared: Declared) -> int | None:
        """Return how many GPUs must report, None while nobody knows."""
        if declared.uuids:
            return len(set(declared.uuids) - declared.away)
        count = self.highest if declared.count is None else declared.count
        if not count:
            return None
        known = {gpu.uuid for gpu in self.known[:count]}
        # One that was away before this process first looked has never been seen.
        unseen = min(len(declared.away - {gpu.uuid for gpu in self.known}), count - len(known))
        return count - len(known & declared.away) - unseen

    def installed_count(self, declared: Declared) -> int | None:
        """Return how many GPUs the node has, lost and away ones too; None while nobody knows."""
        told = len(set(declared.uuids)) or declared.count or 0
        return max(told, self.highest) or None
