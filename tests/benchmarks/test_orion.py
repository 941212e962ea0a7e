"""Orion beside ours: a series goes in, what was found is counted, and ratios are told.

Orion itself wants an environment of two gigabytes; a program that answers as it
does stands in for it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

pytestmark = pytest.mark.training
pytest.importorskip("torch")

from benchmarks.tadgan import orion  # noqa: E402
from benchmarks.tadgan.overlap import Counts  # noqa: E402
from benchmarks.tadgan.series import SMAP, Series  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

STAND_IN = """#!{python}
import json, sys
job = json.load(sys.stdin)
assert job["settings"] == "smap" and len(job["train"]) == 50 and len(job["test"]) == 80
print("Epoch: 1/70")
print(json.dumps({{"detected": [[10, 20], [70, 75]], "fit_seconds": 300.0,
                   "detect_seconds": 20.0, "peak_mib": 1900.0}}))
"""


def stand_in(folder: Path, text: str = STAND_IN) -> Path:
    path = folder / "python"
    path.write_text(text.format(python=sys.executable), encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def one() -> Series:
    return Series(SMAP, "A-6", np.zeros(50), np.zeros(80), ((15, 17), (40, 45)))


def test_what_orion_finds_is_counted_as_ours_is(tmp_path: Path, one: Series) -> None:
    ran = orion._orion(one, stand_in(tmp_path))
    assert (ran.series, ran.fit_seconds, ran.peak_mib) == ("A-6", 300.0, 1900.0)
    assert ran.counts == Counts(found=1, false=1, missed=1)


def test_an_orion_that_fails_ends_the_command_with_what_it_said(
    tmp_path: Path, one: Series
) -> None:
    broken = stand_in(tmp_path, "#!{python}\nraise SystemExit('no tensorflow')\n")
    with pytest.raises(SystemExit, match=r"(?s)Orion on A-6 ended with 1:.*no tensorflow"):
        orion._orion(one, broken)


def orions(fit_seconds: float, counts: Counts) -> orion.Ran:
    return orion.Ran("A-6", "Orion", fit_seconds, 20.0, 1900.0, counts)


def ours(fit_seconds: float, peak_mib: float) -> orion.Ran:
    return orion.Ran("A-6", "Forewarn", fit_seconds, 1.0, peak_mib, Counts(1, 0, 0))


def test_bars_of_cost_are_judged_series_by_series() -> None:
    ran = [ours(6.0, 950.0), orions(300.0, Counts(1, 1, 0))]
    assert orion.verdict(ran) == (
        "- TadGAN's cost on A-6, bar a 10th of Orion's training at no lower F1: Orion trains"
        " 50.0 times as long, F1 1.00 of ours, 0.67 of Orion's: reached. Bar 500 MiB:"
        " 950 of ours, 1,900 of Orion's: missed."
    )
    assert "| A-6 | Orion | 300 | 20.0 | 1,900 | 1, 1, 0 | 0.67 |" in orion.render(ran)


def test_neither_a_ninth_of_the_time_nor_a_lower_f1_reaches_the_bar() -> None:
    slow = orion.verdict([ours(6.0, 400.0), orions(54.0, Counts(1, 1, 0))])
    assert "9.0 times as long" in slow
    assert "missed. Bar 500 MiB: 400 of ours, 1,900 of Orion's: reached." in slow
    weak = orion.Ran("A-6", "Forewarn", 6.0, 1.0, 400.0, Counts(1, 1, 0))
    assert ": missed. Bar" in orion.verdict([weak, orions(300.0, Counts(1, 0, 0))])
