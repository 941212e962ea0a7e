"""R11: one ill resource is walked around once; the BMC is up, its session lives, nothing flaps."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from model.sources import redfish as spell
from tests.exporter.redfish.conftest import values
from tests.exporter.redfish.fake_bmc import Fault
from tests.exporter.redfish.small_tree import CHASSIS, OK, THERMAL, collection, link, small_tree

ERROR = json.dumps(
    {"error": {"code": "Base.1.12.GeneralError", "message": "m", "@Message.ExtendedInfo": []}}
).encode()
COOLING = f"{CHASSIS}/ThermalSubsystem"
FANS = [f"{COOLING}/Fans/{index}" for index in (1, 2)]


def both_models():
    """A BMC that shows fans and temperatures in the older and in the newer model."""
    tree = small_tree()
    tree[CHASSIS]["ThermalSubsystem"] = link(COOLING)
    metrics = f"{COOLING}/ThermalMetrics"
    tree[COOLING] = {
        "@odata.id": COOLING, "ThermalMetrics": link(metrics), "Fans": link(f"{COOLING}/Fans"),
    }  # fmt: skip
    inlet = {"DataSourceUri": f"{CHASSIS}/Sensors/SystemInletTemp", "Reading": 23.5}
    tree[metrics] = {"@odata.id": metrics, "TemperatureReadingsCelsius": [inlet]}
    tree[f"{COOLING}/Fans"] = collection(f"{COOLING}/Fans", *FANS)
    for uri, rpm in zip(FANS, (5000, 4800), strict=True):
        speed = {"Reading": 40, "SpeedRPM": rpm}
        tree[uri] = {
            "@odata.id": uri,
            "Id": uri[-1],
            "Name": "Fan",
            "Status": OK,
            "SpeedPercent": speed,
        }
    return tree


@pytest.mark.parametrize("status", [500, 200])
@pytest.mark.parametrize("every", [3, 1])
def test_fans_and_inlet_move_to_the_newer_model_and_stay(bench, status: int, every: int) -> None:
    one = bench(both_models(), auth=True)
    assert one.read().strategy == "thermal_power"
    one.bmc.faults[THERMAL] = Fault(status, ERROR, every=every)
    seen = [one.read() for _ in range(30)]
    strategies = [readings.strategy for readings in seen]
    assert sum(a != b for a, b in pairwise(strategies)) == 1
    assert "subsystems" in strategies[-1]
    found = values(seen[-1])
    assert (found[spell.INLET], found[spell.FAN], found[spell.POWER]) == (23.5, 4800, 614)
    assert one.bmc.opened == 1
    assert one.bmc.deleted == 0
    assert max(readings.requests for readings in seen[-20:]) <= 4


def test_an_hour_later_the_old_way_is_looked_at_and_not_gone_back_to(bench) -> None:
    one = bench(both_models())
    one.read()
    one.bmc.faults[THERMAL] = Fault(500, ERROR, times=4)
    strategies = [one.read().strategy for _ in range(150)]
    assert sum(a != b for a, b in pairwise(strategies)) <= 1
