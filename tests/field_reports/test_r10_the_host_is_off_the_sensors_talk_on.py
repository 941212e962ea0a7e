"""R10: what a BMC says of a host that is off is no reading, with or without a power state."""

from __future__ import annotations

import pytest

from exporter.readings import Missing
from model.sources import redfish as spell
from tests.exporter.redfish.conftest import values
from tests.exporter.redfish.small_tree import POWER, SYSTEM, THERMAL, small_tree

HOST_SIDE = {spell.INLET, spell.POWER, spell.FAN}


def kinds(readings) -> set[Missing]:
    return {kind for place, kind in readings.missing.items() if place.channel in HOST_SIDE}


def jitter(one, step: int) -> None:
    """Let fans and power move as they do on a host that runs."""
    one.bmc.documents[THERMAL]["Fans"][0]["Reading"] = 5000 + step % 7
    one.bmc.documents[POWER]["PowerControl"][0]["PowerConsumedWatts"] = 600 + step % 5


def lived(one, cycles: int = 30):
    for step in range(cycles):
        jitter(one, step)
        readings = one.read()
    assert values(readings).keys() >= HOST_SIDE
    return one


@pytest.mark.parametrize("state", ["Off", "PoweringOn", "PoweringOff"])
def test_while_the_host_is_not_on_its_side_is_missing_and_what_outlives_it_is_not(
    bench, state: str
) -> None:
    one = lived(bench(small_tree()))
    one.bmc.documents[SYSTEM]["PowerState"] = state
    for _ in range(45):
        readings = one.read()
        assert kinds(readings) == {Missing.HOST_OFF}
        assert not HOST_SIDE & values(readings).keys()
        assert values(readings)[spell.SUPPLIES_FAILED] == 0
    one.bmc.documents[SYSTEM]["PowerState"] = "On"
    one.bmc.documents[THERMAL]["Fans"][0]["Reading"] = 12_000
    assert values(one.read()).keys() >= HOST_SIDE


def test_without_a_power_state_readings_that_stand_still_are_frozen(bench) -> None:
    documents = small_tree()
    del documents[SYSTEM]["PowerState"]
    one = lived(bench(documents))
    seen = [kinds(one.read()) for _ in range(45)]
    assert seen[:9] == [set()] * 9
    assert seen[12:] == [{Missing.FROZEN}] * 33
    jitter(one, 3)
    one.bmc.documents[THERMAL]["Fans"][1]["Reading"] = 9999
    assert values(one.read()).keys() >= HOST_SIDE


def test_a_node_that_is_quiet_by_nature_is_not_frozen(bench) -> None:
    one = bench(small_tree())
    for _ in range(60):
        readings = one.read()
    assert values(readings).keys() >= HOST_SIDE
