"""R40: the wall clock of a node is wrong for a while, and only the wall clock."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
from prometheus_client import CollectorRegistry, generate_latest

from exporter.page.publish import Page
from tests.exporter.grid.test_grid import STEP, Process
from tests.factories import artefact
from tests.factories.sources import Ticks

HOURS = 6 * 3600.0


@pytest.fixture
def ticks() -> Ticks:
    return Ticks()


@pytest.fixture
def node(tmp_path: Path, ticks: Ticks) -> Process:
    artefact.write(tmp_path / "fleet.onnx")
    return Process(tmp_path, ticks, io.StringIO())


def test_r40_the_window_steps_on_while_the_wall_clock_jumps(node: Process, ticks: Ticks) -> None:
    node.live(30 * STEP)
    ticks.now_wall += HOURS
    node.live(20 * STEP)
    assert node.steps() == 50
    ticks.now_wall -= HOURS
    node.live(10 * STEP)
    assert node.steps() == 60
    assert node.saved().window.fill_ratio(8) == 1.0


def test_r40_no_age_on_the_page_is_negative(node: Process, ticks: Ticks) -> None:
    node.live(5 * STEP)
    for jump in (HOURS, -HOURS, HOURS):
        ticks.now_wall += jump
        node.live(2 * STEP)
        registry = CollectorRegistry()
        registry.register(Page(node.grid.view, version="x"))
        text = generate_latest(registry).decode()
        stamps = re.findall(r"^forewarn_\w+_timestamp_seconds\{.*\} (\S+)$", text, re.MULTILINE)
        assert stamps
        # Everything stamped by this process lies in its own past.
        assert all(float(stamp) <= ticks.now_wall for stamp in stamps)


def test_r40_a_window_saved_in_the_future_is_not_trusted(
    node: Process, tmp_path: Path, ticks: Ticks
) -> None:
    ticks.now_wall += HOURS
    node.live(8 * STEP)
    ticks.now_wall -= HOURS
    log = io.StringIO()
    second = Process(tmp_path, ticks, log)
    assert "in the future" in log.getvalue()
    second.live(1)
    assert second.steps() == 1
    assert np.isnan(second.saved().window.raw[:-1]).all()
