"""Look-alikes show, and are no failures."""

from __future__ import annotations

import numpy as np
import pytest

from model.schema import Kind
from simulator.faults import STORIES
from simulator.history import NodeHistory, Recording, record_all
from simulator.instruments.shown import CHANNELS, SHOWN
from simulator.scenario import Scenario
from tests.simulator.histories import HOUR, at, channel, fault, told

LOOKALIKES = [kind for kind, story in STORIES.items() if story.lookalike]
XID = SHOWN.index("gpu_xid_code")
VOLATILE = ("gpu_energy_joules_total", "gpu_power_violation_seconds_total")


@pytest.fixture(scope="module")
def lookalikes() -> dict[str, NodeHistory]:
    """Every look-alike, from one hour to five."""
    wanted = [Recording(fault(kind), "n1", 5) for kind in LOOKALIKES]
    return {one.scenario: one for one in record_all(wanted, steps=360)}


def test_a_lookalike_has_neither_failure_nor_onset(lookalikes: dict[str, NodeHistory]) -> None:
    for kind, history in lookalikes.items():
        assert history.lookalike, kind
        assert history.failure is None, kind
        assert history.onset_seconds is None, kind


def test_a_lookalike_shows_no_sign_of_broken_hardware(lookalikes: dict[str, NodeHistory]) -> None:
    for kind, history in lookalikes.items():
        codes = channel(history, "gpu_xid_code")
        assert set(np.unique(codes[codes > 0])) <= {13, 31, 43, 45}, kind
        for name in ("gpu_row_remap_failed", "gpu_recovery_action", "node_leak_detected"):
            assert not np.nan_to_num(channel(history, name)).any(), (kind, name)


def test_a_lookalike_shows_while_it_lasts_and_is_over_at_its_end(
    lookalikes: dict[str, NodeHistory],
) -> None:
    calm = told(Scenario())
    for kind, history in lookalikes.items():
        same = np.isclose(history.values, calm.values, equal_nan=True)
        assert not same[:, 60:301].all(), kind
        gauges = [i for i, c in enumerate(CHANNELS) if c.kind is not Kind.COUNTER and i != XID]
        np.testing.assert_allclose(
            history.values[:, 345:, gauges], calm.values[:, 345:, gauges], rtol=0.02, err_msg=kind
        )


def test_a_power_cap_holds_clocks_and_counts_time_while_it_lasts() -> None:
    history = told(fault("power-capping"))
    capped = channel(history, "gpu_power_cap_active")
    assert np.nanmean(capped[:, 90:290]) > 0.7
    assert np.nanmean(capped[:, :55]) < 0.2
    assert np.nanmax(channel(history, "gpu_power_watts")[:, 62:299]) < 475
    limit = channel(history, "gpu_power_limit_watts")
    assert set(np.unique(limit[np.isfinite(limit)])) == {448.0, 700.0}
    grown = channel(history, "gpu_power_violation_seconds_total")
    assert (grown[:, 299] - grown[:, 60] > 0.7 * 239 * 60).all()
    busy = channel(history, "gpu_utilization_ratio")[:, 62:299] > 0.9
    assert channel(history, "gpu_sm_clock_hertz")[:, 62:299][busy].max() < 1.9e9
    assert np.nansum(channel(history, "gpu_thermal_slowdown_active")) == 0


def test_a_driver_reload_is_a_gap_after_which_counters_restart() -> None:
    history = told(fault("driver-reload", duration_seconds=1_800.0))
    power = channel(history, "gpu_power_watts")
    assert np.isnan(power[:, 71:79]).all()
    assert np.isfinite(power[:, 82]).all()
    for name in VOLATILE:
        counter = channel(history, name)
        assert (counter[:, 81] < counter[:, 69]).all()
        assert (np.diff(counter[:, 82:], axis=1) >= 0).all()
    assert channel(history, "gpu_energy_joules_total")[:, 81].max() < 3 * 60 * 100
    assert np.isfinite(channel(history, "node_power_watts")[0, 71:79]).any()


def test_a_driver_reload_keeps_what_the_board_remembers() -> None:
    """Remapped rows live in the board; nothing in the reload may change them."""
    history = told(fault("driver-reload", duration_seconds=1_800.0), seed=11)
    rows = channel(history, "gpu_remapped_rows_correctable_total")
    np.testing.assert_array_equal(rows[:, 69], rows[:, 82])


def test_an_exporter_restart_forgets_the_xid_and_keeps_the_counters() -> None:
    history = told(fault("exporter-restart", duration_seconds=180.0))
    assert at(history, "gpu_xid_code", HOUR - 120)[2] == 31
    assert np.isnan(channel(history, "gpu_power_watts")[:, 60:63]).all()
    assert not channel(history, "gpu_xid_code")[:, 64:].max() > 0
    energy = channel(history, "gpu_energy_joules_total")
    assert (energy[:, 64] > energy[:, 59]).all()
    assert np.nanmax(channel(history, "gpu_utilization_ratio")[:, 64:]) > 0.9
