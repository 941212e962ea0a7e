"""What an artefact is worth: it is replayed over nodes it never saw, beside its rivals."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from model.artefact import Evaluation
from model.training.judging import calibration, shipped
from model.training.judging.budget import BUDGETS, exposed_weeks
from model.training.judging.comparison import Rated, compare, curves
from model.training.judging.examples import examples
from model.training.judging.lines import HEADLINE, THRESHOLDS, Judged, at_level, by_pace, of_kind
from model.training.judging.replay import replay
from model.training.judging.report import CalibrationLine, Report
from model.training.network.hazard import BASE_FAILURES_PER_NODE_WEEK

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from model.artefact import ArtefactInfo
    from model.runtime import Predictor
    from model.training.episodes.dataset import Episode
    from model.training.judging.calibration import Moments
    from model.training.judging.comparison import Beside
    from model.training.judging.course import Course


def evaluate(
    predictor: Predictor,
    episodes: Iterable[Episode],
    data: str,
    rivals: Sequence[Beside] = (),
    *,
    as_they_are: bool = False,
) -> Report:
    """Replay and judge; `data` says in words what the episodes are.

    They are weighed to the rate of failures that the artefact was told, the
    field's or its site's, or counted `as_they_are` where they are a site's own time.
    """
    replays, scores = [], []
    for episode in episodes:
        replays.append(replay(predictor, episode))
        hours = replays[-1].course.hours
        scores.append([rival.score(episode, hours) for rival in rivals])
    info = predictor.info
    judged = Judged(replays, info.horizons, info.causes, info.names)
    rated = [
        rival.rated(judged.courses, [one[place] for one in scores], len(info.horizons))
        for place, rival in enumerate(rivals)
    ]
    return report(judged, rated, data, None if as_they_are else usual_rate(info))


def usual_rate(info: ArtefactInfo) -> float:
    """Return failures per node-week as the artefact was told them."""
    return info.base_rate.total if info.base_rate is not None else BASE_FAILURES_PER_NODE_WEEK


def report(judged: Judged, rivals: Sequence[Rated], data: str, field_rate: float | None) -> Report:
    """Measure everything that can be said of the replays and of the rivals beside them.

    Failures are weighed to `field_rate` per node-week; None: to what they are.
    """
    courses, headline = judged.courses, judged.horizons.index(HEADLINE[0])
    weeks = sum(course.weeks for course in courses)
    events = sum(course.outcome is not None for course in courses)
    rate = events / max(weeks, 1e-9) if field_rate is None else field_rate
    heavy = 1.0 if field_rate is None else None
    at = [
        calibration.moments(courses, horizon, heavy, rate)
        for horizon in range(len(judged.horizons))
    ]
    alone = np.zeros(len(courses), np.int64)
    ours = Rated("Forewarn", HEADLINE[1], judged.values(headline), (), alone)
    return Report(
        data=data,
        node_weeks=weeks,
        quiet_node_weeks=sum(course.weeks for course in courses if course.outcome is None),
        exposed_node_weeks=exposed_weeks(courses),
        events=events,
        failures=_by_cause(courses),
        field_failures_per_node_week=rate,
        headline_horizon=HEADLINE[0],
        headline_threshold=HEADLINE[1],
        horizons=judged.horizons,
        budgets=BUDGETS,
        lines=tuple(
            at_level(judged, horizon, threshold, rate)
            for horizon in range(len(judged.horizons))
            for threshold in THRESHOLDS
        ),
        kinds=tuple(
            of_kind(judged, kind) for kind in dict.fromkeys(course.kind for course in courses)
        ),
        paces=by_pace(judged),
        calibration=tuple(
            calibrated(name, judged.values(place), at[place])
            for place, name in enumerate(judged.horizons)
        ),
        curves=curves(courses, [ours, *rivals]),
        rivals=compare(courses, ours, rivals, at),
        examples=examples(judged.replays, judged.causes, judged.channels, headline, HEADLINE[1]),
        shipped=shipped.lines(judged.replays, judged.horizons),
    )


def summarise(found: Report) -> Evaluation:
    """Return the headline as the artefact carries it."""
    horizon, threshold = HEADLINE
    line = next(x for x in found.lines if x.horizon == horizon and x.threshold == threshold)
    told = next(x for x in found.calibration if x.horizon == horizon)
    leads = line.lead_hours_quartiles or (0.0, 0.0, 0.0)
    return Evaluation(
        data=found.data,
        horizon=horizon,
        threshold=threshold,
        events=line.events,
        node_weeks=found.node_weeks,
        base_rate_per_node_week=found.events / found.node_weeks if found.node_weeks else 0.0,
        event_recall=line.detected / line.events if line.events else 0.0,
        precision=line.precision,
        precision_at_field_rate_lower=line.precision_at_field_rate_lower,
        field_rate_per_node_week=found.field_failures_per_node_week,
        false_alerts_per_node_week=line.false_alerts_per_node_week,
        false_alerts_per_node_week_upper=line.false_alerts_per_node_week_upper,
        median_lead_hours=leads[1],
        lead_hours_quartiles=(leads[0], leads[2]),
        brier=told.brier,
        brier_of_base_rate=told.brier_of_base_rate,
        brier_of_always_healthy=told.brier_of_always_healthy,
    )


def calibrated(name: str, values: Sequence[NDArray[np.floating]], at: Moments) -> CalibrationLine:
    """Say whether probabilities of one horizon, per course [moment], mean what they say."""
    if not len(at.failed):
        return CalibrationLine(name, 0, 0.0, 0.0, 0.0, 0.0, None, None, None, None, 0.0, ())
    said = at.of(values)
    base = float(np.average(at.failed, weights=at.weight))
    return CalibrationLine(
        horizon=name,
        moments=len(at.failed),
        failing_ratio=base,
        brier=calibration.brier(said, at),
        brier_of_always_healthy=base,
        brier_of_base_rate=base * (1.0 - base),
        slope=calibration.slope(said, at),
        slope_interval=calibration.interval(calibration.slope, said, at),
        observed_over_expected=calibration.observed_over_expected(said, at),
        observed_over_expected_interval=calibration.interval(
            calibration.observed_over_expected, said, at
        ),
        expected_error=calibration.expected_error(said, at),
        reliability=calibration.reliability(said, at),
    )


def _by_cause(courses: Sequence[Course]) -> dict[str, int]:
    return dict(sorted(Counter(str(c.outcome.cause) for c in courses if c.outcome).items()))
