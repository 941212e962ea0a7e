"""A PDU that goes takes the same half of every node's supplies, and the rack lives or goes dark."""

from __future__ import annotations

import numpy as np
import pytest

from model.training.episodes.plan import BUNDLED, Split, plan, quiet_plan
from simulator.faults import ON_REQUEST, STORIES, story
from simulator.fleet import Fleet, lay_out
from simulator.history import NodeHistory, Recording, record_all
from simulator.mix import shares
from simulator.physics.workload import Workload
from tests.simulator.histories import HOUR, channel, fault

KIND = "lost-pdu-feed"
UNFED = "node_power_supplies_without_input"
HEAT = "node_power_supply_temperature_celsius"


def lived(severity: float) -> NodeHistory:
    """A node whose rack loses a PDU after one hour, for four."""
    wanted = [Recording(fault(KIND, severity=severity), "n1", 5)]
    return next(record_all(wanted, steps=6 * 60))


def test_a_second_feed_that_has_room_carries_the_rack_until_the_first_returns() -> None:
    history = lived(0.7)
    assert (history.failure, history.onset_seconds) == (None, HOUR)
    unfed = channel(history, UNFED)[0]
    assert [unfed[59], unfed[61], unfed[290], unfed[310]] == [0, 3, 3, 0]
    heat = channel(history, HEAT)[0]
    assert np.nanmean(heat[70:290]) > np.nanmean(heat[:58]) + 5
    watts = channel(history, "node_power_watts")[0]
    assert watts[62] == pytest.approx(watts[58], rel=0.05)
    assert np.isfinite(watts[310:]).all()


def test_one_above_its_continuous_load_trips_and_the_node_is_dark_with_its_bmc() -> None:
    history = lived(0.9)
    assert history.failure is not None
    assert (history.failure.time_seconds, history.failure.gpu) == (5 * HOUR, None)
    assert history.failure.cause == "facility"
    assert np.isfinite(channel(history, UNFED)[0, :300]).sum() > 290
    for name in (UNFED, "node_power_watts", "gpu_power_watts"):
        assert np.isnan(channel(history, name)[:, 302:]).all()


def test_every_node_of_the_rack_loses_its_inputs_and_no_other_does() -> None:
    machines = lay_out(
        nodes=6,
        racks=2,
        seed=3,
        workload=Workload.TRAINING,
        scenario=fault(KIND, severity=0.7),
        struck=4,
    )
    fleet = Fleet(
        machines, monotonic=lambda: 0.0, speed=1.0, prefill_seconds=1.5 * HOUR, gpus=2,
        step_seconds=60.0,
    )  # fmt: skip
    unfed = {one.node: fleet.reading(one.node).of_node(UNFED) for one in machines}
    assert unfed == {f"gpu-{i:02d}": 3.0 if i >= 3 else 0.0 for i in range(6)}


def test_no_training_set_is_drawn_from_it() -> None:
    assert KIND in ON_REQUEST
    assert KIND not in STORIES
    assert KIND not in shares()
    planned = plan(Split.TEST, BUNDLED[Split.TEST], seed=7, step_seconds=60)
    kinds = {one.kind for one in (*planned, *quiet_plan(60, seed=7, step_seconds=60))}
    assert kinds == STORIES.keys()
    assert story(KIND).kind == KIND
