"""Who may act: one replica at a time, by a Lease that is renewed or lost.

Time is measured on the own monotonic clock alone.  A holder counts its lease
from before the renewal was sent; a rival waits a whole duration after it last
saw the record change.  Clocks of other machines are never compared.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from remediation.ports import CallFailed, Conflict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from daemon.clocks import Clock

# A holder that could not renew stops this share of the duration before rivals may start.
_HOLD_SHARE = 2 / 3


def renewal_call_seconds(
    *, duration_seconds: float, retry_seconds: float, timeout_seconds: float
) -> float:
    """Bound one call of a renewal: three that stall fit between the last good one and the end.

    `timeout_seconds` bounds every call anyhow.
    """
    held = _HOLD_SHARE * duration_seconds
    return min(timeout_seconds, (held - retry_seconds) / 3)


@dataclass(frozen=True, slots=True)
class LeaseRecord:
    """What the Lease says; `renewed` is opaque, `version` is "" for one not yet created."""

    holder: str
    transitions: int
    duration_seconds: int
    renewed: str = ""
    version: str = ""


class LeaseStore(Protocol):
    """Where the Lease lives."""

    def read(self) -> LeaseRecord | None:
        """Return the record, None when there is none; raises `CallFailed`."""

    def write(self, record: LeaseRecord, *, now: float) -> None:
        """Create or replace it; raises `Conflict` when another was faster."""


@dataclass(frozen=True, slots=True)
class _Seen:
    record: LeaseRecord
    at: float


class Elector:
    """Contends for the Lease, one `attempt` at a time.

    `epoch_floor` returns the highest epoch ever recorded elsewhere, so that a
    deleted Lease does not start the count anew.  `call_seconds` is the longest
    that one call of the loop may take.  `lost_while_acting` is called when the
    lease ran out while a write may still be under way: the only safe answer is
    to end the process.
    """

    def __init__(
        self,
        store: LeaseStore,
        *,
        identity: str,
        duration_seconds: int,
        call_seconds: float,
        clock: Clock,
        epoch_floor: Callable[[], int],
        lost_while_acting: Callable[[], None],
    ) -> None:
        self._store = store
        self._identity = identity
        self._duration = duration_seconds
        self._call_seconds = call_seconds
        self._clock = clock
        self._epoch_floor = epoch_floor
        self._lost_while_acting = lost_while_acting
        self._lock = threading.Lock()
        self._seen: _Seen | None = None
        self._epoch = 0
        self._until = 0.0
        self._acting = 0

    @property
    def holder(self) -> str:
        """Who leads, as last seen."""
        return self._seen.record.holder if self._seen is not None else ""

    def epoch(self) -> int:
        """Return the own epoch while enough of the lease is left to finish a call, else 0."""
        with self._lock:
            left = self._until - self._clock.monotonic()
            return self._epoch if left > self._call_seconds else 0

    @contextmanager
    def acting(self) -> Iterator[None]:
        """Mark that a write is under way; several may be, each on its own thread."""
        with self._lock:
            self._acting += 1
        try:
            yield
        finally:
            with self._lock:
                self._acting -= 1

    def attempt(self) -> CallFailed | None:
        """Renew, take over or watch, once; return what failed, if anything did."""
        self._expire()
        sent = self._clock.monotonic()
        try:
            found = self._store.read()
            wanted = self._wanted(found)
            if wanted is not None:
                self._store.write(wanted, now=self._clock.wall())
                self._won(wanted, sent)
        except Conflict:
            return None  # another replica was faster: look again at the next attempt
        except CallFailed as failure:
            return failure
        return None

    def resign(self) -> None:
        """Give the lease back, so that another replica need not wait for it to run out."""
        with self._lock:
            mine, self._epoch = self._epoch > 0, 0
        if not mine:
            return
        found = self._store.read()
        if found is not None and found.holder == self._identity:
            self._store.write(replace(found, holder=""), now=self._clock.wall())

    def _wanted(self, found: LeaseRecord | None) -> LeaseRecord | None:
        """Return the record to write, None when another holds the lease."""
        if found is None:
            return self._claim(LeaseRecord("", 0, self._duration))
        changed = self._seen is None or self._seen.record != found
        if changed:
            self._seen = _Seen(found, self._clock.monotonic())
        if found.holder == self._identity and self._epoch > 0:
            return replace(found, duration_seconds=self._duration)
        if found.holder in {"", self._identity} or self._ran_out(found):
            return self._claim(found)
        return None

    def _ran_out(self, found: LeaseRecord) -> bool:
        assert self._seen is not None  # noqa: S101 - set by the caller
        return self._clock.monotonic() - self._seen.at > found.duration_seconds

    def _claim(self, found: LeaseRecord) -> LeaseRecord:
        epoch = max(found.transitions, self._epoch_floor()) + 1
        return replace(
            found, holder=self._identity, transitions=epoch, duration_seconds=self._duration
        )

    def _won(self, record: LeaseRecord, sent: float) -> None:
        with self._lock:
            self._epoch = record.transitions
            self._until = sent + self._duration * _HOLD_SHARE

    def _expire(self) -> None:
        with self._lock:
            over = self._epoch > 0 and self._clock.monotonic() >= self._until
            if not over:
                return
            self._epoch = 0
            acting = self._acting > 0
        if acting:
            self._lost_while_acting()
