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


def test_ratios_are_told_series_by_series() -> None:
    ours = orion.Ran("A-6", "Forewarn", 6.0, 1.0, 950.0, Counts(1, 0, 0))
    theirs = orion.Ran("A-6", "Orion", 300.0, 20.0, 1900.0, Counts(1, 1, 0))
    assert orion.verdict([ours, theirs]) == (
        "- A-6: Orion trains 50 times as long and takes 2.0 times the memory;"
        " F1 1.00 of ours, 0.67 of Orion's."
    )
    assert "| A-6 | Orion | 300 | 20.0 | 1,900 | 1, 1, 0 | 0.67 |" in orion.render([ours, theirs])
