"""R10: with the host off the BMC talks on; a simulated node says nothing then that looks cool."""

from __future__ import annotations

import numpy as np

from model.schema import BY_NAME, Level, Origin
from simulator.endpoints.redfish.tray import tree
from simulator.instruments.shown import OUTLIVE_THE_HOST
from tests.simulator.endpoints.readings import reading_at
from tests.simulator.histories import HOUR, fault, told

OFF = slice(90, 270)


def test_r10_a_node_that_is_off_has_no_readings_of_its_host_rather_than_low_ones() -> None:
    history = told(fault("maintenance"))
    for column, name in enumerate(history.channels):
        values = history.values[:, OFF, column]
        if name in OUTLIVE_THE_HOST:
            assert np.isfinite(values).mean() > 0.9, name
        elif BY_NAME[name].origin is not Origin.EXPORTER:
            assert np.isnan(values).all(), name


def test_r10_the_bmc_says_that_the_host_is_off_and_its_host_sensors_are_offline() -> None:
    reading = reading_at(3 * HOUR, fault("maintenance"))
    resources = tree(reading)
    assert resources["/redfish/v1/Systems/HGX_Baseboard_0"]["PowerState"] == "Off"
    fan = resources["/redfish/v1/Chassis/Chassis_0/Sensors/Chassis_0_FAN_1_FRONT"]
    assert fan["Reading"] is None
    assert fan["Status"]["State"] == "UnavailableOffline"


def test_r10_after_power_on_the_counters_are_new_and_every_channel_returns() -> None:
    history = told(fault("maintenance"))
    energy = history.values[:, :, history.channels.index("gpu_energy_joules_total")]
    assert (energy[:, 290] < energy[:, 50]).all()
    of_gpus = [i for i, name in enumerate(history.channels) if BY_NAME[name].level is Level.GPU]
    back = np.isfinite(history.values[:, 300:, of_gpus]).any(axis=(0, 1))
    missing = {history.channels[of_gpus[i]] for i in np.flatnonzero(~back)}
    assert missing <= {"gpu_xid_code"}
