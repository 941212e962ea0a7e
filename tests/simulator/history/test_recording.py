"""The training interface: shapes, order, reproducibility, independence."""

from __future__ import annotations

import numpy as np
import pytest

from model.schema import BY_NAME, Kind, Level
from simulator.draw import draw
from simulator.faults import STORIES
from simulator.history import Recording, record, record_all
from simulator.instruments.shown import CHANNELS
from simulator.machine import Machine, Machines
from simulator.physics.workload import Workload
from simulator.scenario import Scenario
from tests.simulator.histories import fault, told


def test_a_history_has_every_channel_that_is_shown_in_order() -> None:
    history = record("healthy", node="n1", seed=1, steps=90, gpus=4)
    assert history.channels == tuple(channel.name for channel in CHANNELS)
    assert history.values.shape == (4, 90, len(CHANNELS))
    assert history.values.dtype == np.float64
    assert (history.node, history.start_seconds, history.step_seconds) == ("n1", 0.0, 60)


def test_every_channel_is_read_unless_no_xid_was_seen() -> None:
    history = record(Scenario(workload=Workload.TRAINING), node="n1", seed=1, steps=600)
    seen = np.isfinite(history.values).any(axis=(0, 1))
    missing = {name for name, there in zip(history.channels, seen, strict=True) if not there}
    assert missing <= {"gpu_xid_code"}


def test_every_reading_is_physically_possible() -> None:
    wanted = [Recording(kind, "n1", 4) for kind in STORIES]
    for history in record_all(wanted, steps=720):
        for index, name in enumerate(history.channels):
            values = history.values[:, :, index]
            values = values[np.isfinite(values)]
            bounds = BY_NAME[name]
            possible = (values >= bounds.low) & (values <= bounds.high)
            assert possible.all(), (history.scenario, name)


def test_counters_only_grow_and_node_channels_are_the_same_on_every_row() -> None:
    history = record("memory-storm", node="n1", seed=4, steps=1_440)
    for index, channel in enumerate(CHANNELS):
        values = history.values[:, :, index]
        if channel.kind is Kind.COUNTER:
            for row in values:
                assert (np.diff(row[np.isfinite(row)]) >= 0).all(), channel.name
        if channel.level is Level.NODE:
            np.testing.assert_array_equal(values, np.broadcast_to(values[0], values.shape))


def test_the_same_seed_gives_the_same_history_and_another_one_does_not() -> None:
    first, again = (told(fault("thermal-interface"), seed=9) for _ in range(2))
    np.testing.assert_array_equal(first.values, again.values)
    other = told(fault("thermal-interface"), seed=10)
    assert not np.array_equal(first.values, other.values, equal_nan=True)


def test_a_recording_does_not_depend_on_those_beside_it() -> None:
    wanted = [Recording(kind, f"n{row}", row) for row, kind in enumerate(STORIES)]
    together = list(record_all(wanted, steps=300))
    for one, beside in list(zip(wanted, together, strict=True))[::6]:
        alone = record(one.scenario, node=one.node, seed=one.seed, steps=300)
        np.testing.assert_allclose(alone.values, beside.values, rtol=1e-12)
        assert alone.failure == beside.failure


def test_chunks_do_not_change_the_outcome() -> None:
    """What is advanced step by step for live serving equals what is recorded at once."""
    plan = [
        Machine(f"n{row}", "r", 3, fault(kind, onset_seconds=1_800.0, duration_seconds=3_600.0))
        for row, kind in enumerate(kind for kind in STORIES if kind != "healthy")
    ]
    whole = Machines(plan, gpus=3, step_seconds=60).advance(150).values
    pieces = Machines(plan, gpus=3, step_seconds=60)
    chunked = [pieces.advance(size).values for size in (1, 1, 1, 40, 7, 100)]
    np.testing.assert_allclose(np.concatenate(chunked, axis=2), whole, rtol=1e-12)


def test_drawn_faults_vary_and_fall_in_or_soon_after_the_record() -> None:
    span = 3 * 86_400.0
    drawn = [draw("memory-storm", seed=seed, span_seconds=span, gpus=8) for seed in range(60)]
    assert {scenario.gpu for scenario in drawn} == set(range(8))
    assert Workload.IDLE not in {scenario.workload for scenario in drawn}
    ends = np.array([scenario.end_seconds for scenario in drawn]) / span
    assert ends.min() > 0.3
    assert ends.max() < 1.2
    assert all(scenario.onset_seconds >= 0 for scenario in drawn)


def test_a_failure_after_the_last_step_is_still_told() -> None:
    history = record(fault("thermal-interface"), node="n1", seed=1, steps=120)
    assert history.failure is not None
    assert history.failure.time_seconds > 120 * 60


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"duration_seconds": 0.0}, "duration_seconds 0.0: expected more than 0"),
        ({"severity": 1.5}, "severity 1.5"),
        ({"shape": 0.0}, "shape 0.0"),
        ({"gpu": -1}, "gpu -1"),
    ],
)
def test_an_impossible_scenario_is_refused(changes: dict[str, float], expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        fault("thermal-interface", **changes)


def test_an_unknown_scenario_names_those_that_exist() -> None:
    with pytest.raises(ValueError, match="'melting': expected one of healthy, thermal-interface"):
        record("melting", node="n1", seed=1, steps=2)


def test_a_gpu_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="gpu 2: expected less than 2"):
        record(fault("memory-storm"), node="n1", seed=1, steps=2, gpus=2)
