"""What is known to have failed: what the data show and what the site's list says, as one.

Of a sign that may have been planned nothing is known, unless the list names it
or a failure beyond doubt is what it is a part of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from model.history.failures import Failure, Sign
from model.history.incidents import APPLICATION, PLANNED, UNKNOWN
from model.schema import STEP_SECONDS, Cause

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from model.history.failures import Signs
    from model.history.incidents import Incident
    from model.history.record import Record

SAME_SECONDS = 6 * 3_600.0
"""A listed incident and a sign in the data this close together are one failure."""
UNJUDGED_SECONDS = 900.0


class Known(NamedTuple):
    """Failures in order of time, and the wall-clock seconds of what stays doubtful."""

    failures: list[Failure]
    doubtful: list[float]


def known(shown: Signs, incidents: Sequence[Incident], record: Record) -> Known:
    """Hold what the data show of a node against the incidents that are listed of it."""
    named = [one for one in shown.alone if _meant(one, incidents, record)]
    failures = _merged([*shown.failures, *named], incidents, record)
    doubtful = [*shown.unjudged, *(one.time for one in shown.alone if one not in named)]
    return Known(failures, [time for time in doubtful if not _near(time, failures)])


def _meant(alone: Failure, incidents: Sequence[Incident], record: Record) -> bool:
    """Whether the site lists as a failure what was but an absence to the data."""
    return any(
        one.cause not in {PLANNED, APPLICATION}
        and abs(alone.time - one.start) <= SAME_SECONDS
        and _uuid(record, one.gpu) in {"", alone.uuid}
        for one in incidents
    )


def _near(time: float, known: Sequence[Failure]) -> bool:
    """Whether a failure that is beyond doubt is what a doubtful sign is a part of."""
    return any(abs(one.time - time) <= UNJUDGED_SECONDS for one in known)


def _merged(
    shown: Iterable[Failure], incidents: Sequence[Incident], record: Record
) -> list[Failure]:
    """Return one failure for each that the data or the list knows of; the list knows the cause.

    Of the two times the earlier counts: a warning after it is none.
    """
    listed = [one for one in incidents if one.cause not in {PLANNED, APPLICATION}]
    found = [_named(one, listed) for one in shown if not _by_application(one, incidents)]
    for one in listed:
        told = any(abs(failure.time - one.start) <= SAME_SECONDS for failure in found)
        if not told and record.start <= one.start < record.start + record.steps * STEP_SECONDS:
            cause = Cause.DEVICE if one.cause == UNKNOWN else Cause(one.cause)
            found.append(Failure(one.start, _uuid(record, one.gpu), cause, Sign.INCIDENT))
    return sorted(found, key=lambda one: (one.time, one.uuid))


def _named(shown: Failure, listed: Sequence[Incident]) -> Failure:
    for one in listed:
        if abs(shown.time - one.start) <= SAME_SECONDS:
            cause = shown.cause if one.cause == UNKNOWN else Cause(one.cause)
            return Failure(min(shown.time, one.start), shown.uuid, cause, shown.sign)
    return shown


def _by_application(shown: Failure, incidents: Sequence[Incident]) -> bool:
    """Whether the site says that this was an application's own doing."""
    return any(
        one.cause == APPLICATION and abs(shown.time - one.start) <= UNJUDGED_SECONDS
        for one in incidents
    )


def _uuid(record: Record, gpu: str) -> str:
    """Return the UUID that an incident names, by itself or by index; empty for the node."""
    if gpu in record.uuids:
        return gpu
    return record.uuids[int(gpu)] if gpu.isdigit() and int(gpu) < len(record.uuids) else ""
