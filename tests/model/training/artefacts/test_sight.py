"""A model knows which of its inputs its training never showed."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
import torch

from model.training.artefacts import sight
from model.training.network.scaling import Scaling
from tests.factories import artefact

NAMES = ("gpu_temperature_celsius", "gpu_power_watts", "gpu_xid_code", "node_power_watts")


@pytest.fixture
def scaling() -> Scaling:
    """Of a site without BMCs on which nothing went wrong while it was watched."""
    shown = torch.full((2, 5, len(NAMES)), float("nan"))
    shown[:, :, 0], shown[:, :, 1] = 50.0, torch.arange(5.0)
    scaling = Scaling(NAMES)
    scaling.freeze(shown)
    return scaling


def test_a_source_that_was_not_there_is_unseen_and_a_code_that_never_came_is_not(
    scaling: Scaling,
) -> None:
    assert sight.unseen(scaling) == ("node_power_watts",)


def test_what_was_seen_and_never_moved_is_still_and_what_moved_or_was_not_seen_is_none(
    scaling: Scaling,
) -> None:
    assert sight.still(scaling) == ("gpu_temperature_celsius", "gpu_power_watts")
    moved = torch.full((2, 5, len(NAMES)), 50.0)
    moved[:, :, 1] = torch.tensor([400.0, 700.0, 400.0, 700.0, 400.0])
    scaling.freeze(moved)
    assert "gpu_power_watts" not in sight.still(scaling)


def test_a_nodes_own_windows_say_what_stands_still_there() -> None:
    windows = torch.tensor(
        [[[50.0, 1.0, 0.0, float("nan")]], [[50.0, 2.0, float("nan"), float("nan")]]]
    )
    assert sight.resting(windows, NAMES) == ("gpu_temperature_celsius", "gpu_xid_code")


def test_nothing_is_told_to_be_healthy_in_what_was_not_seen(scaling: Scaling) -> None:
    ranged = msgspec.structs.replace(artefact.info(NAMES), training_ranges=scaling.ranges())
    told = sight.told(ranged, scaling)
    assert told.unseen == ("node_power_watts",)
    assert list(told.training_ranges) == ["gpu_temperature_celsius", "gpu_power_watts"]


def test_only_the_unseen_is_hidden(scaling: Scaling) -> None:
    windows = np.ones((3, 2, 5, len(NAMES)), np.float32)
    sight.hide(windows, scaling)
    assert np.isnan(windows[..., 3]).all()
    assert (windows[..., :3] == 1.0).all()
