"""The sensors of a tray and of its boards."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from simulator.endpoints.redfish.shapes import Resource, sensor
from simulator.physics import board, cooling

if TYPE_CHECKING:
    from simulator.fleet import NodeReading

FANS = 6
DETECTORS = ("0_ColdPlate", "0_Manifold", "1_ColdPlate", "1_Manifold")


_HOT_AIR = {"UpperCaution": {"Reading": 40.0}, "UpperCritical": {"Reading": 43.0}}
_CELSIUS, _LITERS = ("Temperature", "Cel", 1.0), ("LiquidFlowLPM", "L/min", 1.0)
_KILOPASCALS = ("PressurekPa", "kPa", 1e-3)
_HOT_BOARD = {"UpperCritical": {"Reading": 105.0}}
OF_TRAY: dict[str, tuple[tuple[str, str, float], str, dict[str, Any]]] = {
    "TotalHSC_Power_0": (("Power", "W", 1.0), "node_power_watts", {}),
    "HSC_0_Volt_In_0": (("Voltage", "V", 1.0), "node_bus_voltage_volts", {}),
    "HSC_0_Temp_0": (_CELSIUS, "node_board_temperature_celsius", {"Thresholds": _HOT_BOARD}),
    "Humidity_0": (("Humidity", "%", 100.0), "node_humidity_ratio", {}),
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
    "Coolant_Supply_Pressure_0": (
        _KILOPASCALS,
        "node_coolant_supply_pressure_pascals",
        {"PhysicalContext": "LiquidInlet"},
    ),
    "Coolant_Return_Pressure_0": (
        _KILOPASCALS,
        "node_coolant_return_pressure_pascals",
        {"PhysicalContext": "LiquidOutlet"},
    ),
}
"""Sensor → type, units and scale of the channel's value in them, channel, further properties."""
_WET = {"LowerCritical": {"Reading": cooling.LEAK_CRITICAL_VOLTS}}


def tray_sensors(reading: NodeReading) -> list[Resource]:
    """Return fans, power, inlet, coolant and leak voltages."""
    fans = [_fan(reading, fan, place) for fan in range(1, FANS + 1) for place in ("FRONT", "REAR")]
    listed = [
        sensor(
            "Chassis_0", f"Chassis_0_{name}", kind, units, reading.of_node(channel) * scale, **more
        )
        for name, ((kind, units, scale), channel, more) in OF_TRAY.items()
    ]
    volts = reading.of_node("node_leak_detector_margin_volts") + cooling.LEAK_CRITICAL_VOLTS
    leaks = [
        sensor(
            "Chassis_0", f"Chassis_0_LeakDetector_{place}", "Voltage", "V", volts, Thresholds=_WET
        )
        for place in DETECTORS
    ]
    return [*fans, *listed, *leaks]


def _fan(reading: NodeReading, fan: int, place: str) -> Resource:
    """The slowest fan turns as the channel says, the others a little faster; one rotor fails."""
    faster = 30.0 * ((fan - 1) % 3) + (60.0 if place == "REAR" else 0.0)
    rpm = reading.of_node("node_fan_speed_rpm") + faster
    shown = sensor(
        "Chassis_0",
        f"Chassis_0_FAN_{fan}_{place}",
        "Rotational",
        "RPM",
        rpm,
        ReadingRangeMax=25_000.0,
        ReadingRangeMin=0.0,
        Thresholds={"LowerCritical": {"Reading": cooling.FAN_CRITICAL_RPM}},
    )
    if place == "FRONT" and fan <= reading.of_node("node_fans_failed"):
        shown["Status"] = {"Health": "Critical", "HealthRollup": "Critical", "State": "Enabled"}
    return shown


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
