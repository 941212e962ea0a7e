"""Every metric that remediation publishes: name, labels, help, and their zero values."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge, Histogram

from daemon.version import version
from remediation.alert import Ignored
from remediation.policy.facts.refusal import Reason
from remediation.policy.steps import Decision, EpisodeState
from remediation.ports import EvictionOutcome, FailureReason, Source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prometheus_client import CollectorRegistry

    from remediation.policy.guards.use import Use

BUDGET_SCOPES = (
    "concurrency",
    "domain",
    "waves",
    "checkpoints",
    "snapshots",
    "predicted",
    "pool_share",
    "elevated",
    "tokens",
    "breaker",
)
_STATE_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600)
_TICK_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class PostOutcome(StrEnum):
    """What became of one webhook post."""

    ACCEPTED = "accepted"
    NO_CHANGE = "no_change"
    NOTHING_TO_DO = "nothing_to_do"
    UNUSABLE = "unusable"
    UNAUTHORIZED = "unauthorized"
    TOO_LARGE = "too_large"
    UNDECODABLE = "undecodable"
    LEDGER_FULL = "ledger_full"
    UNAVAILABLE = "unavailable"


class Catalog:
    """The families, created in the registry that is passed in; closed labels start at zero."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        self._episodes()
        self._edges()
        self._standing()

    def _episodes(self) -> None:
        self.episodes = self._gauge("episodes", "Episodes by state", ("state",))
        self.decisions = self._counter(
            "decisions", "Changed decisions; acted=false was only observed", ("decision", "acted")
        )
        self.refusals = self._counter(
            "refusals", "Guards that newly refused an episode", ("reason",)
        )
        self.refused = self._gauge("refused_episodes", "Episodes refused now", ("reason",))
        self.steps = self._counter("steps", "Steps done on the cluster", ("decision",))
        self.evictions = self._counter("evictions", "Evictions by outcome", ("outcome",))
        self.alert_to_step = Histogram(
            "forewarn_remediation_alert_to_step_seconds",
            "From hearing the alert to the step done on the cluster",
            ("decision",),
            registry=self._registry,
            buckets=_STATE_SECONDS,
        )
        for decision in Decision:
            self.steps.labels(decision)
            self.alert_to_step.labels(decision)
            for acted in ("true", "false"):
                self.decisions.labels(decision, acted)
        for state in EpisodeState:
            self.episodes.labels(state)
        for reason in Reason:
            self.refusals.labels(reason)
            self.refused.labels(reason)
        for outcome in EvictionOutcome:
            self.evictions.labels(outcome)

    def _edges(self) -> None:
        self.posts = self._counter("webhook_posts", "Webhook posts by outcome", ("outcome",))
        self.ignored = self._counter(
            "ignored_alerts", "Alerts that make no node suspect", ("reason",)
        )
        self.errors = self._counter("errors", "Failed calls and ticks", ("source", "reason"))
        for outcome in PostOutcome:
            self.posts.labels(outcome)
        for why in Ignored:
            self.ignored.labels(why)
        for source in Source:
            for reason in FailureReason:
                self.errors.labels(source, reason)
        self.errors.labels("loop", "unexpected")

    def _standing(self) -> None:
        self.budget_used = self._gauge("budget_used", "Budget used by scope", ("scope",))
        self.budget_available = self._gauge("budget_available", "Budget left by scope", ("scope",))
        for scope in BUDGET_SCOPES:
            self.budget_used.labels(scope)
            self.budget_available.labels(scope)
        self.facility_events = self._gauge(
            "facility_events", "Domains in trouble as a whole, such as a rack"
        )
        self.breaker_open = self._gauge("breaker_open", "1 while the breaker stops new harm")
        self.paused = self._gauge("paused", "1 while a person paused remediation")
        self.leader = self._gauge("leader", "1 while this replica acts")
        self.suspects = self._gauge("suspects", "Alerts in the ledger")
        self.last_tick = self._gauge("last_tick_timestamp_seconds", "End of the last whole tick")
        self.reload_success = self._gauge(
            "settings_reload_success", "0 while the settings file on disk is not the one in force"
        )
        self.reload_success.set(1)
        self.tick_duration = Histogram(
            "forewarn_remediation_tick_duration_seconds",
            "Duration of one tick",
            registry=self._registry,
            buckets=_TICK_SECONDS,
        )
        self.evidence_duration = Histogram(
            "forewarn_remediation_evidence_duration_seconds",
            "Duration of asking Alertmanager and Prometheus once",
            registry=self._registry,
            buckets=_TICK_SECONDS,
        )
        build = self._gauge("build_info", "Always 1", ("version",))
        build.labels(version()).set(1)

    def show_budget(self, uses: Mapping[str, Use]) -> None:
        """Publish used and available of every scope."""
        for scope, use in uses.items():
            self.budget_used.labels(scope).set(use.used)
            self.budget_available.labels(scope).set(use.available)

    def _gauge(self, name: str, text: str, labels: tuple[str, ...] = ()) -> Gauge:
        return Gauge(f"forewarn_remediation_{name}", text, labels, registry=self._registry)

    def _counter(self, name: str, text: str, labels: tuple[str, ...] = ()) -> Counter:
        return Counter(f"forewarn_remediation_{name}", text, labels, registry=self._registry)
