"""Each fault shows in its own channels, grows, and ends when it says it does."""

from __future__ import annotations

import numpy as np
import pytest

from model.schema import Cause
from simulator.faults import STORIES
from simulator.faults.story import Pace, Reach
from simulator.history import NodeHistory, Recording, record_all
from simulator.physics.workload import Workload
from simulator.scenario import Scenario
from tests.simulator.histories import HOUR, at, channel, fault, told

FAULTS = [kind for kind, story in STORIES.items() if story.cause is not None]
GPU = 2
CAUSES_OF_GPUS = {Cause.MEMORY, Cause.INTERCONNECT, Cause.THERMAL, Cause.POWER, Cause.DEVICE}
CAUSES_OF_NODES = {Cause.THERMAL, Cause.POWER, Cause.FACILITY}


def busy_mean(history: NodeHistory, name: str, start: float, end: float) -> np.ndarray:
    """[gpu]: mean over the steps at work between two times in seconds."""
    working = channel(history, "gpu_utilization_ratio") > 0.5
    steps = np.arange(working.shape[1]) * history.step_seconds
    picked = working & (steps >= start) & (steps < end)
    return np.array(
        [np.nanmean(channel(history, name)[gpu, picked[gpu]]) for gpu in range(len(picked))]
    )


@pytest.fixture(scope="module")
def faults() -> dict[str, NodeHistory]:
    """Every fault, from one hour to five."""
    wanted = [Recording(fault(kind), "n1", 5) for kind in FAULTS]
    return {one.scenario: one for one in record_all(wanted, steps=360)}


def test_a_failure_has_a_time_a_place_and_a_cause_of_the_schema(
    faults: dict[str, NodeHistory],
) -> None:
    for kind, history in faults.items():
        story = STORIES[kind]
        assert history.failure is not None
        assert history.failure.time_seconds == 5 * HOUR
        assert history.failure.kind == history.scenario == kind
        assert history.onset_seconds == HOUR
        assert not history.lookalike
        # What strikes a GPU starts there; the facility's doings start at the node.
        per_gpu = story.reach is Reach.GPU
        assert history.failure.gpu == (GPU if per_gpu else None)
        assert history.failure.cause in (CAUSES_OF_GPUS if per_gpu else CAUSES_OF_NODES), kind


def test_no_hard_sign_shows_before_the_stated_time_and_one_does_then(
    faults: dict[str, NodeHistory],
) -> None:
    for kind, history in faults.items():
        hard = np.isin(channel(history, "gpu_xid_code"), (48, 64, 74, 79, 119)).any(axis=0)
        hard |= np.nan_to_num(channel(history, "gpu_row_remap_failed")).any(axis=0)
        silent = np.isnan(channel(history, "gpu_power_watts")).all(axis=0)
        silent &= np.isnan(channel(history, "node_power_watts")).all(axis=0)
        assert np.flatnonzero(hard | silent)[0] * history.step_seconds == 5 * HOUR, kind
        assert (hard | silent)[301:].all(), kind


def test_the_nodes_work_ends_with_the_failure(faults: dict[str, NodeHistory]) -> None:
    for kind, history in faults.items():
        after = channel(history, "gpu_utilization_ratio")[:, 302:]
        assert np.max(np.nan_to_num(after)) == 0, kind


def test_every_gradual_fault_shows_in_some_channel_long_before_and_no_wordless_one_does(
    faults: dict[str, NodeHistory],
) -> None:
    """Held against the same node without the fault, halfway on the way to the failure."""
    calm = told(Scenario())
    np.testing.assert_array_equal(faults["off-bus"].values[:, :300], calm.values[:, :300])
    for kind, history in faults.items():
        differs = ~np.isclose(history.values[:, 150:200], calm.values[:, 150:200], equal_nan=True)
        if STORIES[kind].pace is Pace.GRADUAL:
            assert differs.any(), kind


def test_a_failing_interface_heats_one_gpu_alone() -> None:
    history = told(fault("thermal-interface"))
    before = busy_mean(history, "gpu_temperature_celsius", 0, HOUR)
    late = busy_mean(history, "gpu_temperature_celsius", 4 * HOUR, 5 * HOUR)
    rise = late - before
    assert rise[GPU] > 12
    assert np.abs(np.delete(rise, GPU)).max() < 4
    memory = busy_mean(history, "gpu_memory_temperature_celsius", 4 * HOUR, 5 * HOUR)
    assert memory[GPU] > np.delete(memory, GPU).max() + 8


def test_a_failing_interface_slows_the_gpu_then_loses_it() -> None:
    history = told(fault("thermal-interface", severity=1.0))
    slowed = channel(history, "gpu_thermal_slowdown_active")
    assert np.nansum(slowed[GPU]) > 5
    assert np.nansum(np.delete(slowed, GPU, axis=0)) == 0
    assert np.nanmax(channel(history, "gpu_temperature_celsius")) <= 90
    grown = channel(history, "gpu_thermal_violation_seconds_total")[GPU, 299]
    assert grown == pytest.approx(60 * np.nansum(slowed[GPU, :300]), abs=61)
    assert at(history, "gpu_xid_code", 5.1 * HOUR)[GPU] == 79
    lost = history.values[GPU, 310]
    gpu_level = [index for index, name in enumerate(history.channels) if name.startswith("gpu_")]
    assert np.isfinite(lost[gpu_level]).sum() == 1
    assert np.isfinite(at(history, "gpu_temperature_celsius", 5.2 * HOUR)).sum() == 7


def test_a_memory_storm_climbs_by_decades_then_remaps_then_ends() -> None:
    history = told(fault("memory-storm"))
    errors = channel(history, "gpu_memory_correctable_errors_total")[GPU]
    quarter = [errors[60 + 60 * part + 59] - errors[60 + 60 * part] for part in range(4)]
    assert quarter[3] > 10 * quarter[2] > 100 * max(quarter[1], 0.1)
    others = np.delete(channel(history, "gpu_memory_correctable_errors_total"), GPU, axis=0)
    assert np.nanmax(others[:, 299] - others[:, 60]) < 5
    remaps = channel(history, "gpu_remapped_rows_correctable_total")[GPU]
    assert remaps[60] == 0
    assert remaps[299] > 3
    assert at(history, "gpu_row_remap_pending", 4.9 * HOUR)[GPU] == 1
    assert at(history, "gpu_memory_uncorrectable_errors_total", 4.9 * HOUR)[GPU] == 0
    assert at(history, "gpu_memory_uncorrectable_errors_total", 5.0 * HOUR)[GPU] == 1
    assert at(history, "gpu_xid_code", 5.0 * HOUR)[GPU] == 48
    assert at(history, "gpu_xid_code", 5.1 * HOUR)[GPU] == 64
    assert at(history, "gpu_row_remap_failed", 5.1 * HOUR)[GPU] == 1
    assert at(history, "gpu_recovery_action", 5.1 * HOUR)[GPU] == 1


def test_a_memory_storm_leaves_temperature_and_power_alone() -> None:
    calm = told(fault("memory-storm"))
    early = busy_mean(calm, "gpu_temperature_celsius", 0, HOUR)
    late = busy_mean(calm, "gpu_temperature_celsius", 4 * HOUR, 5 * HOUR)
    assert np.abs(late - early).max() < 4


def test_lost_flow_warms_the_return_and_all_gpus_and_then_trips_them_all() -> None:
    history = told(fault("coolant-loss"))
    flow = channel(history, "node_coolant_flow_liters_per_minute")[0]
    assert flow[280] < 0.6 * flow[30]
    rise = (
        channel(history, "node_coolant_return_temperature_celsius")[0]
        - channel(history, "node_coolant_supply_temperature_celsius")[0]
    )
    assert rise[280] > 1.4 * rise[30]
    early = busy_mean(history, "gpu_temperature_celsius", 0, HOUR)
    late = busy_mean(history, "gpu_temperature_celsius", 4.6 * HOUR, 5 * HOUR)
    assert (late - early > 3).all()
    assert history.failure is not None
    assert history.failure.gpu is None
    assert np.isnan(at(history, "gpu_temperature_celsius", 5.1 * HOUR)).all()
    assert (at(history, "gpu_xid_code", 5.1 * HOUR) == 79).all()
    assert np.isfinite(at(history, "node_power_watts", 5.1 * HOUR)).all()


def test_when_the_pump_has_stopped_the_node_shuts_down_even_when_idle() -> None:
    history = told(fault("coolant-loss", workload=Workload.IDLE))
    flow = channel(history, "node_coolant_flow_liters_per_minute")[0]
    assert flow[299] < 0.1 * flow[30]
    assert np.isnan(at(history, "gpu_temperature_celsius", 5.0 * HOUR)).all()


@pytest.mark.parametrize("hours", [2.0, 12.0, 72.0])
def test_a_fault_may_be_compressed_or_slow(hours: float) -> None:
    history = told(fault("thermal-interface", duration_seconds=hours * HOUR), hours=hours + 2)
    end = round((1 + hours) * 60)
    assert np.isfinite(channel(history, "gpu_power_watts")[GPU, end - 5 : end]).any()
    assert np.isnan(channel(history, "gpu_power_watts")[GPU, end:]).all()


def test_a_severer_fault_is_hotter_on_its_way() -> None:
    mild, bad = (told(fault("thermal-interface", severity=severity)) for severity in (0.3, 0.8))
    span = (3 * HOUR, 4 * HOUR)
    assert (
        busy_mean(bad, "gpu_temperature_celsius", *span)[GPU]
        > busy_mean(mild, "gpu_temperature_celsius", *span)[GPU] + 3
    )
