"""A benchmark without its recorded inputs says which it lacks, in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import recorded


def test_who_did_not_say_where_they_are_is_told_the_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(recorded.VARIABLE, raising=False)
    with pytest.raises(SystemExit, match=r"^FOREWARN_DATA is not set: .* folder that holds skab$"):
        recorded.find("skab")


def test_what_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(recorded.VARIABLE, str(tmp_path))
    with pytest.raises(SystemExit, match=r"cmapss/train_FD001.txt.gz: no such file or folder"):
        recorded.find("cmapss/train_FD001.txt.gz")
    (tmp_path / "skab").mkdir()
    assert recorded.find("skab") == tmp_path / "skab"
