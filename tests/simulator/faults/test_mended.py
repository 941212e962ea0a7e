"""A fault that is mended on its way is the same until then, and leaves a sound node behind."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from model.schema import BY_NAME, Kind
from simulator.faults import EVERY, STORIES
from simulator.fleet import Fleet, lay_out
from simulator.history import NodeHistory, Recording, record, record_all
from simulator.physics.workload import Workload
from simulator.scenario import Scenario
from tests.simulator.histories import HOUR, channel, fault, told

if TYPE_CHECKING:
    from numpy.typing import NDArray

FAULTS = [kind for kind, story in EVERY.items() if story.cause is not None]
MENDED_STEP = 60 + 3 * 60
"""Three quarters of four hours, after one hour."""
RESTED_STEP = MENDED_STEP + 60
HOURS = 8
UNTIL_RESET = {"gpu_row_remap_pending", "gpu_xid_code"}
"""What stays on a board until its driver starts anew."""


def watched(kind: str) -> tuple[NodeHistory, NodeHistory, NodeHistory]:
    """The same node: left to its fault, mended, and never struck."""
    struck = fault(kind, severity=0.8, shape=1.0)
    stories = (struck, replace(struck, mended_ratio=0.75), Scenario())
    wanted = [Recording(one, "n1", 5) for one in stories]
    left, mended, sound = record_all(wanted, steps=HOURS * 60)
    return left, mended, sound


@pytest.mark.parametrize("kind", FAULTS)
def test_it_is_the_same_fault_until_it_is_mended_and_no_failure_after(kind: str) -> None:
    left, mended, _ = watched(kind)
    np.testing.assert_array_equal(
        left.values[:, :MENDED_STEP], mended.values[:, :MENDED_STEP], strict=True
    )
    assert (mended.failure, mended.onset_seconds, mended.lookalike) == (None, HOUR, False)
    assert mended.parameters.mended_seconds == MENDED_STEP * 60.0


@pytest.mark.parametrize("kind", FAULTS)
def test_a_mended_node_works_as_one_that_was_never_struck(kind: str) -> None:
    _, mended, sound = watched(kind)
    for name in set(mended.channels) - UNTIL_RESET:
        shown, usual = (rested(one, name) for one in (mended, sound))
        most = 0.01 * max(float(np.nanmax(np.abs(usual))), 1e-9)
        np.testing.assert_allclose(shown, usual, rtol=0, atol=most, err_msg=name)


def rested(history: NodeHistory, name: str) -> NDArray[np.float64]:
    """[gpu]: the mean of a gauge, the gain of a counter, an hour after the fault was mended."""
    values = channel(history, name)[:, RESTED_STEP:]
    counted = BY_NAME[name].kind is Kind.COUNTER
    return values[:, -1] - values[:, 0] if counted else np.nanmean(values, axis=1)


def test_what_was_counted_stays_counted() -> None:
    _, mended, _ = watched("memory-storm")
    rows = channel(mended, "gpu_remapped_rows_correctable_total")[2]
    assert rows[-1] == rows[RESTED_STEP] > 0


def test_the_name_of_a_fault_is_drawn_and_mended_and_that_of_a_lookalike_told_as_ever() -> None:
    wanted = [Recording(kind, "n1", 4, mended_ratio=0.5) for kind in STORIES]
    for one in record_all(wanted, steps=120):
        mended = STORIES[one.scenario].cause is not None
        assert one.failure is None
        assert one.parameters.mended_ratio == (0.5 if mended else None)


def test_a_scenario_that_is_given_whole_says_itself_whether_it_is_mended() -> None:
    with pytest.raises(ValueError, match="mended_ratio: expected in the scenario"):
        Recording(fault("vrm-sag"), "n1", 4, mended_ratio=0.5)


def test_a_lookalike_is_over_by_itself_and_cannot_be_mended() -> None:
    with pytest.raises(ValueError, match=r"'node-reboot': expected a fault where one is to be"):
        told(fault("node-reboot", mended_ratio=0.5))


@pytest.mark.parametrize("ratio", [0.0, 1.0, -0.5])
def test_a_share_of_the_way_lies_on_the_way(ratio: float) -> None:
    with pytest.raises(ValueError, match="mended_ratio"):
        fault("vrm-sag", mended_ratio=ratio)


def test_a_whole_rack_is_mended_at_once_and_nothing_in_it_fails() -> None:
    scenario = fault("filter-clogging", mended_ratio=0.5)
    machines = lay_out(
        nodes=2, racks=1, seed=3, workload=Workload.TRAINING, scenario=scenario, struck=0
    )
    fleet = Fleet(
        machines, monotonic=lambda: 0.0, speed=1.0, prefill_seconds=6 * HOUR, gpus=2,
        step_seconds=60.0,
    )  # fmt: skip
    assert [fleet.failed(one.node) for one in machines] == [False, False]
    flow = "node_coolant_flow_liters_per_minute"
    sound = np.nanmean(channel(record(Scenario(), node="n", seed=3, steps=60, gpus=2), flow))
    for one in machines:
        assert fleet.reading(one.node).of_node(flow) > 0.95 * sound
