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


_HOT_AIR = {"UpperCaution": {"Reading": 40.0}, "UpperCritical": {"Reading": 43.0}}
_CELSIUS, _LITERS = ("Temperature", "Cel"), ("LiquidFlowLPM", "L/min")
OF_TRAY: dict[str, tuple[tuple[str, str], str, dict[str, Any]]] = {
    "TotalHSC_Power_0": (("Power", "W"), "node_power_watts", {}),
    "Front_IO_Temp_0": (_CELSIUS, "node_inlet_temperature_celsius", {"Thresholds": _HOT_AIR}),
    "Coolant_Supply_Temp_0": (
        _CELSIUS,
        "node_coolant_supply_temperature_celsius",
        {"PhysicalContext": "LiquidInlet"},
    ),
    "Coolant_Return_Temp_0": (
        _CELSIUS,
        "node_coolant_return_temperature_celsius",
        {"PhysicalContext": "LiquidOutlet"},
    ),
    "Coolant_Flow_0": (_LITERS, "node_coolant_flow_liters_per_minute", {}),
}
"""Sensor → type and units, channel, further properties."""
DRY_VOLTS, WET_VOLTS = 1.73, 0.4


def tray_sensors(reading: NodeReading) -> list[Resource]:
    """Return fans, power, inlet, coolant and leak voltages."""
    fans = [_fan(reading, fan, place) for fan in range(1, FANS + 1) for place in ("FRONT", "REAR")]
    listed = [
        sensor("Chassis_0", f"Chassis_0_{name}", *kind, reading.of_node(channel), **more)
        for name, (kind, channel, more) in OF_TRAY.items()
    ]
    volts = WET_VOLTS if reading.of_node("node_leak_detected") > 0.0 else DRY_VOLTS
    leaks = [
        sensor("Chassis_0", f"Chassis_0_LeakDetector_{place}", "Voltage", "V", volts)
        for place in DETECTORS
    ]
    return [*fans, *listed, *leaks]


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
