"""What no page can tell alone: events, copies that stand still, channels and GPUs that left."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from exporter.dcgm import xid
from exporter.dcgm.identity import Folded
from exporter.readings import Departure, LeftAfter, Missing, Place, Reason
from model.sources import dcgm
from model.sources.xid import XidClass, classify

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from exporter.dcgm.text import Sample

UNCHANGED = "gpu_unchanged_seconds"
LOST = Place("node_dcgm_channels_lost")
RELOADING = frozenset({Reason.EMPTY, Reason.NO_SAMPLES})


class PageWatch:
    """Compares each page with those before it.

    A GPU whose every reading, its energy counter included, has stood still for
    more than `stale_after_seconds` is an old copy: energy grows even at rest.
    """

    def __init__(self, stale_after_seconds: float) -> None:
        self._stale_after_seconds = stale_after_seconds
        self._events = xid.XidEvents()
        self._still: dict[str, tuple[dict[str, float], float]] = {}
        self._ever: set[str] = set()
        self._last: Folded | None = None
        self._between = LeftAfter.RUNNING
        self._departures: dict[str, Departure] = {}

    @property
    def departures(self) -> tuple[Departure, ...]:
        """GPUs that left the page and have not come back."""
        return tuple(sorted(self._departures.values()))

    def failed(self, reason: Reason) -> None:
        """Remember a read that gave no page."""
        if reason in RELOADING:
            self._between = LeftAfter.RELOAD
        elif self._between is not LeftAfter.RELOAD:
            self._between = LeftAfter.GAP

    def see(self, samples: Iterable[Sample], folded: Folded, now: float) -> Folded:
        """Take the next page, which is whole, read at `now` (monotonic seconds)."""
        codes = xid.of_page(samples)
        events = self._events.see(codes, (gpu.uuid for gpu in folded.gpus))
        delivered = {place.channel for place in folded.values} - {dcgm.LATCHED}
        self._ever |= delivered
        self._depart(folded, codes.latched)
        seen = self._stale(folded, now)
        values = seen.values | events | {LOST: float(len(self._ever - delivered))}
        missing = {place: kind for place, kind in seen.missing.items() if place not in values}
        self._last, self._between = folded, LeftAfter.RUNNING
        return seen._replace(values=values, missing=missing)

    def glance(self, folded: Folded) -> Folded:
        """Take a page that was cut short: it proves no change, but what was counted stays so."""
        events = self._events.totals()
        missing = {place: kind for place, kind in folded.missing.items() if place not in events}
        return folded._replace(values=folded.values | events, missing=missing)

    def _stale(self, folded: Folded, now: float) -> Folded:
        values, missing = dict(folded.values), dict(folded.missing)
        errors = Counter(folded.errors)
        still: dict[str, tuple[dict[str, float], float]] = {}
        for uuid, readings in _by_gpu(folded.values).items():
            if not readings.get(dcgm.ENERGY):
                continue
            before, since = self._still.get(uuid, ({}, now))
            since = since if readings == before else now
            still[uuid] = (readings, since)
            if now - since > self._stale_after_seconds:
                errors[Reason.STALE] += 1
                for channel in readings:
                    del values[Place(channel, uuid)]
                    missing[Place(channel, uuid)] = Missing.STALE
            values[Place(UNCHANGED, uuid)] = now - since
        self._still = still
        return folded._replace(values=values, missing=missing, errors=errors)

    def _depart(self, folded: Folded, latched: Mapping[str, frozenset[int]]) -> None:
        here = {gpu.uuid for gpu in folded.gpus}
        last = self._last or folded
        for gpu in last.gpus:
            if gpu.uuid not in here:
                left = Departure(gpu.uuid, self._between, _was_busy(last, gpu.uuid), False)
                self._departures[gpu.uuid] = left
        for uuid in here & self._departures.keys():
            del self._departures[uuid]
        for uuid, left in self._departures.items():
            accused = any(classify(c) is XidClass.HARDWARE for c in latched.get(uuid, ()))
            if accused:
                self._departures[uuid] = replace(left, hardware_xid=True)


def _by_gpu(values: Mapping[Place, float]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for place, value in values.items():
        if place.uuid is not None:
            found.setdefault(place.uuid, {})[place.channel] = value
    return found


def _was_busy(page: Folded, uuid: str) -> bool:
    shares = (page.values.get(Place(name, uuid), 0.0) for name in (dcgm.UTILISATION, dcgm.ENGINE))
    return any(job.uuid == uuid for job in page.workloads) or max(shares) > dcgm.ACTIVE_RATIO
