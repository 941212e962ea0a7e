"""What the BMC shows of its node: air, coolant, fans, power supplies, leak detectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulator.instruments import sensors
from simulator.instruments.shown import OUTLIVE_THE_HOST
from simulator.physics import cooling, power

if TYPE_CHECKING:
    from simulator.arrays import Flags, Floats, Whole
    from simulator.noise import Noise
    from simulator.physics.board import Build
    from simulator.physics.stress import Stress
    from simulator.physics.trace import Trace

DAY_SECONDS = 86_400.0
DAY_KELVIN = 1.2
SENSORS: dict[str, tuple[str, float, float]] = {
    "node_inlet_temperature_celsius": ("inlet", 0.08, 0.25),
    "node_power_watts": ("node power", 12.0, 1.0),
    "node_fan_speed_rpm": ("fan", 40.0, 30.0),
    "node_coolant_supply_temperature_celsius": ("supply", 0.06, 0.1),
    "node_coolant_return_temperature_celsius": ("return", 0.08, 0.1),
    "node_coolant_flow_liters_per_minute": ("flow", 0.04, 0.05),
    "node_board_temperature_celsius": ("board", 0.2, 0.25),
    "node_coolant_supply_pressure_pascals": ("supply pressure", 400.0, 100.0),
    "node_coolant_return_pressure_pascals": ("return pressure", 400.0, 100.0),
    "node_humidity_ratio": ("humidity", 0.003, 0.005),
    "node_leak_detector_margin_volts": ("leak", 0.002, 0.001),
    "node_bus_voltage_volts": ("bus", 0.02, 0.01),
    "node_power_supply_efficiency_ratio": ("efficiency", 0.002, 0.001),
    "node_power_supply_temperature_celsius": ("supply heat", 0.3, 0.5),
}
"""Channel → stream of its noise, spread, and step in which it is shown."""
POSITIVE = frozenset(
    {
        "node_coolant_flow_liters_per_minute",
        "node_fan_speed_rpm",
        "node_coolant_supply_pressure_pascals",
        "node_coolant_return_pressure_pascals",
    }
)


class Tray:
    """The BMC's view of some nodes; remembers what each sensor showed last, should it stick."""

    def __init__(self, noise: Noise, build: Build) -> None:
        self._noise = noise
        self._build = build
        self._last: dict[str, Floats] = {}

    def read(self, steps: Whole, stress: Stress, flow: Floats, trace: Trace) -> dict[str, Floats]:
        """Return the BMC's channels as [step, node], as its sensors show them.

        `flow` [step, node] is the coolant flow in L/min.  A host that is off
        leaves the sensors behind it without meaning.
        """
        truth = self._air(stress, trace) | self._coolant(stress, flow, trace)
        shown = {name: self._seen(name, value, steps, stress) for name, value in truth.items()}
        volts = shown["node_leak_detector_margin_volts"]
        shown["node_leak_detected"] = (volts < 0.0).astype(np.float64)
        shown["node_fans_failed"] = stress.fans_failed.copy()
        shown["node_power_supplies_failed"] = stress.supplies_failed + stress.supplies_unfed
        shown["node_power_supplies_without_input"] = stress.supplies_unfed.copy()
        for name in shown.keys() - OUTLIVE_THE_HOST:
            shown[name] = np.where(stress.off, np.nan, shown[name])
        return shown

    def _seen(self, name: str, truth: Floats, steps: Whole, stress: Stress) -> Floats:
        stream, sigma, quantum = SENSORS[name]
        biased = truth + stress.bias[name] if name in stress.bias else truth
        read = sensors.read(
            biased[:, :, None], self._noise, stream, steps, sigma=sigma, quantum=quantum
        )[:, :, 0]
        if name in POSITIVE:
            read = np.maximum(0.0, read)
        if name in stress.stuck:
            read = _held(read, stress.stuck[name], self._last.get(name, read[0]))
        self._last[name] = read[-1].copy()
        return np.asarray(read)

    def _air(self, stress: Stress, trace: Trace) -> dict[str, Floats]:
        """Return what air and electricity do: inlet, fans, boards, power supplies."""
        build = self._build
        day = np.sin(2.0 * np.pi * (stress.times / DAY_SECONDS - 0.4))[:, None]
        wander = self._noise.drift("inlet", stress.times, 5_400.0, 1)[:, :, 0]
        inlet = build.inlet_celsius + DAY_KELVIN * day + 0.4 * wander + stress.inlet_kelvin
        air_heat = trace.heat * (1.0 - cooling.LIQUID_SHARE)
        wanted = cooling.fan_rpm(inlet, air_heat / np.maximum(stress.airflow_ratio, 0.1))
        wanted = np.where(stress.fans_at_full, 0.85 * cooling.FAN_FULL_RPM, wanted)
        power_of = power.supplied(
            trace.heat + cooling.fan_watts(wanted), build.conversion_ratio, stress, build.bus_volts
        )
        boards = cooling.board_celsius(inlet, air_heat, stress.airflow_ratio)
        return {
            "node_inlet_temperature_celsius": inlet,
            "node_fan_speed_rpm": wanted * stress.slowest_fan_ratio,
            "node_board_temperature_celsius": boards + stress.board_kelvin,
            "node_power_watts": power_of.drawn_watts,
            "node_power_supply_efficiency_ratio": power_of.efficiency_ratio,
            "node_power_supply_temperature_celsius": inlet + power_of.hottest_kelvin,
            "node_bus_voltage_volts": build.bus_volts - power_of.bus_sag_volts,
        }

    def _coolant(self, stress: Stress, flow: Floats, trace: Trace) -> dict[str, Floats]:
        """Return what the coolant does, and what it leaves in the air where it gets out."""
        build = self._build
        wander = self._noise.drift("humidity", stress.times, 14_400.0, 1)[:, :, 0]
        static = build.return_pascals + stress.static_pascals
        into, back = cooling.pressures_pascals(
            static, build.drop_pascals, flow / build.flow_liters_per_minute
        )
        wet = build.humidity_ratio + 0.015 * wander + stress.humidity_ratio
        return {
            "node_coolant_supply_temperature_celsius": trace.supply,
            "node_coolant_return_temperature_celsius": np.minimum(
                trace.supply + trace.rise, cooling.BOILING_CELSIUS
            ),
            "node_coolant_flow_liters_per_minute": flow,
            "node_coolant_supply_pressure_pascals": into,
            "node_coolant_return_pressure_pascals": back,
            "node_humidity_ratio": np.clip(wet, 0.02, 0.99),
            "node_leak_detector_margin_volts": build.leak_volts
            - cooling.LEAK_CRITICAL_VOLTS
            - stress.leak_volts,
        }


def _held(read: Floats, stuck: Flags, before: Floats) -> Floats:
    """Return `read` [step, node] with the last free reading where `stuck`; `before` is [node]."""
    steps = np.arange(read.shape[0])[:, None]
    free = np.maximum.accumulate(np.where(stuck, -1, steps), axis=0)
    last = np.take_along_axis(read, np.maximum(free, 0), axis=0)
    return np.where(free >= 0, last, before)
