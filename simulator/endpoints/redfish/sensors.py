"""The sensors of a tray and of its boards."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from simulator import board
from simulator.endpoints.redfish.shapes import Resource, sensor

if TYPE_CHECKING:
    from simulator.fleet import NodeReading

FANS = 6
DETECTORS = ("0_ColdPlate", "0_Manifold", "1_ColdPlate", "1_Manifold")


def tray_sensors(reading: NodeReading) -> list[Resource]:
    """Return fans, power, inlet, coolant and leak voltages."""

    def of_tray(name: str, kind: str, units: str, channel: str, **more: Any) -> Resource:
        return sensor(
            "Chassis_0", f"Chassis_0_{name}", kind, units, reading.of_node(channel), **more
        )

    fans = [_fan(reading, fan, place) for fan in range(1, FANS + 1) for place in ("FRONT", "REAR")]
    hot = {"Thresholds": {"UpperCaution": {"Reading": 40.0}, "UpperCritical": {"Reading": 43.0}}}
    leaking = reading.of_node("node_leak_detected") > 0.0
    volts = [
        sensor("Chassis_0", f"Chassis_0_LeakDetector_{place}", "Voltage", "V",
                0.4 if leaking else 1.73)
        for place in DETECTORS
    ]  # fmt: skip
    return [
        *fans,
        of_tray("TotalHSC_Power_0", "Power", "W", "node_power_watts"),
        of_tray("Front_IO_Temp_0", "Temperature", "Cel", "node_inlet_temperature_celsius", **hot),
        of_tray(
            "Coolant_Supply_Temp_0",
            "Temperature",
            "Cel",
            "node_coolant_supply_temperature_celsius",
            PhysicalContext="LiquidInlet",
        ),
        of_tray(
            "Coolant_Return_Temp_0",
            "Temperature",
            "Cel",
            "node_coolant_return_temperature_celsius",
            PhysicalContext="LiquidOutlet",
        ),
        of_tray(
            "Coolant_Flow_0",
            "LiquidFlowLPM",
            "L/min",
            "node_coolant_flow_liters_per_minute",
        ),
        *volts,
    ]


def _fan(reading: NodeReading, fan: int, place: str) -> Resource:
    """The slowest fan turns as the channel says, the others a little faster."""
    faster = 30.0 * ((fan - 1) % 3) + (60.0 if place == "REAR" else 0.0)
    rpm = reading.of_node("node_fan_speed_rpm") + faster
    return sensor(
        "Chassis_0",
        f"Chassis_0_FAN_{fan}_{place}",
        "Rotational",
        "RPM",
        rpm,
        ReadingRangeMax=25_000.0,
        ReadingRangeMin=0.0,
        Thresholds={"LowerCritical": {"Reading": 2_204.0}},
    )


def gpu_sensors(reading: NodeReading, gpu: int) -> list[Resource]:
    """Return what the BMC sees of one board; a lost one has no readings."""
    name, dead = f"HGX_GPU_{gpu}", bool(reading.dead[gpu])

    def seen(value: float) -> float:
        return math.nan if dead else value

    core = float(reading.core_celsius[gpu])
    return [
        sensor(name, f"{name}_Power_0", "Power", "W", seen(float(reading.watts[gpu]))),
        sensor(name, f"{name}_DRAM_0_Temp_0", "Temperature", "Cel",
                seen(round(float(reading.memory_celsius[gpu])))),
        sensor(name, f"{name}_TEMP_0", "Temperature", "Cel", seen(round(core * 32) / 32)),
        sensor(name, f"{name}_TEMP_1", "Temperature", "Cel",
                seen(round((board.SLOWDOWN_CELSIUS - core) * 32) / 32), ReadingBasis="Headroom"),
    ]  # fmt: skip
