"""What an evaluation found, as it is written to JSON, printed and drawn.

Leads and developments are hours, intervals two-sided and bounds one-sided, both
95 %; a number that does not exist (no detection, no failure) is absent or None.
"""

from __future__ import annotations

import msgspec


class MixLine(msgspec.Struct, frozen=True):
    """Recall, and the precision that it gives, with each kind as frequent as in the field."""

    recall: float
    recall_interval: tuple[float, float]
    precision: float
    precision_lower: float


class Line(msgspec.Struct, frozen=True):
    """Results at one horizon and threshold; leads are empty without detection.

    Recall and the precision at the field's rate are over the kinds as they were
    simulated, equally many of each; `of_mix` over kinds as often as the field has
    them, None where the failures are not of simulated kinds.
    """

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
    of_mix: MixLine | None = None


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
    expected_error: float
    """`calibration.expected_error`: a probability, to be read beside `failing_ratio`."""
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


class ShippedLine(msgspec.Struct, frozen=True):
    """The shipped alert of one severity, looked at in one of the ways of `judging.shipped`.

    The bound of false alerts is one-sided, their interval and that of recall two-sided.
    """

    severity: str
    looked_at: str
    events: int
    detected: int
    recall_interval: tuple[float, float]
    gradual_events: int
    gradual_detected: int
    lead_hours_quartiles: tuple[float, ...]
    false_alerts: int
    false_alerts_per_node_week: float
    false_alerts_per_node_week_interval: tuple[float, float]
    false_alerts_per_node_week_upper: float


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
    shipped: tuple[ShippedLine, ...] = ()
    limits: tuple[tuple[str, str], ...] = ()
    """Rivals that these data do not allow, or not the whole of them, and why."""
