"""One look at each source, told to a person: what was found, what is blind, what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from daemon import reach
from exporter import sources
from exporter.collectors import SourceStatus
from exporter.forecast import shelf, trial
from exporter.readings import Missing, Reason, SourceFailed, SourceName, SourceReadings
from exporter.redfish.reader import DISCOVERING
from exporter.window import blindness, snapshot
from exporter.window.roster import Roster

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from daemon.clocks import Clock
    from exporter.settings import Settings
    from exporter.sources import Named
    from exporter.window.blindness import Blind
    from exporter.window.snapshot import NodeSnapshot

USER_PART = re.compile(r"//[^/\s@]*@")
SAID = frozenset({Missing.NO_SOURCE, Missing.UNREADABLE, Missing.SOURCE_DOWN})
"""Kinds that say it all: what else a channel may lack for is not the reason."""
WIDTH = 100
WALKS = 20
"""A slow BMC is walked over several cycles; after this many the probe gives up."""

TOLD = {
    reach.UNKNOWN_HOST: "is the name spelt right, and is it known to the DNS of this machine?",
    reach.HUNG_UP: "something listens there and hangs up: is the port right, is it https there?",
    reach.NOT_HTTP: "something else listens there: is the port right, is it https there?",
    reach.NOT_TLS: "give the address with http:// in place of https://, or the port that has TLS",
}
"""What to do where the message says more than the reason."""

HINTS = {
    Reason.UNREACHABLE: "nobody listens there: is it running, are address and port right, "
    "does a firewall or a network policy forbid it?",
    Reason.TIMEOUT: "it is there and does not answer in time: DCGM blocks under error storms, "
    "a BMC when it is overloaded",
    Reason.TLS: "give `ca_file` or `fingerprint`; `verify: false` only on purpose",
    Reason.UNAUTHORIZED: "check the files of user name and password; no second try was made",
    Reason.FORBIDDEN: "the account may log in and not read: it needs the read-only role",
    Reason.PASSWORD_CHANGE_REQUIRED: "change the account's password at the BMC first",
    Reason.SECRET_UNREADABLE: "the file of a secret is absent, empty or not readable",
    Reason.REDIRECTED: "give the address that it redirects to",
    Reason.NOT_FOUND: "the path is wrong: dcgm-exporter serves /metrics, a BMC /redfish/v1",
    Reason.HTTP_500: "it failed inside: see its own log",
    Reason.HTTP_503: "it is starting, or asked by too many at once",
    Reason.BAD_CONTENT: "something else answers at this address",
    Reason.EMPTY: "its first interval is not over, or it reads its device list anew: try again",
    Reason.NO_SAMPLES: "it sees no GPU: does its pod run with the GPU runtime class?",
    Reason.LEGACY_NAMES: "dcgm-exporter 1.x cannot be read: run 2.0 or later",
    Reason.FACILITY_TREE: "this is rack equipment: read it in facility mode",
}
OF_DCGM = {
    Reason.UNREACHABLE: "nobody listens there: is it running on this node, is the port right, "
    "does a network policy forbid it?",
    Reason.HTTP_500: "one sick GPU or switch fails the whole page: see dcgm-exporter's own log",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What asking one source led to.

    `requests` is what finding the way took, before usual cycles of
    `readings.requests` each; `seconds` is how long the last read lasted.
    """

    named: Named
    seconds: float
    requests: int = 0
    readings: SourceReadings | None = None
    failure: SourceFailed | None = None


def look(one: Named, clock: Clock, *, walks: bool) -> Finding:
    """Ask once, and what `walks` its resources first once these are known; then let go of it."""
    started, walked = clock.monotonic(), 0
    try:
        readings = one.source.read(started)
        if walks:
            for _ in range(WALKS):
                walked += readings.requests
                discovering, started = readings.strategy == DISCOVERING, clock.monotonic()
                readings = one.source.read(started)
                if not discovering:
                    break
            walked -= readings.requests
        return Finding(one, clock.monotonic() - started, max(0, walked), readings)
    except SourceFailed as failure:
        return Finding(one, clock.monotonic() - started, walked, failure=failure)
    finally:
        one.source.close()


def run(settings: Settings, clock: Clock) -> tuple[str, bool]:
    """Return the report, and whether every source that the settings name gave readings."""
    findings = [
        look(one, clock, walks=one.source.name is SourceName.REDFISH)
        for one in sources.named(settings, clock)
    ]
    taken = _snapshot(settings, findings, clock.monotonic())
    lines = [f"{settings.node_name()}: each source was asked once, nothing is kept", ""]
    for finding in findings:
        lines += [*source(finding), ""]
    if findings and all(finding.readings is None for finding in findings):
        lines.append("Nothing was read: the model has no channel to predict from")
    else:
        blind = blindness.blind(taken)
        lines += [*_gpus(taken), *_missed(settings, blind), "", *_blind(blind)]
    return "\n".join(lines) + "\n", bool(findings) and all(map(_whole, findings))


def _whole(finding: Finding) -> bool:
    return finding.readings is not None and finding.readings.complete


def _snapshot(settings: Settings, findings: Iterable[Finding], now: float) -> NodeSnapshot:
    statuses = [_status(finding, now) for finding in findings]
    declared = settings.gpus.declared()
    roster = Roster().saw(snapshot.seen(statuses, now) or ())
    return snapshot.take(
        statuses,
        now,
        expected=roster.expected(declared),
        expected_count=roster.expected_count(declared),
        installed_count=roster.installed_count(declared),
    )


def _status(finding: Finding, now: float) -> SourceStatus:
    read = finding.readings is not None
    return SourceStatus(
        finding.named.source.name,
        finding.named.interval_seconds,
        attempted=True,
        up=read,
        readings=finding.readings,
        read_at=now if read else None,
        duration_seconds=finding.seconds,
    )


def source(finding: Finding) -> Iterator[str]:
    """Yield what asking one source led to, and where it failed, what to do."""
    yield f"{finding.named.source.name}  {_without_secrets(finding.named.address)}"
    if finding.failure is not None:
        reason = finding.failure.reason
        yield f"  no readings: {reason}"
        yield f"  {_without_secrets(finding.failure.detail)}"
        yield f"  {_hint(finding.named.source.name, finding.failure)}"
    if finding.readings is not None:
        yield from _answered(finding, finding.readings)


def _hint(source: SourceName, failure: SourceFailed) -> str:
    told = next((hint for words, hint in TOLD.items() if words in failure.detail), "")
    of_dcgm = OF_DCGM.get(failure.reason, "") if source is SourceName.DCGM else ""
    return told or of_dcgm or HINTS.get(failure.reason, "see the message above")


def _answered(finding: Finding, readings: SourceReadings) -> Iterator[str]:
    yield f"  read as {readings.strategy or 'nothing'} in {finding.seconds:.2f} s"
    yield f"  requests: {readings.requests} a cycle" + (
        f", {finding.requests} to find the way" if finding.requests else ""
    )
    if readings.values:
        channels = {place.channel for place in readings.values}
        yield f"  found: {len(channels)} channels, {len(readings.values)} readings"
    if readings.strategy == DISCOVERING:
        yield "  the walk over its resources did not end: it is slow or busy, try again"
    if readings.cut:
        yield f"  the page was cut {readings.cut}: what it would have said after that is not known"
    refused = ", ".join(f"{n} {reason}" for reason, n in sorted(readings.errors.items()) if n)
    if refused:
        yield f"  survived: {refused}"


def _gpus(taken: NodeSnapshot) -> Iterator[str]:
    if taken.seen is None:
        return
    expected = taken.expected_count
    yield f"GPUs: {len(taken.seen)} seen of {'unknown' if expected is None else expected}"
    for gpu in taken.seen:
        count = sum(place.uuid == gpu.uuid for place in taken.values)
        yield f"  {gpu.index or '?':>3}  {gpu.uuid}  {count} readings"
    yield ""


def _missed(settings: Settings, blind: Iterable[Blind]) -> Iterator[str]:
    """Say which of the blind channels the model that would come into force reads."""
    directory = Path(settings.model.directory) if settings.model.directory else None
    model = shelf.first(directory, settings.node_name(), trial.died)
    if model is None:
        yield "No model can come into force: see --check-config"
        return
    path, info = model
    names = [one.channel.name for one in blind]
    missed = [name for name in info.names if name in names]
    required = [name for name in missed if name in info.required]
    many = f"{len(missed)} of {len(info.names)}" if missed else "none"
    yield f"Channels that the model ({path.name}) misses: {many}"
    optional = [name for name in missed if name not in info.required]
    for kind, those in (("required", required), ("optional", optional)):
        if those:
            yield fill(f"  {kind}: {', '.join(those)}", WIDTH, subsequent_indent="    ")


def _blind(blind: Iterable[Blind]) -> Iterator[str]:
    """Say what has no value: source by source and reason by reason."""
    rows = sorted(blind, key=_group)
    yield f"Blind channels: {len(rows)}" if rows else "Blind channels: none"
    for (origin, kind, advice), group in groupby(rows, key=_group):
        yield f"  {origin}, {kind}: {advice}"
        for one in group:
            why = "" if kind in SAID else one.channel.absent
            cells = (one.channel.name, one.field, why)
            yield "    " + "  ".join(cell for cell in cells if cell)


def _group(one: Blind) -> tuple[str, Missing, str]:
    return one.channel.origin, one.kind, one.advice


def _without_secrets(text: str) -> str:
    """Return `text` without what stands before an @ in an address."""
    return USER_PART.sub("//", text)
