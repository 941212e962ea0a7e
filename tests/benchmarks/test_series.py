"""The published sets are read as they were published."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import results
from benchmarks.tadgan import judging, series

if TYPE_CHECKING:
    from pathlib import Path


def test_a_step_is_the_mean_of_what_falls_into_it_and_a_gap_the_mean_of_all() -> None:
    seconds, values = np.array([0.0, 300.0, 1_900.0]), np.array([1.0, 3.0, 8.0])
    np.testing.assert_array_equal(series.on_grid(seconds, values, 600), [2.0, 5.0, 5.0, 8.0])


def test_every_listed_series_is_there_with_its_stretches(shared_data: Path) -> None:
    every = series.read(shared_data / "tadgan")
    counts = Counter(one.group for one in every)
    assert [counts[group] for group in series.SETS] == [53, 6, 5, 7]
    true = Counter(dict.fromkeys(series.SETS, 0))
    for one in every:
        true[one.group] += len(one.truth)
        assert one.apart == (one.group == series.SMAP)
        assert all(0 <= first <= last < len(one.test) for first, last in one.truth)
    assert [true[group] for group in series.SETS] == [67, 6, 11, 14]


def test_published_results_are_those_that_were_published(shared_data: Path) -> None:
    folder = shared_data / "tadgan"
    f1 = judging.published(folder, series.read(folder))
    assert [round(value, 3) for value in f1["tadgan"].values()] == [0.573, 0.5, 0.692, 0.486]
    assert [round(value, 3) for value in f1["aer"].values()] == [0.764, 0.75, 0.733, 0.611]


def test_a_section_of_the_page_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- a -->\nold\n<!-- /a -->\nafter\n<!-- b -->\n<!-- /b -->\n")
    results.replace(page, "a", "new")
    results.replace(page, "a", "newer")
    expected = "before\n<!-- a -->\n\nnewer\n\n<!-- /a -->\nafter\n<!-- b -->\n<!-- /b -->\n"
    assert page.read_text() == expected
