"""The ledger: what was heard and what was granted, as one value changed by compare-and-swap.

It is the serialisation point of every replica: no grant here, no action there.
Garbage is never repaired by guessing: an unreadable ledger means no new action.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from remediation.alert import Remedy, Severity
from remediation.policy.bounds.limits import Rung
from remediation.policy.facts.device import Device


class LedgerUnreadable(Exception):
    """The stored ledger is not one: where it failed and what was expected."""


class _Entry(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True
):
    """A strict, immutable part of the ledger.  Times are Unix seconds.

    What has its default is not written: the whole ledger is, at each change.
    """


class Suspect(_Entry, frozen=True, kw_only=True):
    """An alert that was heard about a node and has not ended."""

    node: str
    alert: str
    severity: Severity
    remedy: Remedy
    cause: str = ""
    horizon: str = ""
    uuid: str = ""
    heard_at: float
    started_at: float | None = None


class Grant(_Entry, frozen=True, kw_only=True):
    """Permission to act on one node, recorded before the action.

    `applied` turns true when the node was seen carrying it; until then it ends
    at `expires_at`, so that a crash between grant and action holds no budget
    for ever.  Grants that were taken together, all or none, share their `batch`.
    `moved_at` is when work last left the node.  With a `gpu` it is for that one
    GPU of the node and its work, not for the rest.
    """

    id: str
    episode: str
    node_uid: str
    rung: Rung
    taken_at: float
    expires_at: float
    epoch: int
    applied: bool = False
    batch: str = ""
    moved_at: float = 0.0
    gpu: Device | None = None


class Bucket(_Entry, frozen=True, kw_only=True):
    """The token bucket of grants."""

    tokens: float
    refilled_at: float


class Breaker(_Entry, frozen=True, kw_only=True):
    """Grant times within the window, and why everything stopped, if it did."""

    window: tuple[float, ...] = ()
    tripped_at: float | None = None
    reason: str = ""


class Pause(_Entry, frozen=True, kw_only=True):
    """A person said stop."""

    author: str
    reason: str
    since: float


class Hold(_Entry, frozen=True, kw_only=True):
    """A person took one node back; without an author it ends with the node's alerts.

    One that somebody ordered by name stays until somebody releases the node.
    """

    reason: str
    since: float
    author: str = ""


class Release(_Entry, frozen=True, kw_only=True):
    """A person wants one node back now, whatever we think of it."""

    author: str
    reason: str
    since: float


class Wave(_Entry, frozen=True, kw_only=True):
    """The pods of one job that were asked to move together; recorded before the first is asked.

    `pods` are the uids that are still there; `moved_at` is when the last of
    them went, or when the wave began.
    """

    job: str
    namespace: str
    nodes: tuple[str, ...]
    pods: tuple[str, ...]
    began_at: float
    moved_at: float
    ended_at: float | None = None


class Ending(StrEnum):
    """How a preparation ended."""

    GOOD = "good"
    TIMEOUT = "timeout"


class Preparation(_Entry, frozen=True, kw_only=True):
    """A checkpoint or the volume snapshots of one job, recorded before anything is asked.

    `parts` are those that must answer: uids of pods, or claims.
    """

    id: str
    parts: tuple[str, ...]
    asked_at: float
    ended_at: float | None = None
    ending: Ending | None = None


class Facility(_Entry, frozen=True, kw_only=True):
    """A domain whose nodes are in trouble together; `seen_at` is when that was last so."""

    id: str
    domain: str
    reason: str
    horizon: str
    began_at: float
    seen_at: float


class Past(_Entry, frozen=True, kw_only=True):
    """An episode that is over: its node rests before anything is done to it again.

    A return on probation is no end: it is counted, and brings no rest.
    """

    episode: str
    ended_at: float
    rests: bool = True


class Ledger(_Entry, frozen=True, kw_only=True):
    """Everything that must survive every process.

    Keys of grants, holds, releases, past and strangers are node names, those of
    waves, checkpoints and restore points keys of jobs, those of facilities domains;
    strangers says since when another owner drains a node.  `released_in` is the
    domain whose nodes come back now.
    """

    version: int = 1
    epoch: int = 0
    suspects: dict[str, Suspect] = {}
    grants: dict[str, Grant] = {}
    holds: dict[str, Hold] = {}
    releases: dict[str, Release] = {}
    waves: dict[str, Wave] = {}
    facilities: dict[str, Facility] = {}
    checkpoints: dict[str, Preparation] = {}
    restore_points: dict[str, Preparation] = {}
    past: dict[str, tuple[Past, ...]] = {}
    strangers: dict[str, float] = {}
    bucket: Bucket | None = None
    breaker: Breaker = Breaker()
    pause: Pause | None = None
    released_at: float | None = None
    released_in: str = ""


_DECODER = msgspec.json.Decoder(Ledger)


def decode(text: str) -> Ledger:
    """Read a stored ledger; raises `LedgerUnreadable`."""
    try:
        ledger = _DECODER.decode(text)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise LedgerUnreadable(f"ledger: {error}") from error
    if ledger.version != 1:
        raise LedgerUnreadable(f"ledger: version {ledger.version}, expected 1")
    return ledger


def encode(ledger: Ledger) -> str:
    """Write a ledger as JSON, the same bytes for the same value."""
    return msgspec.json.encode(ledger, order="sorted").decode()
