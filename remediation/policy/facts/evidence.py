"""Evidence: what Alertmanager and Prometheus said when they were last asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remediation.alert import Alert


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What Prometheus holds about one node now.

    `probabilities` is keyed by (horizon, cause), cause "" for the node as a
    whole; None marks several series where one was expected.  `provenance` says
    what the model in force was trained on, `version` which one it is, `doubts`
    what its exporter holds against it; None where the exporter does not say.  `gpus`
    is keyed by (horizon, uuid), where it was asked for.
    """

    age_seconds: float | None = None
    state: str | None = None
    provenance: str | None = None
    version: str | None = None
    doubts: frozenset[str] | None = None
    probabilities: Mapping[tuple[str, str], float | None] = field(default_factory=dict)
    gpus: Mapping[tuple[str, str], float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One reading of Alertmanager and Prometheus; None means it could not be read.

    `polled_at` is when Alertmanager was asked (Unix seconds).  `distress` names
    the alerts of the cluster itself that fire, among those the policy chose;
    `targets` what was measured for each condition of targets, by node; `by_key`
    the alerts by the key of their condition, the first of each.
    """

    alerts: tuple[Alert, ...] | None = None
    polled_at: float = 0.0
    predictions: Mapping[str, Prediction] | None = None
    targets: Mapping[str, Mapping[str, float] | None] = field(default_factory=dict)
    distress: frozenset[str] | None = frozenset()
    by_key: Mapping[str, Alert] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Every suspect looks its alert up: once through the list for all of them.
        by_key = {alert.key: alert for alert in reversed(self.alerts or ())}
        object.__setattr__(self, "by_key", by_key)
