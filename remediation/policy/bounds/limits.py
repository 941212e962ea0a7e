"""What the site allows: mode, limits, thresholds, waits.  Every default is a promise.

Durations are seconds, shares are percent of the pool, probabilities are 0 to 1.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum

import msgspec

from remediation.alert import Remedy, Severity
from remediation.policy.bounds.checks import Part, at_least, not_negative, percent, positive, ratio
from remediation.policy.bounds.distress import DistressBar
from remediation.policy.bounds.facility import FacilityBar
from remediation.policy.bounds.gpu import GpuBar
from remediation.policy.bounds.handover import HandoverBar
from remediation.policy.bounds.migration import MigrationBar
from remediation.policy.bounds.targets import COOL, TargetCondition
from remediation.policy.bounds.windows import Window


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
# A facility alert moves no node of its own: it is a sign of trouble in a whole domain.
_BY_REMEDY = {
    Remedy.EXCLUDE: Rung.EXCLUDE,
    Remedy.MIGRATE: Rung.MIGRATE,
    Remedy.FACILITY: Rung.OBSERVE,
}


class DomainLimit(Part, frozen=True, kw_only=True):
    """How many nodes that share one value of a node label may be in flight at once.

    Nodes without the label are one domain of their own, held to the strictest
    limit of the list: what is not known to be apart is taken to be together.
    """

    label: str
    concurrency: int = 1

    def __post_init__(self) -> None:
        at_least(1, concurrency=self.concurrency)
        if not self.label.strip():
            raise ValueError("label is empty, expected the name of a node label")


_RACK = DomainLimit(label="topology.kubernetes.io/rack")


class Limits(Part, frozen=True, kw_only=True):
    """How much may happen, how fast, and when everything stops."""

    concurrency: int = 2
    domains: tuple[DomainLimit, ...] = (_RACK,)
    waves: int = 1
    namespace_waves: int = 1
    wave_nodes: int = 0
    checkpoints: int = 2
    snapshots: int = 2
    unavailable_nodes: int = 5
    unavailable_percent: float = 10.0
    elevated_nodes: int = 10
    elevated_percent: float = 20.0
    predicted_nodes: int = 3
    predicted_percent: float = 20.0
    token_burst: int = 2
    token_refill_seconds: float = 600.0
    breaker_grants: int = 3
    breaker_percent: float = 10.0
    breaker_window_seconds: float = 3600.0
    node_cooldown_seconds: float = 21600.0
    job_cooldown_seconds: float = 3600.0
    replica_cooldown_seconds: float = 0.0
    flap_episodes: int = 3
    flap_window_seconds: float = 86400.0
    patience_seconds: float = 1800.0
    stale_drain_seconds: float = 3600.0
    grant_expiry_seconds: float = 300.0
    suspects: int = 2000

    def __post_init__(self) -> None:
        at_least(1, concurrency=self.concurrency, token_burst=self.token_burst)
        at_least(1, waves=self.waves, namespace_waves=self.namespace_waves)
        at_least(1, checkpoints=self.checkpoints, snapshots=self.snapshots)
        at_least(1, unavailable_nodes=self.unavailable_nodes, breaker_grants=self.breaker_grants)
        at_least(1, elevated_nodes=self.elevated_nodes, suspects=self.suspects)
        at_least(1, predicted_nodes=self.predicted_nodes, flap_episodes=self.flap_episodes)
        at_least(0, wave_nodes=self.wave_nodes)
        percent(unavailable_percent=self.unavailable_percent, breaker_percent=self.breaker_percent)
        percent(elevated_percent=self.elevated_percent, predicted_percent=self.predicted_percent)
        positive(
            token_refill_seconds=self.token_refill_seconds,
            breaker_window_seconds=self.breaker_window_seconds,
            grant_expiry_seconds=self.grant_expiry_seconds,
            flap_window_seconds=self.flap_window_seconds,
            patience_seconds=self.patience_seconds,
            stale_drain_seconds=self.stale_drain_seconds,
        )
        not_negative(
            node_cooldown_seconds=self.node_cooldown_seconds,
            job_cooldown_seconds=self.job_cooldown_seconds,
            replica_cooldown_seconds=self.replica_cooldown_seconds,
        )
        _each_once(self.domains)

    @property
    def strictest_domain(self) -> int:
        """The limit of nodes that lack the label of a domain."""
        return min(domain.concurrency for domain in self.domains)


def _each_once(domains: tuple[DomainLimit, ...]) -> None:
    labels = [domain.label for domain in domains]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"domains name {label} twice")


class EvidenceBar(Part, frozen=True, kw_only=True):
    """What must be true again, freshly read, before every grant."""

    warning_probability: float = 0.05
    critical_probability: float = 0.1
    freshness_seconds: float = 180.0
    ahead_seconds: float = 30.0
    provenances: tuple[str, ...] = ("node", "fleet", "bundled-simulated")
    refused_models: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        ratio(warning_probability=self.warning_probability)
        ratio(critical_probability=self.critical_probability)
        if self.warning_probability > self.critical_probability:
            raise ValueError(
                f"warning_probability is {self.warning_probability:g}, expected at most "
                f"critical_probability ({self.critical_probability:g}): a warning comes first"
            )
        positive(freshness_seconds=self.freshness_seconds)
        not_negative(ahead_seconds=self.ahead_seconds)

    def probability(self, severity: Severity) -> float:
        """Return the least probability that justifies acting on an alert of `severity`."""
        critical = severity is Severity.CRITICAL
        return self.critical_probability if critical else self.warning_probability


class ReleaseBar(Part, frozen=True, kw_only=True):
    """What a node must show before it comes back."""

    soak_seconds: float = 3600.0
    probability_below: float = 0.03
    interval_seconds: float = 600.0
    jitter_seconds: float = 120.0
    probation_seconds: float = 1800.0
    quiet_probation_seconds: float = 86400.0

    def __post_init__(self) -> None:
        ratio(probability_below=self.probability_below)
        positive(soak_seconds=self.soak_seconds, interval_seconds=self.interval_seconds)
        not_negative(jitter_seconds=self.jitter_seconds)
        positive(
            probation_seconds=self.probation_seconds,
            quiet_probation_seconds=self.quiet_probation_seconds,
        )


CAUSES = frozenset({"memory", "interconnect", "thermal", "power", "device", "facility"})
"""The causes that alerts may carry."""


class Policy(Part, frozen=True, kw_only=True):
    """Everything the plan may know about the site's wishes."""

    mode: Mode = Mode.OBSERVE
    ceilings: dict[str, Mode] = msgspec.field(default_factory=dict)
    limits: Limits = Limits()
    evidence: EvidenceBar = EvidenceBar()
    release: ReleaseBar = ReleaseBar()
    migrate: MigrationBar = MigrationBar()
    distress: DistressBar = DistressBar()
    facility: FacilityBar = FacilityBar()
    gpu: GpuBar = GpuBar()
    handover: HandoverBar = HandoverBar()
    maintenance_windows: tuple[Window, ...] = ()
    targets: tuple[TargetCondition, ...] = (COOL,)

    def __post_init__(self) -> None:
        # A misspelt cause would leave the real one without its ceiling.
        named = {"ceilings": set(self.ceilings), "gpu.causes": set(self.gpu.causes)}
        for where, causes in named.items():
            if unknown := sorted(causes - CAUSES):
                raise ValueError(f"{where}: {unknown}: expected causes among {sorted(CAUSES)}")

    @property
    def ceiling(self) -> Rung:
        """The highest rung of the site's mode."""
        return _CEILING[self.mode]

    def speaks(self, severity: Severity, cause: str) -> bool:
        """Return whether an alert may be a sign of anything: not one that is for the record."""
        silenced = self.ceilings.get(cause) is Mode.OBSERVE
        return _BY_SEVERITY[severity] is not Rung.OBSERVE and not silenced

    def wanted(self, severity: Severity, remedy: Remedy, cause: str) -> Rung:
        """Return the rung an alert asks for, whatever the mode: the lowest of its bounds."""
        by_cause = _CEILING[self.ceilings.get(cause, Mode.MIGRATE)]
        return min(_BY_SEVERITY[severity], _BY_REMEDY[remedy], by_cause)
