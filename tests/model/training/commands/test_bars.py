"""Whoever cannot see a bar is told now and then how far long work has come."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from model.training.commands.bars import Bars, progress


def test_a_log_gets_a_line_for_each_tenth_of_a_stage(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(Console(file=io.StringIO())) as frame:
        bars = Bars(frame)
        for done in range(1, 51):
            bars("scoring", done, 50, "healthy")
        bars("hazards", 1, 2, "")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "scoring: 5/50 healthy"
    assert lines[9:] == ["scoring: 50/50 healthy", "hazards: 1/2"]


def test_a_terminal_gets_bars_alone(capsys: pytest.CaptureFixture[str]) -> None:
    shown = io.StringIO()
    with progress(Console(file=shown, force_terminal=True)) as frame:
        Bars(frame)("scoring", 3, 6, "healthy")
    assert "scoring" in shown.getvalue()
    assert capsys.readouterr().err == ""
