"""The simulated board and node: an H100-class tray of GPUs on cold plates.

Levels follow recorded machines: idle about 70 W at 33 °C, load 600 to 700 W at
55 to 70 °C, slowdown at 87 °C, coolant rise about 10 K at 1.4 L/min per kW.
No two boards are alike: `Build` draws what manufacturing and position spread.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from simulator.arrays import Floats, Whole
    from simulator.noise import Noise

MODEL = "NVIDIA H100 80GB HBM3"
MEMORY_BYTES = 85_520_809_984.0
SLOWDOWN_CELSIUS = 87.0
"""Temperature at which the reported margin is zero."""
HELD_CELSIUS = 88.0
"""Temperature at which thermal slowdown holds the core."""
POWER_LIMIT_WATTS = 700.0
SM_CLOCK_HERTZ = 1.98e9
SM_IDLE_CLOCK_HERTZ = 3.45e8
MEMORY_CLOCK_HERTZ = 2.619e9
LINK_LANES = 16.0
LINK_GENERATION, LINK_IDLE_GENERATION = 5.0, 1.0
POWER_SUPPLIES = 6
FULL_LOAD_WATTS = 7_300.0
"""What a busy node of eight boards turns into heat."""
ZERO: Whole = np.zeros(1, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Build:
    """What differs from board to board; each [node, gpu] unless said otherwise.

    Watts for idle and for the dynamic share at full intensity, kelvin per watt
    from die to cold plate (`solid`) and from plate to coolant (`film`, at
    nominal flow), kelvin per watt from core to memory and kelvin at rest, and the share of the
    node's coolant rise that has happened upstream of the GPU.
    """

    idle_watts: Floats
    dynamic_watts: Floats
    solid_kelvin_per_watt: Floats
    film_kelvin_per_watt: Floats
    memory_kelvin_per_watt: Floats
    memory_kelvin: Floats
    upstream_ratio: Floats
    correctable_per_second: Floats
    supply_celsius: Floats
    """[node] set point of the coolant supply; equal within a rack."""
    inlet_celsius: Floats
    """[node] mean air temperature at the inlet."""
    flow_liters_per_minute: Floats
    """[node] nominal coolant flow."""
    return_pascals: Floats
    """[node] coolant pressure at the outlet; equal within a rack."""
    drop_pascals: Floats
    """[node] pressure lost through the node at nominal flow."""
    humidity_ratio: Floats
    """[node] relative humidity of the air; equal within a rack."""
    leak_volts: Floats
    """[node] voltage of a dry leak detector."""
    conversion_ratio: Floats
    """[node] efficiency of the power supplies."""
    bus_volts: Floats
    """[node] voltage of the bus without load."""
    scrape_seconds: Floats
    """[node] how long dcgm-exporter usually takes to answer."""


def build(nodes: Noise, racks: Noise, gpus: int) -> Build:
    """Draw the boards of some nodes (`nodes`) in their racks (`racks`, one key per node)."""

    def spread(name: str, mean: float, ratio: float) -> Floats:
        draws = np.clip(nodes.normal("build " + name, ZERO, gpus)[0], -2.5, 2.5)
        return np.asarray(mean * (1.0 + ratio * draws))

    def shared(name: str, low: float, high: float) -> Floats:
        return np.asarray(low + (high - low) * racks.uniform("build " + name, ZERO, 1)[0, :, 0])

    def own(name: str, mean: float, ratio: float) -> Floats:
        draws = np.clip(nodes.normal("build " + name, ZERO, 1)[0, :, 0], -2.5, 2.5)
        return np.asarray(mean * (1.0 + ratio * draws))

    count = len(nodes.keys)
    valves = np.clip(nodes.normal("build valve", ZERO, 1)[0, :, 0], -2.0, 2.0)
    # Two rows of cold plates in series, each fed from the front.
    row = (np.arange(gpus) % max(1, gpus // 2)) / max(1, gpus // 2)
    return Build(
        idle_watts=spread("idle", 68.0, 0.05),
        dynamic_watts=spread("dynamic", 560.0, 0.02),
        solid_kelvin_per_watt=spread("solid", 0.030, 0.06),
        film_kelvin_per_watt=spread("film", 0.015, 0.03),
        memory_kelvin_per_watt=spread("memory", 0.075, 0.06),
        memory_kelvin=np.maximum(0.0, own("memory offset", 3.5, 0.7))[:, None] * np.ones(gpus),
        upstream_ratio=np.broadcast_to(row, (count, gpus)).copy(),
        correctable_per_second=_error_rates(nodes, gpus),
        supply_celsius=shared("supply", 27.5, 32.5),
        inlet_celsius=shared("inlet", 21.0, 25.0),
        flow_liters_per_minute=np.asarray(1.4 * gpus * (1.0 + 0.03 * valves)),
        return_pascals=shared("return pressure", 125_000.0, 175_000.0),
        drop_pascals=own("drop", 90_000.0, 0.06),
        humidity_ratio=shared("humidity", 0.28, 0.52),
        leak_volts=own("leak volts", 1.73, 0.003),
        conversion_ratio=own("conversion", 0.935, 0.004),
        bus_volts=own("bus", 54.3, 0.002),
        scrape_seconds=np.exp(own("scrape", math.log(0.09), -0.25)),
    )


def _error_rates(nodes: Noise, gpus: int) -> Floats:
    """Correctable errors per second of busy memory: most boards have next to none, a few lead."""
    return np.asarray(
        10.0 ** (-7.5 + 0.9 * np.clip(nodes.normal("build errors", ZERO, gpus)[0], -2, 3))
    )
