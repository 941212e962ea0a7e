"""R01: to the shipped model impossible numbers in one scrape are next to nothing."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from exporter.forecast.shelf import BUNDLED
from tests.factories.levels import alert_levels
from tests.field_reports.gpu_node import GpuNode, healthy
from tests.field_reports.test_r01_utilisation_out_of_this_world import (
    BAD_MINUTE,
    MINUTES,
    WILD,
)

if TYPE_CHECKING:
    from pathlib import Path

    from model.runtime import Prediction


def lived(folder: Path, replaced: dict[str, str]) -> list[Prediction]:
    """Return what the shipped model said of the bad minute and of each after it."""
    folder.mkdir()

    def answer(interval: int) -> tuple[int, bytes]:
        more = replaced if interval == 2 * BAD_MINUTE + 1 else {}
        return 200, healthy(interval, **more).encode()

    node = GpuNode(folder, answer, bundled=BUNDLED)
    node.live(BAD_MINUTE)
    told = []
    for _ in range(BAD_MINUTE, MINUTES):
        node.live(1)
        prediction = node.grid.view().forecast.prediction
        assert prediction is not None
        told.append(prediction)
    return told


def between_alerts() -> float:
    """Return how far the probability of an alert of one severity is from that of the other."""
    at = alert_levels()
    pairs = itertools.product(at["critical"].values(), at["warning"].values())
    return min(abs(critical - warning) for critical, warning in pairs)


def test_r01_no_output_moves_as_far_as_from_one_alert_to_the_next(tmp_path: Path) -> None:
    apart = between_alerts()
    assert 0.0 < apart < 0.5
    wild, untouched = lived(tmp_path / "wild", WILD), lived(tmp_path / "untouched", {})
    for ours, theirs in zip(wild, untouched, strict=True):
        for name in ("node", "cause", "gpu"):
            np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=apart)
        # A score has a scale of its own: the share of it is compared.
        np.testing.assert_allclose(ours.score, theirs.score, rtol=apart)
    assert any(
        (ours.score != theirs.score).any() for ours, theirs in zip(wild, untouched, strict=True)
    )
