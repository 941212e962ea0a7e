"""A running cluster: its clock, its past, its racks, and work that leaves."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.fleet import Fleet, lay_out
from simulator.history import record
from simulator.machine import Machine
from simulator.physics.workload import Workload
from simulator.scenario import Scenario
from tests.simulator.histories import HOUR, channel, fault


class Hand:
    """A clock that is turned by hand."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


def fleet_of(plan: list[Machine], clock: Hand, **changes: float) -> Fleet:
    settled = {"speed": 60.0, "prefill_seconds": HOUR, "step_seconds": 60.0}
    return Fleet(plan, monotonic=clock, **(settled | changes))  # type: ignore[arg-type]


def trainers(nodes: int = 2, racks: int = 1, **changes: object) -> list[Machine]:
    settled = {"seed": 7, "workload": Workload.TRAINING}
    return lay_out(nodes=nodes, racks=racks, **(settled | changes))  # type: ignore[arg-type]


def test_what_is_served_equals_what_is_recorded() -> None:
    scenario = fault("thermal-interface")
    clock = Hand()
    fleet = fleet_of([Machine("n1", "rack-0", 5, scenario)], clock)
    recorded = record(scenario, node="n1", seed=5, steps=400)
    fleet.start()
    for minute in (0, 1, 7, 180, 241, 300):
        clock.seconds = 1_000.0 + minute
        served = fleet.reading("n1")
        assert served.time_seconds == HOUR + 60 * minute
        np.testing.assert_allclose(served.values, recorded.values[:, 60 + minute], rtol=1e-12)


def test_the_clock_stands_still_until_the_start_and_then_runs_fast() -> None:
    clock = Hand()
    fleet = fleet_of(trainers(), clock)
    clock.seconds += 500
    assert fleet.now_seconds() == HOUR
    fleet.start()
    clock.seconds += 2
    assert fleet.now_seconds() == HOUR + 120


def test_history_ends_now_and_is_prefilled() -> None:
    clock = Hand()
    fleet = fleet_of(trainers(), clock)
    history = fleet.history("gpu-01", 30)
    assert history.values.shape[1] == 30
    assert history.start_seconds == HOUR - 29 * 60
    np.testing.assert_array_equal(history.values[:, -1], fleet.reading("gpu-01").values)


def test_history_on_a_coarser_grid_takes_every_nth_step() -> None:
    fleet = fleet_of(trainers(), Hand(), step_seconds=15.0)
    fine, coarse = fleet.history("gpu-00", 9, 15.0), fleet.history("gpu-00", 3, 60.0)
    np.testing.assert_array_equal(coarse.values, fine.values[:, [0, 4, 8]])
    with pytest.raises(ValueError, match=r"step_seconds 50.0: expected a multiple of 15.0"):
        fleet.history("gpu-00", 3, 50.0)


def test_history_gives_what_is_kept_when_more_is_asked() -> None:
    clock = Hand()
    fleet = fleet_of(trainers(), clock, keep_seconds=1_800.0)
    fleet.start()
    clock.seconds += 120
    fleet.reading("gpu-00")
    kept = fleet.history("gpu-00", 10_000).values.shape[1]
    assert 30 <= kept < 30 + 256


def test_a_vacated_node_idles_until_work_returns() -> None:
    clock = Hand()
    fleet = fleet_of(trainers(), clock)
    fleet.start()
    fleet.vacate("gpu-00")
    clock.seconds += 30
    fleet.reading("gpu-00")
    fleet.occupy("gpu-00")
    clock.seconds += 60
    ratio = channel(fleet.history("gpu-00", 91), "gpu_utilization_ratio")
    assert np.nanmax(ratio[:, 1:30]) == 0
    assert np.nanmax(ratio[:, 31:]) > 0.9
    other = channel(fleet.history("gpu-01", 91), "gpu_utilization_ratio")
    assert np.nanmax(other[:, 1:30]) > 0.9


def test_a_rack_fault_strikes_the_whole_rack_and_a_gpu_fault_one_node() -> None:
    rack = trainers(6, 3, scenario=fault("coolant-loss"), struck=3)
    assert [m.node for m in rack if m.scenario.kind == "coolant-loss"] == ["gpu-02", "gpu-03"]
    assert {m.rack for m in rack if m.scenario.kind == "coolant-loss"} == {"rack-01"}
    one = trainers(6, 3, scenario=fault("memory-storm"), struck=3)
    assert [m.node for m in one if m.scenario.kind == "memory-storm"] == ["gpu-03"]


def test_nodes_of_a_rack_share_their_supply() -> None:
    """A neighbour at full load warms the supply of an idle node."""
    idle = Machine("quiet", "r", 1, Scenario(workload=Workload.IDLE))
    busy = Machine("loud", "r", 1, Scenario(workload=Workload.TRAINING))
    beside = fleet_of([idle, busy], Hand()).history("quiet", 30)
    alone = fleet_of([idle], Hand()).history("quiet", 30)
    name = "node_coolant_supply_temperature_celsius"
    assert np.nanmean(channel(beside, name)) > np.nanmean(channel(alone, name)) + 0.4


@pytest.mark.parametrize(
    ("kind", "fails"), [("memory-storm", True), ("psu-ageing", True), ("maintenance", False)]
)
def test_a_node_has_failed_when_its_story_says_so_with_or_without_a_lost_gpu(
    kind: str, fails: bool
) -> None:
    clock = Hand()
    fleet = fleet_of([Machine("n1", "r", 1, fault(kind))], clock)
    fleet.start()
    assert not fleet.failed("n1")
    clock.seconds += 5 * 60
    assert fleet.failed("n1") is fails


@pytest.mark.parametrize(
    ("changes", "expected"),
    [({"racks": 3}, "racks 3: expected 1 to"), ({"struck": 2}, "node 2: expected 0 to 1")],
)
def test_an_impossible_plan_is_refused(changes: dict[str, int], expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        trainers(2, **changes)


def test_a_clock_that_does_not_run_is_refused() -> None:
    with pytest.raises(ValueError, match="speed 0"):
        fleet_of(trainers(), Hand(), speed=0)
