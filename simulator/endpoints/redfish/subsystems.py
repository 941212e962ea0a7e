"""The thermal and power subsystems of a tray: temperatures, leak detectors, power supplies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from simulator.endpoints.redfish.sensors import DETECTORS
from simulator.endpoints.redfish.shapes import ENABLED, TRAY, Resource, collection, link, resource
from simulator.physics import board, power

if TYPE_CHECKING:
    from simulator.fleet import NodeReading


def cooling(reading: NodeReading, sensors: list[Resource]) -> list[Resource]:
    """Return the thermal subsystem; `sensors` are the tray's."""
    path = f"{TRAY}/ThermalSubsystem"
    leaks = f"{path}/LeakDetection"
    temperatures = [
        {
            "@odata.id": sensor["@odata.id"],
            "DataSourceUri": sensor["@odata.id"],
            "DeviceName": sensor["Id"],
            "Reading": sensor["Reading"],
        }
        for sensor in sensors
        if sensor["ReadingType"] == "Temperature"
    ]
    detectors = [_detector(f"{leaks}/LeakDetectors", place, reading) for place in DETECTORS]
    return [
        resource(
            path,
            "ThermalSubsystem.v1_3_0.ThermalSubsystem",
            LeakDetection=link(leaks),
            Status=ENABLED,
            ThermalMetrics=link(f"{path}/ThermalMetrics"),
        ),
        resource(
            f"{path}/ThermalMetrics",
            "ThermalMetrics.v1_0_0.ThermalMetrics",
            TemperatureReadingsCelsius=temperatures,
        ),
        resource(
            leaks,
            "LeakDetection.v1_0_0.LeakDetection",
            LeakDetectors=link(f"{leaks}/LeakDetectors"),
            Status=ENABLED,
        ),
        collection(
            f"{leaks}/LeakDetectors", "LeakDetector", [item["@odata.id"] for item in detectors]
        ),
        *detectors,
    ]


def _detector(parent: str, place: str, reading: NodeReading) -> Resource:
    state = "Critical" if reading.of_node("node_leak_detected") > 0.0 else "OK"
    return resource(
        f"{parent}/Chassis_0_LeakDetector_{place}",
        "LeakDetector.v1_1_0.LeakDetector",
        DetectorState=state,
        LeakDetectorType="Moisture",
        Status={"Health": state, "State": "Enabled"},
    )


def power_supplies(reading: NodeReading) -> list[Resource]:
    """As many supplies stand without input or have failed as the channels say; the rest share.

    The last one is the worst, as the channel of its efficiency says.
    """
    path = f"{TRAY}/PowerSubsystem"
    unfed = reading.of_node("node_power_supplies_without_input")
    failed = reading.of_node("node_power_supplies_failed")
    watts = reading.of_node("node_power_watts") / max(1.0, board.POWER_SUPPLIES - failed)
    supplies: list[Resource] = []
    for index in range(board.POWER_SUPPLIES):
        unit, broken = f"{path}/PowerSupplies/PSU_{index}", index < failed
        supply = resource(
            unit,
            "PowerSupply.v1_5_0.PowerSupply",
            LineInputStatus="LossOfInput" if index < unfed else "Normal",
            Metrics=link(f"{unit}/Metrics"),
            PowerSupplyType="AC",
            Status={"Health": "Critical" if broken else "OK", "State": "Enabled"},
        )
        supplies += [supply, _metrics(supply, reading, 0.0 if broken else watts, index < unfed)]
    units = [item["@odata.id"] for item in supplies if "Metrics" in item]
    subsystem = resource(
        path,
        "PowerSubsystem.v1_1_0.PowerSubsystem",
        PowerSupplies=link(f"{path}/PowerSupplies"),
        Status={"Health": "OK", "State": "Enabled"},
    )
    return [subsystem, collection(f"{path}/PowerSupplies", "PowerSupply", units), *supplies]


def _metrics(supply: Resource, reading: NodeReading, watts: float, unfed: bool) -> Resource:
    worst = supply["Id"] == f"PSU_{board.POWER_SUPPLIES - 1}"
    usual = power.CONVERSION_RATIO
    ratio = reading.of_node("node_power_supply_efficiency_ratio")
    hottest = reading.of_node("node_power_supply_temperature_celsius")
    given = watts * (ratio if worst else max(usual, ratio))
    return resource(
        f"{supply['@odata.id']}/Metrics",
        "PowerSupplyMetrics.v1_1_0.PowerSupplyMetrics",
        InputPowerWatts={"Reading": _number(watts, 3)},
        InputVoltage={"Reading": 0.0 if unfed else 240.0},
        OutputPowerWatts={"Reading": _number(given, 3)},
        TemperatureCelsius={"Reading": _number(hottest if worst else hottest - 2.0)},
        Status=supply["Status"],
    )


def _number(value: float, digits: int = 1) -> float | None:
    return round(value, digits) if math.isfinite(value) else None
