"""The tree, held against recorded trees."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest

from simulator.endpoints.redfish.tray import tree
from tests.simulator.endpoints.readings import reading_at, training_now
from tests.simulator.histories import HOUR, fault

if TYPE_CHECKING:
    from pathlib import Path

TRAY = "/redfish/v1/Chassis/Chassis_0"
REPORT = "/redfish/v1/TelemetryService/MetricReports/HGX_PlatformEnvironmentMetrics_0"
GB200 = "nvidia-gb200-compute-tray"


@pytest.fixture(scope="module")
def resources() -> dict[str, dict[str, Any]]:
    return tree(training_now())


def recorded(shared_data: Path, path: str) -> dict[str, Any]:
    file = shared_data / "redfish" / GB200 / path.lstrip("/") / "index.json"
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return document


def links(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["@odata.id"]] if set(value) == {"@odata.id"} else []
        return own + [link for item in value.values() for link in links(item)]
    return [link for item in value for link in links(item)] if isinstance(value, list) else []


@pytest.mark.parametrize(
    "path",
    [
        "/redfish/v1",
        "/redfish/v1/Chassis",
        TRAY,
        f"{TRAY}/Sensors",
        f"{TRAY}/Sensors/Chassis_0_FAN_1_FRONT",
        f"{TRAY}/Sensors/Chassis_0_TotalHSC_Power_0",
        f"{TRAY}/Sensors/Chassis_0_Front_IO_Temp_0",
        f"{TRAY}/Sensors/Chassis_0_LeakDetector_0_Manifold",
        f"{TRAY}/ThermalSubsystem",
        f"{TRAY}/ThermalSubsystem/ThermalMetrics",
        f"{TRAY}/ThermalSubsystem/LeakDetection",
        f"{TRAY}/ThermalSubsystem/LeakDetection/LeakDetectors",
        f"{TRAY}/ThermalSubsystem/LeakDetection/LeakDetectors/Chassis_0_LeakDetector_0_Manifold",
        f"{TRAY}/PowerSubsystem",
        f"{TRAY}/PowerSubsystem/PowerSupplies",
        "/redfish/v1/Chassis/HGX_GPU_0",
        "/redfish/v1/Systems",
        "/redfish/v1/Systems/HGX_Baseboard_0",
        "/redfish/v1/Systems/HGX_Baseboard_0/Processors",
        "/redfish/v1/TelemetryService",
        "/redfish/v1/TelemetryService/MetricReports",
        REPORT,
        "/redfish/v1/SessionService",
        "/redfish/v1/Managers",
        "/redfish/v1/Managers/BMC_0",
    ],
)
def test_a_resource_has_no_property_that_a_recorded_one_lacks(
    resources: dict[str, dict[str, Any]], shared_data: Path, path: str
) -> None:
    model = recorded(shared_data, path)
    assert resources[path]["@odata.type"] == model["@odata.type"]
    assert set(resources[path]) <= set(model)


def test_report_values_have_the_recorded_shape(
    resources: dict[str, dict[str, Any]], shared_data: Path
) -> None:
    model = recorded(shared_data, REPORT)["MetricValues"]
    shown = resources[REPORT]["MetricValues"]
    assert {frozenset(value) for value in shown} == {frozenset(value) for value in model}
    assert all(isinstance(value["MetricValue"], str) for value in shown)
    properties = {value["MetricProperty"] for value in model}
    assert {value["MetricProperty"] for value in shown if "GPU_0" in value["MetricProperty"]} <= (
        properties
    )


def test_power_supplies_look_like_recorded_ones(
    resources: dict[str, dict[str, Any]], shared_data: Path
) -> None:
    node = "dell-idrac9-a/redfish/v1/Chassis/System.Embedded.1/PowerSubsystem/PowerSupplies"
    shelf = "ocp-power-shelf/redfish/v1/Chassis/PowerShelf/PowerSubsystem/PowerSupplies"
    known: set[str] = set()
    for supply in (f"{node}/PSU.Slot.1", f"{shelf}/1"):
        file = shared_data / "redfish" / supply / "index.json"
        known |= set(json.loads(file.read_text(encoding="utf-8")))
    assert set(resources[f"{TRAY}/PowerSubsystem/PowerSupplies/PSU_0"]) <= known


def test_every_link_leads_somewhere_but_to_report_definitions(
    resources: dict[str, dict[str, Any]],
) -> None:
    for resource in resources.values():
        for link in links(resource):
            served_live = link.endswith("/SessionService/Sessions")
            assert link in resources or served_live or "MetricReportDefinitions" in link, link


def test_coolant_is_not_in_the_reports_and_has_sensors_with_units(
    resources: dict[str, dict[str, Any]],
) -> None:
    reading = training_now()
    supply = resources[f"{TRAY}/Sensors/Chassis_0_Coolant_Supply_Temp_0"]
    flow = resources[f"{TRAY}/Sensors/Chassis_0_Coolant_Flow_0"]
    assert supply["Reading"] == reading.of_node("node_coolant_supply_temperature_celsius")
    assert (supply["PhysicalContext"], supply["ReadingUnits"]) == ("LiquidInlet", "Cel")
    assert flow["Reading"] == reading.of_node("node_coolant_flow_liters_per_minute")
    assert (flow["ReadingType"], flow["ReadingUnits"]) == ("LiquidFlowLPM", "L/min")
    reports = [path for path in resources if "MetricReports/" in path]
    assert len(reports) == 2
    assert not any("Coolant" in json.dumps(resources[path]) for path in reports)


def test_the_slowest_fan_is_the_one_of_the_channel(resources: dict[str, dict[str, Any]]) -> None:
    speeds = [r["Reading"] for r in resources.values() if r.get("ReadingType") == "Rotational"]
    assert len(speeds) == 12
    assert min(speeds) == training_now().of_node("node_fan_speed_rpm")


def test_a_lost_gpu_is_absent_and_reads_nan() -> None:
    after = tree(reading_at(5.1 * HOUR, fault("thermal-interface")))
    gpu = after["/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_2"]
    assert gpu["Status"]["State"] == "Absent"
    values = {v["MetricProperty"]: v["MetricValue"] for v in after[REPORT]["MetricValues"]}
    assert values["/redfish/v1/Chassis/HGX_GPU_2/Sensors/HGX_GPU_2_TEMP_0"] == "nan"
    assert math.isfinite(float(values["/redfish/v1/Chassis/HGX_GPU_3/Sensors/HGX_GPU_3_TEMP_0"]))
    sensor = after["/redfish/v1/Chassis/HGX_GPU_2/Sensors/HGX_GPU_2_Power_0"]
    assert sensor["Reading"] is None
    assert sensor["Status"]["State"] == "UnavailableOffline"


def test_the_bmc_sees_boards_while_the_page_is_down() -> None:
    down = reading_at(1.25 * HOUR, fault("driver-reload", duration_seconds=1_800.0))
    assert not down.page_up
    sensor = tree(down)["/redfish/v1/Chassis/HGX_GPU_0/Sensors/HGX_GPU_0_Power_0"]
    assert 50 < sensor["Reading"] < 120
