"""What each look-alike of work, instruments and operations looks like."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.endpoints.redfish.tray import tree
from simulator.faults.unlike_instruments import DRIFTING, STICKING
from simulator.history import NodeHistory, Recording, record_all
from simulator.physics.workload import Workload
from simulator.scenario import Scenario
from tests.simulator.endpoints.readings import reading_at
from tests.simulator.histories import HOUR, channel, fault, told

DURING = slice(62, 299)
INLET = "node_inlet_temperature_celsius"
UTILISATION, POWER = "gpu_utilization_ratio", "gpu_power_watts"
KINDS = (
    "new-workload", "checkpoint-stall", "application-xids", "bmc-reboot", "stuck-sensor",
    "drifting-sensor", "mig-reconfiguration", "node-reboot", "maintenance", "gpu-given-away",
)  # fmt: skip
Histories = dict[str, NodeHistory]


@pytest.fixture(scope="module")
def histories() -> Histories:
    wanted = [Recording(fault(kind, severity=0.9), "n1", 5) for kind in KINDS]
    return {one.scenario: one for one in record_all(wanted, steps=360)}


def test_new_work_is_uneven_and_reads_memory_as_none_did_before(histories: Histories) -> None:
    history = histories["new-workload"]
    memory = channel(history, "gpu_memory_active_ratio")
    assert np.nanmax(memory[:, DURING]) > 0.9 > np.nanmax(memory[:, :59])
    spread = np.nanmax(channel(history, UTILISATION)[:, DURING], axis=0) - np.nanmin(
        channel(history, UTILISATION)[:, DURING], axis=0
    )
    assert np.nanmedian(spread) > 0.5


def test_a_stall_holds_memory_and_computes_nothing(histories: Histories) -> None:
    history = histories["checkpoint-stall"]
    assert np.nanmax(channel(history, UTILISATION)[:, DURING]) < 0.1
    assert np.nanmedian(channel(history, "gpu_memory_used_bytes")[:, DURING]) > 5e10


def test_crashing_programs_leave_codes_on_many_gpus_and_restart(histories: Histories) -> None:
    codes = channel(histories["application-xids"], "gpu_xid_code")
    assert (np.nan_to_num(codes[:, 299]) > 0).sum() >= 4
    assert np.nanmax(channel(histories["application-xids"], UTILISATION)[:, 320:]) > 0.9


def test_a_restarting_bmc_is_silent_and_its_fans_race(histories: Histories) -> None:
    history = told(fault("bmc-reboot", duration_seconds=300.0), hours=2)
    assert np.isnan(channel(history, INLET)[0, 60:65]).all()
    fan = channel(history, "node_fan_speed_rpm")[0]
    assert fan[66] > 1.4 * fan[58]
    assert fan[70] < 1.1 * fan[58]
    assert np.isfinite(channel(history, POWER)[:, 60:65]).all()


def test_a_stuck_sensor_repeats_its_last_reading_and_no_other_does(histories: Histories) -> None:
    history = histories["stuck-sensor"]
    still = [
        name
        for name in STICKING
        if np.nanstd(channel(history, name)[0, 61:299]) == 0.0
        and np.nanstd(channel(history, name)[0, :60]) > 0.0
    ]
    assert len(still) == 1
    held = channel(history, still[0])[0]
    assert held[120] == held[59]
    assert np.nanstd(held[301:]) > 0


def test_a_drifting_sensor_leaves_the_truth_and_what_it_measures_does_not(
    histories: Histories,
) -> None:
    history, calm = histories["drifting-sensor"], told(Scenario())
    off = {
        name: float(np.nanmax(np.abs(channel(history, name) - channel(calm, name))))
        for name in history.channels
    }
    wrong = [name for name, error in off.items() if error > 0]
    assert len(wrong) == 1
    assert off[wrong[0]] == pytest.approx(0.9 * DRIFTING[wrong[0]], rel=0.1)


def test_instances_hide_utilisation_and_remaps_but_not_heat(histories: Histories) -> None:
    history = histories["mig-reconfiguration"]
    for name in (UTILISATION, "gpu_row_remap_failed"):
        assert np.isnan(channel(history, name)[:, 70:290]).all()
        assert np.isfinite(channel(history, name)[:, 320:]).any()
    assert np.isfinite(channel(history, "gpu_temperature_celsius")[:, 70:290]).mean() > 0.99
    energy = channel(history, "gpu_energy_joules_total")
    assert (energy[:, 310] < energy[:, 290]).all()


def test_a_reboot_is_a_gap_of_the_page_alone(histories: Histories) -> None:
    history = told(fault("node-reboot", duration_seconds=600.0), hours=2)
    assert np.isnan(channel(history, POWER)[:, 61:69]).all()
    assert np.isfinite(channel(history, INLET)[0, 61:69]).any()
    assert np.nanmax(channel(history, UTILISATION)[:, 71:78]) == 0
    assert np.nanmax(channel(history, UTILISATION)[:, 85:]) > 0.9


def test_a_node_in_maintenance_is_off_and_its_bmc_says_so(histories: Histories) -> None:
    history = histories["maintenance"]
    assert np.isnan(channel(history, "node_power_watts")[0, 90:270]).all()
    assert np.isfinite(channel(history, "node_leak_detected")[0, 90:270]).any()
    off = reading_at(3 * HOUR, fault("maintenance"))
    system = tree(off)["/redfish/v1/Systems/HGX_Baseboard_0"]
    assert system["PowerState"] == "Off"
    assert not off.page_up


def test_a_gpu_given_away_leaves_the_page_and_the_bmc_still_sees_it(histories: Histories) -> None:
    history = histories["gpu-given-away"]
    power = channel(history, POWER)
    assert np.isnan(power[2, DURING]).all()
    assert np.isfinite(np.delete(power, 2, axis=0)[:, DURING]).mean() > 0.99
    assert np.isfinite(power[2, 302:]).any()
    assert np.isnan(channel(history, "gpu_xid_code")[2, DURING]).all()
    during = reading_at(3 * HOUR, fault("gpu-given-away"))
    processor = tree(during)["/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_2"]
    assert processor["Status"]["State"] == "Enabled"


def test_a_new_monitor_raises_every_idle_board_by_one_step() -> None:
    history = told(fault("monitor-upgrade", workload=Workload.IDLE, severity=0.9))
    power = channel(history, POWER)
    step = np.nanmean(power[:, 70:290], axis=1) - np.nanmean(power[:, :59], axis=1)
    np.testing.assert_allclose(step, 50, atol=3)
    assert np.isnan(power[:, 60:62]).all()


def test_a_hot_spell_warms_air_and_coolant_a_little_and_passes() -> None:
    history = told(fault("seasonal-inlet", severity=1.0))
    inlet, supply = INLET, "node_coolant_supply_temperature_celsius"
    calm = told(Scenario())
    assert np.nanmax(channel(history, inlet) - channel(calm, inlet)) == pytest.approx(7, abs=0.3)
    assert np.nanmax(channel(history, supply) - channel(calm, supply)) == pytest.approx(3, abs=0.3)
