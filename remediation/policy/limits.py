"""What the site allows: mode, limits, thresholds, waits.  Every default is a promise.

Durations are seconds, shares are percent of the pool, probabilities are 0 to 1.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum

import msgspec

from remediation.alert import Remedy, Severity


class Mode(StrEnum):
    """How far the site lets remediation go; the shipped mode is `observe`."""

    OBSERVE = "observe"
    EXCLUDE = "exclude"
    MIGRATE = "migrate"


class Rung(IntEnum):
    """The ladder, lowest first; a higher rung includes the lower ones."""

    OBSERVE = 0
    SOFTEN = 1
    EXCLUDE = 2
    MIGRATE = 3


_CEILING = {Mode.OBSERVE: Rung.OBSERVE, Mode.EXCLUDE: Rung.EXCLUDE, Mode.MIGRATE: Rung.MIGRATE}
_BY_SEVERITY = {
    Severity.INFO: Rung.OBSERVE,
    Severity.WARNING: Rung.SOFTEN,
    Severity.CRITICAL: Rung.MIGRATE,
}
# A facility event is one episode of its domain; until that is built, it is only recorded.
_BY_REMEDY = {
    Remedy.EXCLUDE: Rung.EXCLUDE,
    Remedy.MIGRATE: Rung.MIGRATE,
    Remedy.FACILITY: Rung.OBSERVE,
}


def _at_least(least: int, **values: int) -> None:
    for name, value in values.items():
        if value < least:
            raise ValueError(f"{name} is {value}, expected at least {least}")


def _percent(**values: float) -> None:
    for name, value in values.items():
        if not 0 < value <= 100:
            raise ValueError(f"{name} is {value}, expected above 0 and at most 100 percent")


def _ratio(**values: float) -> None:
    for name, value in values.items():
        if not 0 < value < 1:
            raise ValueError(f"{name} is {value}, expected a probability between 0 and 1")


def _positive(**values: float) -> None:
    for name, value in values.items():
        if value <= 0:
            raise ValueError(f"{name} is {value}, expected more than 0 seconds")


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of the policy: immutable, strict, checked when made."""


class Limits(_Part, frozen=True, kw_only=True):
    """How much may happen, how fast, and when everything stops."""

    concurrency: int = 2
    unavailable_nodes: int = 5
    unavailable_percent: float = 10.0
    elevated_nodes: int = 10
    elevated_percent: float = 20.0
    token_burst: int = 2
    token_refill_seconds: float = 600.0
    breaker_grants: int = 3
    breaker_percent: float = 10.0
    breaker_window_seconds: float = 3600.0
    grant_expiry_seconds: float = 300.0
    suspects: int = 2000

    def __post_init__(self) -> None:
        _at_least(1, concurrency=self.concurrency, token_burst=self.token_burst)
        _at_least(1, unavailable_nodes=self.unavailable_nodes, breaker_grants=self.breaker_grants)
        _at_least(1, elevated_nodes=self.elevated_nodes, suspects=self.suspects)
        _percent(unavailable_percent=self.unavailable_percent, breaker_percent=self.breaker_percent)
        _percent(elevated_percent=self.elevated_percent)
        _positive(
            token_refill_seconds=self.token_refill_seconds,
            breaker_window_seconds=self.breaker_window_seconds,
            grant_expiry_seconds=self.grant_expiry_seconds,
        )


class EvidenceBar(_Part, frozen=True, kw_only=True):
    """What must be true again, freshly read, before every grant."""

    warning_probability: float = 0.1
    critical_probability: float = 0.3
    freshness_seconds: float = 180.0

    def __post_init__(self) -> None:
        _ratio(warning_probability=self.warning_probability)
        _ratio(critical_probability=self.critical_probability)
        _positive(freshness_seconds=self.freshness_seconds)

    def probability(self, severity: Severity) -> float:
        """Return the least probability that justifies acting on an alert of `severity`."""
        critical = severity is Severity.CRITICAL
        return self.critical_probability if critical else self.warning_probability


class ReleaseBar(_Part, frozen=True, kw_only=True):
    """What a node must show before it comes back."""

    soak_seconds: float = 3600.0
    probability_below: float = 0.05
    interval_seconds: float = 600.0

    def __post_init__(self) -> None:
        _ratio(probability_below=self.probability_below)
        _positive(soak_seconds=self.soak_seconds, interval_seconds=self.interval_seconds)


class MigrationBar(_Part, frozen=True, kw_only=True):
    """Which pods may be moved."""

    allow_empty_dir: bool = False
    allow_unmanaged: bool = False
    protected_namespaces: tuple[str, ...] = ("kube-system",)
    stuck_seconds: float = 120.0

    def __post_init__(self) -> None:
        _positive(stuck_seconds=self.stuck_seconds)


class Policy(_Part, frozen=True, kw_only=True):
    """Everything the plan may know about the site's wishes."""

    mode: Mode = Mode.OBSERVE
    ceilings: dict[str, Mode] = {}
    limits: Limits = Limits()
    evidence: EvidenceBar = EvidenceBar()
    release: ReleaseBar = ReleaseBar()
    migrate: MigrationBar = MigrationBar()

    @property
    def ceiling(self) -> Rung:
        """The highest rung of the site's mode."""
        return _CEILING[self.mode]

    def wanted(self, severity: Severity, remedy: Remedy, cause: str) -> Rung:
        """Return the rung an alert asks for, whatever the mode: the lowest of its bounds."""
        by_cause = _CEILING[self.ceilings.get(cause, Mode.MIGRATE)]
        return min(_BY_SEVERITY[severity], _BY_REMEDY[remedy], by_cause)
