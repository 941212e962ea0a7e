"""Whether a bar was reached is computed from the run, and where it was missed is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from model.training.judging.lines import HEADLINE
from model.training.judging.quiet import QuietLine, QuietReport, QuietTold
from model.training.judging.report import (
    CalibrationLine,
    Curve,
    Line,
    PaceLine,
    Report,
    RivalLine,
)
from model.training.worth import bar, judged, quiet
from model.training.worth.bar import Mark

if TYPE_CHECKING:
    from model.training.worth.bar import Bar

BUDGETS = (0.01, 0.1)


def line(**changes: object) -> Line:
    told = Line(*HEADLINE, 100, 90, (0.8, 0.95), 80, 1, 0.01, 0.04, 0.9, 0.7, 0.5, ())
    return msgspec.structs.replace(told, **changes)


def pace(label: str, detected: int, *leads: float) -> PaceLine:
    return PaceLine(*HEADLINE, label, 50, detected, (0.8, 0.99), leads, 0.5)


def told(horizon: str, brier: float, slope: float | None, ratio: float) -> CalibrationLine:
    return CalibrationLine(
        horizon, 9, 0.02, brier, 0.02, 0.0196, slope, None, ratio, None, 0.001, ()
    )


def rival(name: str, detected: int, earlier: int, *brier: float) -> RivalLine:
    behind = tuple(("lemon", f"n{place}") for place in range(40 - earlier))
    return RivalLine(
        name, 1.0, 100, detected, 3.0, 4.0, (), 0.2, 80, 2.9, 40, earlier, 0, behind, brier
    )


def report(**changes: object) -> Report:
    whole = Report(
        data="two nodes",
        node_weeks=10.0,
        quiet_node_weeks=4.0,
        exposed_node_weeks=5.0,
        events=100,
        failures={},
        field_failures_per_node_week=0.027,
        headline_horizon=HEADLINE[0],
        headline_threshold=HEADLINE[1],
        horizons=("1h", "24h"),
        budgets=BUDGETS,
        lines=(line(),),
        kinds=(),
        paces=(pace("gradual kinds", 47), pace(judged.LONG, 40, 10.0, 24.0, 30.0)),
        calibration=(told("1h", 0.01, 0.8, 1.25), told("24h", 0.01, 1.0, 1.0)),
        curves=(Curve("Forewarn", (0.8, 0.9), ()), Curve(judged.PCA, (0.7, 0.8), ())),
        rivals=(rival(judged.FULL, 79, 36, 0.02, 0.011),),
        examples=(),
    )
    return msgspec.structs.replace(whole, **changes)


def rows(found: Report) -> dict[str, Bar]:
    return {f"{one.what}: {one.asked}": one for one in judged.bars(found, 5e-6)}


def mark(found: Report, part: str) -> Mark:
    return next(one.mark for asked, one in rows(found).items() if part in asked)


MISSES = {
    "gradual faults": {"paces": (pace("gradual kinds", 46),)},
    "median lead": {"paces": (pace(judged.LONG, 40, 10.0, 23.9, 30.0),)},
    "calibration": {"calibration": (told("1h", 0.01, 0.79, 1.0),)},
    "Brier score": {"rivals": (rival(judged.FULL, 79, 36, 0.02, 0.01),)},
    "higher recall at no more": {"rivals": (rival(judged.FULL, 80, 36),)},
    "earlier on": {"rivals": (rival(judged.FULL, 79, 35),)},
}
"""The change with which what reaches its bar by a hair does not reach it."""


@pytest.mark.parametrize("part", MISSES)
def test_each_bar_is_reached_at_its_number_and_missed_below_it(part: str) -> None:
    assert mark(report(), part) is Mark.REACHED
    assert mark(report(**MISSES[part]), part) is Mark.MISSED


def test_a_kind_that_is_not_listed_is_missed() -> None:
    assert mark(report(), "each kind") is Mark.MISSED


def test_framework_and_artefact_too_far_apart_are_a_miss_and_unseen_ones_no_row() -> None:
    assert judged.bars(report(), 2e-4)[-1].mark is Mark.MISSED
    assert judged.bars(report(), None)[-1].what != "parity"


def test_where_a_rival_is_as_good_is_listed() -> None:
    same = (Curve("Forewarn", (0.8, 0.9), ()), Curve(judged.PCA, (0.8, 0.8), ()))
    row = next(one for one in rows(report(curves=same)).values() if one.what.startswith("PCA"))
    assert row.mark is Mark.LISTED
    assert row.value == "not higher at 0.01 (0.800 and 0.800)"


def test_a_table_says_where_a_bar_was_missed() -> None:
    missed = bar.calibration([told("1h", 0.1, None, 1.0), told("24h", 0.1, 1.0, 2.0)], "here")
    assert bar.table([missed]).endswith("| missed at 1h, 24h |")


def counted(level: tuple[str, float], gradual: int, rate: float) -> QuietLine:
    foretold = QuietTold(100, 80, (0.7, 0.9), 50, gradual, (0.8, 0.99), 0.95, 0.4, None)
    return QuietLine(*level, 3, 2, rate, (0.0, 0.1), 0.1, foretold)


def watched(*lines: QuietLine) -> dict[str, Mark]:
    found = QuietReport("nodes", 504, 500.6, 9, lines, (), 100, 0.027, (), ())
    return {one.asked.split(" at ")[0]: one.mark for one in quiet.bars(found)}


def test_the_alert_budget_is_kept_together_with_the_recall_or_missed() -> None:
    both = "recall"
    assert watched(counted(HEADLINE, 47, 0.02))[both] is Mark.REACHED
    assert watched(counted(HEADLINE, 46, 0.02))[both] is Mark.MISSED
    assert watched(counted(HEADLINE, 47, 0.021))[both] is Mark.MISSED


def test_the_moonshot_may_be_reached_at_any_level_that_is_quiet_enough() -> None:
    loud, calm = counted(HEADLINE, 50, 0.02), counted(("24h", 0.5), 47, 0.003)
    assert watched(loud, calm)["moonshot: the same recall"] is Mark.REACHED
    assert watched(loud)["moonshot: the same recall"] is Mark.MISSED
