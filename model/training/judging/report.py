"""What an evaluation found, as it is written to JSON, printed and drawn.

Leads and developments are hours, intervals two-sided and bounds one-sided, both
95 %; a number that does not exist (no detection, no failure) is absent or None.
"""

from __future__ import annotations

import msgspec


class Line(msgspec.Struct, frozen=True):
    """Results at one horizon and threshold; leads are empty without detection."""

    horizon: str
    threshold: float
    events: int
    detected: int
    recall_interval: tuple[float, float]
    right_cause: int
    false_alerts: int
    false_alerts_per_node_week: float
    false_alerts_per_node_week_upper: float
    precision: float
    precision_at_field_rate: float
    precision_at_field_rate_lower: float
    lead_hours_quartiles: tuple[float, ...]


class KindLine(msgspec.Struct, frozen=True):
    """Results of one kind of story at the headline's horizon and threshold.

    `lead_hours` and `development_hours` (onset to failure) are those of the detected.
    """

    kind: str
    cause: str
    sudden: bool
    episodes: int
    node_weeks: float
    detected: int
    recall_interval: tuple[float, float]
    right_cause: int
    false_alerts: int
    lead_hours_quartiles: tuple[float, ...]
    highest_probability_median: float
    highest_probability_worst: float
    lead_hours: tuple[float, ...]
    development_hours: tuple[float, ...]


class PaceLine(msgspec.Struct, frozen=True):
    """Results at one level by the time from onset to failure; sudden kinds apart."""

    horizon: str
    threshold: float
    label: str
    events: int
    detected: int
    recall_interval: tuple[float, float]
    lead_hours_quartiles: tuple[float, ...]
    median_share_foreseen: float
    """Lead over development, median of the detected."""


class CalibrationLine(msgspec.Struct, frozen=True):
    """One horizon's probability at one moment an hour, weighed to the field's rate of failures."""

    horizon: str
    moments: int
    failing_ratio: float
    brier: float
    brier_of_always_healthy: float
    brier_of_base_rate: float
    slope: float | None
    slope_interval: tuple[float, float] | None
    observed_over_expected: float | None
    observed_over_expected_interval: tuple[float, float] | None
    reliability: tuple[tuple[float, float, int], ...]


class Curve(msgspec.Struct, frozen=True):
    """Recall at each of `budget.BUDGETS`, and every operating point as (false rate, recall)."""

    name: str
    recall_at_budgets: tuple[float, ...]
    points: tuple[tuple[float, float], ...]


class RivalLine(msgspec.Struct, frozen=True):
    """A rival at its own threshold, and ours at no more false alerts than that.

    Of events that both detect, `earlier` were seen by ours first, `same` in the
    same moment; `not_earlier` lists the rest as kind and node.  `brier` is that
    of the rival's score made a probability on the training data, per horizon.
    """

    name: str
    threshold: float
    events: int
    detected: int
    false_alerts_per_node_week: float
    false_alerts_per_node_week_upper: float
    lead_hours_quartiles: tuple[float, ...]
    ours_threshold: float
    ours_detected: int
    ours_false_alerts_per_node_week: float
    shared: int
    earlier: int
    same: int
    not_earlier: tuple[tuple[str, str], ...]
    brier: tuple[float, ...]


class Example(msgspec.Struct, frozen=True):
    """One node's story: probabilities [moment][horizon], score [moment], and what drove it."""

    node: str
    kind: str
    onset_hours: float | None
    failure_hours: float | None
    alert_hours: float | None
    cause: str
    hours: tuple[float, ...]
    probabilities: tuple[tuple[float, ...], ...]
    score: tuple[float, ...]
    contributions: tuple[tuple[str, float], ...]
    """Channel and share, largest first, at the alert or else at the highest probability."""


class Report(msgspec.Struct, frozen=True):
    """The whole evaluation; `exposed_node_weeks` are those in which any alert is false."""

    data: str
    node_weeks: float
    quiet_node_weeks: float
    exposed_node_weeks: float
    events: int
    failures: dict[str, int]
    """Events by cause."""
    field_failures_per_node_week: float
    headline_horizon: str
    headline_threshold: float
    horizons: tuple[str, ...]
    budgets: tuple[float, ...]
    lines: tuple[Line, ...]
    kinds: tuple[KindLine, ...]
    paces: tuple[PaceLine, ...]
    calibration: tuple[CalibrationLine, ...]
    curves: tuple[Curve, ...]
    rivals: tuple[RivalLine, ...]
    examples: tuple[Example, ...]
    limits: tuple[tuple[str, str], ...] = ()
    """Rivals that these data do not allow, or not the whole of them, and why."""
