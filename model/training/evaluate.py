"""What an artefact is worth: it is replayed, step by step, over nodes it never saw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from model.artefact import Evaluation
from model.training.hazard import BASE_FAILURES_PER_NODE_WEEK
from model.training.labels import within
from model.training.rates import poisson_upper
from model.training.replay import highest, judge, replay, weeks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from model.runtime import Predictor
    from model.training.dataset import Episode
    from model.training.replay import Replay

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
HEADLINE = ("24h", 0.5)
"""Horizon and threshold of the summary that the artefact carries; fixed, not chosen by result."""

BRIER_EVERY_STEPS = 60
FIELD_RATE = BASE_FAILURES_PER_NODE_WEEK


class Line(msgspec.Struct, frozen=True):
    """Results at one horizon and threshold; leads are hours, empty without detection.

    Bounds are one-sided, 95 %: few node-weeks without a false alert prove little.
    """

    horizon: str
    threshold: float
    events: int
    detected: int
    right_cause: int
    false_alerts: int
    false_alerts_per_node_week: float
    false_alerts_per_node_week_upper: float
    precision: float
    precision_at_field_rate: float
    precision_at_field_rate_lower: float
    lead_hours_quartiles: tuple[float, ...]


class KindLine(msgspec.Struct, frozen=True):
    """Results of one kind of story at the headline's horizon and threshold."""

    kind: str
    episodes: int
    node_weeks: float
    detected: int
    right_cause: int
    false_alerts: int
    lead_hours_quartiles: tuple[float, ...]
    highest_probability_median: float
    highest_probability_worst: float


class BrierLine(msgspec.Struct, frozen=True):
    """Mean squared error of the probability of one horizon, beside two answers without a model.

    Moments of nodes that do not fail are weighed up until failures are as rare
    as in the field (`failing_ratio`), since that is what the probability is for.
    """

    horizon: str
    moments: int
    failing_ratio: float
    brier: float
    brier_of_always_healthy: float
    brier_of_base_rate: float


class Report(msgspec.Struct, frozen=True):
    """The whole table."""

    data: str
    node_weeks: float
    quiet_node_weeks: float
    events: int
    field_failures_per_node_week: float
    lines: tuple[Line, ...]
    kinds: tuple[KindLine, ...]
    brier: tuple[BrierLine, ...]


def evaluate(
    predictor: Predictor, episodes: Iterable[Episode], data: str, *, as_they_are: bool = False
) -> Report:
    """Replay and judge; `data` says in words what the episodes are.

    They are weighed to the field's rate of failures, or counted `as_they_are`
    where they are a site's own time.
    """
    replays = [replay(predictor, episode) for episode in episodes]
    horizons, causes = predictor.info.horizons, predictor.info.causes
    quiet = sum(weeks(one) for one in replays if one.outcome is None)
    events = sum(one.outcome is not None for one in replays)
    rate = events / max(sum(map(weeks, replays)), 1e-9) if as_they_are else FIELD_RATE
    quiet_weight = 1.0 if as_they_are else _quiet_weight(events, quiet)
    return Report(
        data=data,
        node_weeks=sum(map(weeks, replays)),
        quiet_node_weeks=quiet,
        events=events,
        field_failures_per_node_week=rate,
        lines=tuple(
            _line(replays, causes, horizons, horizon, threshold, quiet, rate)
            for horizon in range(len(horizons))
            for threshold in THRESHOLDS
        ),
        kinds=tuple(
            _kind_line(kind, [one for one in replays if one.kind == kind], causes, horizons)
            for kind in dict.fromkeys(one.kind for one in replays)
        ),
        brier=tuple(
            _brier(replays, horizons, horizon, quiet_weight) for horizon in range(len(horizons))
        ),
    )


def summarise(report: Report) -> Evaluation:
    """Return the headline as the artefact carries it."""
    horizon, threshold = HEADLINE
    line = next(x for x in report.lines if x.horizon == horizon and x.threshold == threshold)
    brier = next(x for x in report.brier if x.horizon == horizon)
    leads = line.lead_hours_quartiles or (0.0, 0.0, 0.0)
    return Evaluation(
        data=report.data,
        horizon=horizon,
        threshold=threshold,
        events=line.events,
        node_weeks=report.node_weeks,
        base_rate_per_node_week=report.events / report.node_weeks if report.node_weeks else 0.0,
        event_recall=line.detected / line.events if line.events else 0.0,
        precision=line.precision,
        precision_at_field_rate_lower=line.precision_at_field_rate_lower,
        field_rate_per_node_week=report.field_failures_per_node_week,
        false_alerts_per_node_week=line.false_alerts_per_node_week,
        false_alerts_per_node_week_upper=line.false_alerts_per_node_week_upper,
        median_lead_hours=leads[1],
        lead_hours_quartiles=(leads[0], leads[2]),
        brier=brier.brier,
        brier_of_base_rate=brier.brier_of_base_rate,
        brier_of_always_healthy=brier.brier_of_always_healthy,
    )


def _line(
    replays: Sequence[Replay],
    causes: Sequence[str],
    horizons: Sequence[str],
    horizon: int,
    threshold: float,
    quiet_weeks: float,
    field_rate: float,
) -> Line:
    verdicts = [judge(one, causes, horizon, threshold) for one in replays]
    leads = [verdict.lead_hours for verdict in verdicts if verdict.lead_hours is not None]
    events = sum(one.outcome is not None for one in replays)
    false = sum(verdict.false_alerts for verdict in verdicts)
    rate = false / quiet_weeks if quiet_weeks else 0.0
    upper = poisson_upper(false) / quiet_weeks if quiet_weeks else 0.0
    recall = len(leads) / events if events else 0.0
    return Line(
        horizon=horizons[horizon],
        threshold=threshold,
        events=events,
        detected=len(leads),
        right_cause=sum(verdict.right for verdict in verdicts),
        false_alerts=false,
        false_alerts_per_node_week=rate,
        false_alerts_per_node_week_upper=upper,
        precision=_share(len(leads), false),
        precision_at_field_rate=_share(recall * field_rate, rate),
        precision_at_field_rate_lower=_share(recall * field_rate, upper),
        lead_hours_quartiles=_quartiles(leads),
    )


def _kind_line(
    kind: str, replays: Sequence[Replay], causes: Sequence[str], horizons: Sequence[str]
) -> KindLine:
    horizon, threshold = horizons.index(HEADLINE[0]), HEADLINE[1]
    verdicts = [judge(one, causes, horizon, threshold) for one in replays]
    peaks = [highest(one, horizon) for one in replays]
    return KindLine(
        kind=kind,
        episodes=len(replays),
        node_weeks=sum(map(weeks, replays)),
        detected=sum(verdict.lead_hours is not None for verdict in verdicts),
        right_cause=sum(verdict.right for verdict in verdicts),
        false_alerts=sum(verdict.false_alerts for verdict in verdicts),
        lead_hours_quartiles=_quartiles(
            [verdict.lead_hours for verdict in verdicts if verdict.lead_hours is not None]
        ),
        highest_probability_median=float(np.median(peaks)),
        highest_probability_worst=float(
            np.min(peaks) if replays[0].outcome is not None else np.max(peaks)
        ),
    )


def _quiet_weight(events: int, quiet_weeks: float) -> float:
    """How many real quiet node-weeks one of the evaluated ones stands for."""
    if not events or not quiet_weeks:
        return 1.0
    return events / BASE_FAILURES_PER_NODE_WEEK / quiet_weeks


def _brier(
    replays: Sequence[Replay], horizons: Sequence[str], horizon: int, quiet_weight: float
) -> BrierLine:
    """Judge one moment an hour, as far as it is known what became of the node."""
    predicted, failed, weights = [], [], []
    for one in replays:
        failure = None if one.outcome is None else one.outcome.hours
        hours = one.hours[::BRIER_EVERY_STEPS]
        truth, known = within(hours, failure, one.end_hours)
        usable = known[:, horizon] & (hours < (np.inf if failure is None else failure))
        predicted.append(one.node[::BRIER_EVERY_STEPS, horizon][usable])
        failed.append(truth[usable, horizon])
        weights.append(np.full(int(usable.sum()), quiet_weight if failure is None else 1.0))
    came, weight = np.concatenate(failed).astype(np.float64), np.concatenate(weights)
    if not len(came):
        return BrierLine(horizons[horizon], 0, 0.0, 0.0, 0.0, 0.0)
    base = float(np.average(came, weights=weight))
    return BrierLine(
        horizon=horizons[horizon],
        moments=len(came),
        failing_ratio=base,
        brier=float(np.average((np.concatenate(predicted) - came) ** 2, weights=weight)),
        brier_of_always_healthy=base,
        brier_of_base_rate=base * (1.0 - base),
    )


def _share(right: float, wrong: float) -> float:
    return right / (right + wrong) if right + wrong else 0.0


def _quartiles(leads: Sequence[float]) -> tuple[float, ...]:
    return tuple(float(q) for q in np.percentile(leads, (25, 50, 75))) if leads else ()
