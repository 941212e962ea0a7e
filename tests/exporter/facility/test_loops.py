"""What flows is judged by physics: signs, wrong heat, loops that do not flow."""

from __future__ import annotations

from typing import Any

import pytest

from exporter.readings import Missing
from tests.exporter.facility.small_cdu import PRIMARY, SECONDARY, connector, small_cdu

FLOW = "coolant_flow_liters_per_minute"


def dead(uri: str) -> dict[str, Any]:
    """A connector that is not fitted: everything reads 0."""
    zero = {"Reading": 0}
    return connector(uri, 0, 0, 0, SupplyPressurekPa=zero, ReturnPressurekPa=zero)


def test_a_loop_that_agrees_with_itself_leaves_nothing_over(plant) -> None:
    values = plant(small_cdu()).unit().values
    assert values["coolant_heat_watts"] == pytest.approx(120 / 60 * 4.0 * 5 * 1000)
    assert values["water_heat_watts"] == pytest.approx(60 / 60 * 4.0 * 10 * 1000)
    assert values["heat_residual_ratio"] == pytest.approx(0)
    assert values["temperature_rise_residual_celsius"] == pytest.approx(0)
    assert values["coolant_pressure_drop_pascals"] == 120_000


@pytest.mark.parametrize("sign", [1, -1])
def test_the_sign_of_a_reported_difference_is_not_a_contradiction(plant, sign: int) -> None:
    tree = small_cdu()
    tree[SECONDARY]["DeltaTemperatureCelsius"]["Reading"] = 5 * sign
    tree[SECONDARY]["SupplyPressurekPa"]["Reading"] = 180
    tree[SECONDARY]["ReturnPressurekPa"]["Reading"] = 300
    values = plant(tree).unit().values
    assert values["temperature_rise_residual_celsius"] == pytest.approx(0)
    assert values["coolant_pressure_drop_pascals"] == 120_000


def test_heat_that_does_not_follow_from_its_flow_is_shown_as_such(plant) -> None:
    tree = small_cdu()
    tree[SECONDARY]["HeatRemovedkW"]["Reading"] = 20.0
    assert plant(tree).unit().values["heat_residual_ratio"] == pytest.approx(-0.5)
    tree[SECONDARY]["HeatRemovedkW"]["Reading"] = 80.0
    assert plant(tree).unit().values["heat_residual_ratio"] == pytest.approx(0.5)


def test_of_several_loops_the_worst_residual_is_shown(plant) -> None:
    tree = small_cdu()
    tree[PRIMARY]["HeatRemovedkW"]["Reading"] = 39.0
    tree[SECONDARY]["HeatRemovedkW"]["Reading"] = 10.0
    assert plant(tree).unit().values["heat_residual_ratio"] == pytest.approx(-0.75)


def test_a_unit_that_cools_with_air_has_its_racks_loop_under_either_name(plant) -> None:
    """A sidecar shows the loop to the racks as its primary one, an in-row unit as its secondary."""
    tree = small_cdu()
    tree[SECONDARY] = dead(SECONDARY)
    values = plant(tree).unit().values
    assert values[FLOW] == 60
    assert values["coolant_supply_temperature_celsius"] == 20
    assert "water_flow_liters_per_minute" not in values
    tree = small_cdu()
    tree[PRIMARY] = dead(PRIMARY)
    assert plant(tree).unit().values[FLOW] == 120


def test_a_loop_that_never_flowed_is_none_and_one_that_stops_is_at_zero(plant) -> None:
    tree = small_cdu()
    tree[PRIMARY] = dead(PRIMARY)
    one = plant(tree)
    unit = one.unit()
    assert unit.missing["water_flow_liters_per_minute"] is Missing.ZERO_MEANS_NONE
    one.bmc.documents[SECONDARY]["FlowLitersPerMinute"]["Reading"] = 0
    assert one.unit().values[FLOW] == 0


def test_a_flow_of_zero_is_believed_of_a_connector_that_says_it_is_ill(plant) -> None:
    tree = small_cdu()
    ill = {"State": "Enabled", "Health": "Critical"}
    tree[SECONDARY] |= {"FlowLitersPerMinute": {"Reading": 0}, "Status": ill}
    assert plant(tree).unit().values[FLOW] == 0


@pytest.mark.parametrize("reading", [None, "N/A", float("nan"), 1e9, -5, True, {}])
def test_a_flow_that_is_no_flow_costs_what_follows_from_it(plant, reading) -> None:
    tree = small_cdu()
    tree[SECONDARY]["FlowLitersPerMinute"]["Reading"] = reading
    unit = plant(tree).unit()
    assert FLOW in unit.missing
    assert "coolant_heat_watts" not in unit.values
    assert unit.values["coolant_supply_temperature_celsius"] == 32


def test_without_a_coolant_water_is_meant(plant) -> None:
    tree = small_cdu()
    for uri in (PRIMARY, SECONDARY):
        del tree[uri]["Coolant"]
    del tree["/redfish/v1/ThermalEquipment/CDUs/1"]["Coolant"]
    watts = plant(tree).unit().values["coolant_heat_watts"]
    assert watts == pytest.approx(120 / 60 * 0.9957 * 4.178 * 5 * 1000)


def test_the_dew_point_margin_is_computed_where_it_is_not_said(plant) -> None:
    tree = small_cdu()
    air = "/redfish/v1/ThermalEquipment/CDUs/1/EnvironmentMetrics"
    tree["/redfish/v1/ThermalEquipment/CDUs/1"]["EnvironmentMetrics"] = {"@odata.id": air}
    tree[air] = {"@odata.id": air, "DewPointCelsius": {"Reading": 14.5}}
    assert plant(tree).unit().values["dew_point_margin_celsius"] == 17.5
    tree[SECONDARY]["DewPointProximityCelsius"] = {"Reading": 12}
    assert plant(tree).unit().values["dew_point_margin_celsius"] == 12
