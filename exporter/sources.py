"""Which sources the settings name, ready to be asked."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

import requests

from exporter.dcgm.scrape import DcgmSource
from exporter.rack import RackSource
from exporter.redfish.reader import RedfishSource

if TYPE_CHECKING:
    from daemon.clocks import Clock
    from exporter.readings import Source
    from exporter.settings import Settings


@dataclass(frozen=True, slots=True)
class Named:
    """A source, where it is, how often it may be asked, and how long one read may take."""

    source: Source
    address: str
    interval_seconds: float
    deadline_seconds: float


def named(settings: Settings, clock: Clock) -> tuple[Named, ...]:
    """Return the sources that the settings name; none of them is asked yet."""
    found: list[Named] = []
    if settings.dcgm.url:
        session = requests.Session()
        session.trust_env = False  # the node's own pod is never behind a proxy
        own = settings.dcgm
        dcgm = DcgmSource(
            own.url,
            session,
            deadline_seconds=own.deadline_seconds,
            interval_seconds=own.interval_seconds,
            monotonic=clock.monotonic,
        )
        found.append(Named(dcgm, own.url, own.interval_seconds, own.deadline_seconds))
    if settings.bmc.url:
        bmc = settings.bmc
        redfish = RedfishSource(bmc, clock=clock, random=Random())  # noqa: S311 - spreads load
        found.append(Named(redfish, bmc.url, bmc.interval_seconds, bmc.deadline_seconds))
    if settings.facility.url:
        session = requests.Session()
        session.trust_env = False  # the cluster's own service is never behind a proxy
        rack = settings.facility
        page = RackSource(rack, session, node=settings.node_name(), monotonic=clock.monotonic)
        found.append(Named(page, rack.url, rack.interval_seconds, rack.deadline_seconds))
    return tuple(found)
