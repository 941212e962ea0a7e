"""The ledger and the lease in memory, behind the same ports as the real ones."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from daemon.clocks import Clock
from remediation.leadership import LeaseRecord
from remediation.policy.facts.ledger import Ledger
from remediation.ports import CallFailed, Conflict, FailureReason, StoredLedger


@dataclass
class MemoryLedger:
    """Compare-and-swap on one value; `rivals` write this many times before each of our writes.

    A conflict is told only after `hesitates_seconds`.
    """

    ledger: Ledger = field(default_factory=Ledger)
    version: int = 0
    writes: int = 0
    rivals: int = 0
    broken: bool = False
    loses_answers: bool = False
    hesitates_seconds: float = 0.0
    seen: StoredLedger | None = None

    def last(self) -> StoredLedger | None:
        return self.seen

    def read(self) -> StoredLedger:
        if self.broken:
            raise CallFailed("read ledger: no answer in time", FailureReason.TIMEOUT)
        return StoredLedger(self.ledger, str(self.version) if self.version else "")

    def write(self, ledger: Ledger, version: str) -> StoredLedger:
        if self.rivals:
            self.rivals -= 1
            self.version += 1
        if version != (str(self.version) if self.version else ""):
            time.sleep(self.hesitates_seconds)
            raise Conflict("write ledger: it changed")
        self.ledger, self.version, self.writes = ledger, self.version + 1, self.writes + 1
        if self.loses_answers:
            raise CallFailed("write ledger: no answer in time", FailureReason.TIMEOUT)
        return StoredLedger(ledger, str(self.version))


@dataclass
class MemoryLease:
    """One lease that several electors contend for."""

    record: LeaseRecord | None = None
    broken: bool = False
    writes: int = 0

    def read(self) -> LeaseRecord | None:
        if self.broken:
            raise CallFailed("read lease: no answer in time", FailureReason.TIMEOUT)
        return self.record

    def write(self, record: LeaseRecord, *, now: float) -> None:
        current = self.record.version if self.record is not None else ""
        if record.version != current:
            raise Conflict("write lease: it changed")
        self.writes += 1
        self.record = replace(record, version=str(self.writes), renewed=f"{now}/{self.writes}")


@dataclass
class HandClock:
    """A clock that moves when the test says so; both of its faces move together."""

    now: float = 1_000.0

    @property
    def clock(self) -> Clock:
        return Clock(wall=lambda: 1_800_000_000.0 + self.now, monotonic=lambda: self.now)

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
