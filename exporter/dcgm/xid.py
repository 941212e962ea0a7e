"""XID events, told from a gauge that only ever shows the last code.

The gauge is latched until dcgm-exporter restarts, so its level says nothing of
now, and `increase()` adds up codes.  What counts is that a code appears.  A
repeat of the same code is invisible in it; where the site lists the counts of
dcgm-exporter itself, repeats are seen there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from exporter.readings import Place
from model.sources import dcgm
from model.sources.xid import XidClass, classify

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from exporter.dcgm.text import Sample


GPUS_KEPT = 256
"""More than any node has, boards exchanged over the years included."""


class XidPage(NamedTuple):
    """What one page says of XIDs: codes latched per GPU, and counts by GPU, family and code."""

    latched: Mapping[str, frozenset[int]]
    counts: Mapping[tuple[str, str, int], float]


def of_page(samples: Iterable[Sample]) -> XidPage:
    """Pick the XID families out of a page; a code 0 is no code."""
    latched: dict[str, set[int]] = defaultdict(set)
    counts: dict[tuple[str, str, int], float] = {}
    for sample in samples:
        uuid = sample.labels.get("UUID", "")
        family = _count_family(sample.name)
        if not uuid or sample.value is None:
            continue
        if family:
            code = _code(sample.labels.get("xid", ""))
            if code and 0 <= sample.value < dcgm.INT64_BLANKS[0]:
                key = (uuid, family, code)
                counts[key] = max(sample.value, counts.get(key, 0.0))
        elif any(field.channel == dcgm.LATCHED for field in dcgm.fields(sample.name)):
            code = _code(str(sample.value))
            if code:
                latched[uuid].add(code)
    return XidPage({uuid: frozenset(codes) for uuid, codes in latched.items()}, counts)


class XidEvents:
    """Counts events per GPU and class from page to page, since it was made.

    The first page that shows a GPU is where counting starts: what is latched
    there happened at some time before.
    """

    def __init__(self) -> None:
        self._before = XidPage({}, {})
        self._totals: dict[str, Counter[XidClass]] = {}

    def see(self, page: XidPage, gpus: Iterable[str]) -> dict[Place, float]:
        """Take the next whole page and the GPUs on it; return the events of all GPUs ever seen."""
        rises = self._rises(page)
        for uuid in self._totals:
            appeared = page.latched.get(uuid, frozenset())
            for code in appeared - self._before.latched.get(uuid, frozenset()):
                rises[uuid, code] = max(1, rises[uuid, code])
        for (uuid, code), events in rises.items():
            kind = classify(code)
            if kind is not None and uuid in self._totals:
                self._totals[uuid][kind] += events
        for uuid in gpus:
            self._totals.setdefault(uuid, Counter())
        for uuid in list(self._totals)[:-GPUS_KEPT]:
            del self._totals[uuid]
        self._before = page
        return self.totals()

    def totals(self) -> dict[Place, float]:
        """Return events since the start, by channel and GPU."""
        return {
            Place(channel, uuid): float(totals[kind])
            for uuid, totals in self._totals.items()
            for kind, channel in dcgm.EVENTS.items()
        }

    def _rises(self, page: XidPage) -> Counter[tuple[str, int]]:
        """Return new events by GPU and code; the window falls by itself, the total by a restart."""
        rises: Counter[tuple[str, int]] = Counter()
        for (uuid, family, code), count in page.counts.items():
            before = self._before.counts.get((uuid, family, code), 0.0)
            restarted = count < before and family.endswith("_TOTAL")
            rise = int(count if restarted else count - before)
            rises[uuid, code] = max(rises[uuid, code], rise)
        return rises


def _count_family(name: str) -> str:
    upper = name.upper()
    return next((family for family in dcgm.XID_COUNTS if upper.startswith(family)), "")


def _code(text: str) -> int:
    """Return the code written in `text`, 0 for none and for what is no XID."""
    digits = text.removesuffix(".0")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 4:
        return 0
    return int(digits)
