"""The bars that the test split shows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from model.training.artefacts.export import PARITY
from model.training.worth.bar import Bar, Mark, calibration, hours, reached, share
from simulator.faults import STORIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model.training.judging.report import Line, PaceLine, Report, RivalLine

RECALL = 0.94
LONG = "- of 48 h and more"
LONG_LEAD_HOURS = 24.0
EARLIER = 0.9
FULL, PCA = "static rules, full", "PCA, T2 and Q"


def bars(report: Report, parity: float | None) -> tuple[Bar, ...]:
    """Return what the run shows of them; `parity` None where it could not be looked at."""
    return (
        *_recall(report),
        *_kinds(report),
        calibration(report.calibration, "test split"),
        *_brier(report),
        *_rules(report),
        *_pca(report),
        *([] if parity is None else [_parity(parity)]),
    )


def _headline(report: Report) -> Line:
    level = (report.headline_horizon, report.headline_threshold)
    return next(one for one in report.lines if (one.horizon, one.threshold) == level)


def _pace(report: Report, label: str) -> PaceLine | None:
    level = (report.headline_horizon, report.headline_threshold)
    found = (x for x in report.paces if (x.horizon, x.threshold, x.label) == (*level, label))
    return next(found, None)


def _recall(report: Report) -> Iterator[Bar]:
    line = _headline(report)
    level = f"at {line.horizon}, {line.threshold:g}"
    if gradual := _pace(report, "gradual kinds"):
        yield Bar(
            "gradual faults, test split",
            f"recall at or above {RECALL:g} {level}, the critical alert's level",
            f"{share(gradual.detected, gradual.events, gradual.recall_interval)}; on this split "
            f"{line.false_alerts_per_node_week:.4f} false alerts per node-week "
            f"(<= {line.false_alerts_per_node_week_upper:.4f}), from "
            f"{report.exposed_node_weeks:.1f}",
            reached(gradual.detected >= RECALL * gradual.events),
        )
    if mix := line.of_mix:
        yield Bar(
            "all faults, as often as the field has each kind",
            "beside it",
            f"recall {mix.recall:.3f} ({mix.recall_interval[0]:.3f} to "
            f"{mix.recall_interval[1]:.3f}) {level}; equally many of each kind: "
            f"{share(line.detected, line.events, line.recall_interval)}",
            Mark.SHOWN,
        )
    if days := _pace(report, LONG):
        leads = days.lead_hours_quartiles
        yield Bar(
            "faults that develop over days (48 h and more)",
            f"median lead at or above {LONG_LEAD_HOURS:g} h",
            f"quartiles {hours(leads)} {level}, {days.detected} of {days.events} foretold",
            reached(bool(leads) and leads[1] >= LONG_LEAD_HOURS),
        )


def _kinds(report: Report) -> Iterator[Bar]:
    faults = {kind for kind, story in STORIES.items() if story.cause is not None}
    listed = faults & {one.kind for one in report.kinds if one.cause}
    yield Bar(
        "each kind of fault listed",
        "none hidden in an average",
        f"{len(listed)} of {len(faults)} kinds in the table below",
        reached(listed == faults),
    )
    if sudden := _pace(report, "sudden kinds"):
        yield Bar(
            "sudden kinds",
            "reported apart",
            f"recall {share(sudden.detected, sudden.events, sudden.recall_interval)}, lead "
            f"{hours(sudden.lead_hours_quartiles)}",
            Mark.SHOWN,
        )


def _brier(report: Report) -> Iterator[Bar]:
    beaten_by = {
        "the base rate": [x.horizon for x in report.calibration if x.brier >= x.brier_of_base_rate]
    }
    for rival in report.rivals:
        beaten_by[rival.name] = [
            ours.horizon
            for ours, theirs in zip(report.calibration, rival.brier, strict=False)
            if ours.brier >= theirs
        ]
    worse = "; ".join(f"{name} at {', '.join(at)}" for name, at in beaten_by.items() if at)
    yield Bar(
        "Brier score, test split",
        "better than the base rate"
        + (" and than every rival's calibrated score" if report.rivals else "")
        + " at each horizon",
        f"not better than {worse}" if worse else f"better than each of {len(beaten_by)}",
        reached(not worse),
    )


def _rival(report: Report, name: str) -> RivalLine | None:
    return next((one for one in report.rivals if one.name == name), None)


def _rules(report: Report) -> Iterator[Bar]:
    rival = _rival(report, FULL)
    if rival is None or not rival.events:
        return
    yield Bar(
        "full static rules",
        "higher recall at no more false alerts than its own",
        f"{rival.ours_detected / rival.events:.3f} against {rival.detected / rival.events:.3f}, "
        f"at {rival.ours_false_alerts_per_node_week:.2f} and "
        f"{rival.false_alerts_per_node_week:.2f} false alerts per node-week",
        reached(rival.ours_detected > rival.detected),
    )
    behind = sorted(Counter(kind for kind, _ in rival.not_earlier).items())
    listed = ", ".join(f"{kind} {count}" for kind, count in behind)
    yield Bar(
        "full static rules",
        f"earlier on at least {EARLIER:.0%} of shared events, the rest listed",
        f"{rival.earlier} of {rival.shared}" + (f"; not earlier: {listed}" if listed else ""),
        reached(rival.shared > 0 and rival.earlier >= EARLIER * rival.shared),
    )


def _pca(report: Report) -> Iterator[Bar]:
    recall = {curve.name: curve.recall_at_budgets for curve in report.curves}
    if PCA not in recall:
        return
    ours = recall[report.curves[0].name]
    not_better = [
        (budget, mine, theirs)
        for budget, mine, theirs in zip(report.budgets, ours, recall[PCA], strict=True)
        if mine <= theirs
    ]
    listed = ", ".join(f"{b:g} ({mine:.3f} and {theirs:.3f})" for b, mine, theirs in not_better)
    yield Bar(
        "PCA (T² and Q)",
        "higher recall at every alert budget, or listed where not",
        f"not higher at {listed}" if listed else f"higher at each of {len(report.budgets)}",
        Mark.LISTED if listed else Mark.REACHED,
    )


def _parity(worst: float) -> Bar:
    return Bar(
        "parity",
        f"framework and ONNX agree to {PARITY:g} on every output",
        f"{worst:.1e} at most, on windows of a node on its way to failure, with all GPUs, "
        "with one, and with one lost",
        reached(worst <= PARITY),
    )
